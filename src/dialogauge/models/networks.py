"""Relatedness networks by their shape, and what several of them say together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dialogauge.models.inputs import TextInputs
from dialogauge.models.relatedness import Relatedness
from dialogauge.models.shape import RuberShape
from dialogauge.models.towers import Towers

BATCH = 1024

RuberNetwork = Relatedness | Towers


def make_network(shape: RuberShape) -> RuberNetwork:
    return Towers(shape) if shape.network == "towers" else Relatedness(shape)


def earlier(inputs: TextInputs, previous: Tensor) -> Tensor | None:
    """The vectors of what was said before each query, zeros where the row is below 0; None where nothing was at all."""
    there = previous >= 0
    if not there.any():
        return None
    found = inputs[previous.clamp(min=0)]
    assert isinstance(found, Tensor)  # recurrent networks look at nothing before the query
    return found * there[:, None]


@torch.inference_mode()
def relatedness(
    networks: Sequence[RuberNetwork], inputs: TextInputs, queries: Tensor, responses: Tensor, previous: Tensor
) -> NDArray[np.float64]:
    """From 0 to 1 for each pair of rows of the inputs, the mean of what the networks say."""
    batches = zip(*(torch.split(rows, BATCH) for rows in (queries, responses, previous)), strict=True)
    scores = [
        torch.stack(
            [network(inputs[q], inputs[r], earlier(inputs, p)).double().sigmoid() for network in networks]
        ).mean(0)
        for q, r, p in batches
    ]
    return torch.cat(scores).cpu().numpy()
