"""The networks of RUBER's unreferenced metric: how related a response is to a query (Tao et al. 2018), in variants and
as two towers."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from dialogauge.learned.ruber.inputs import UNITS, RuberShape, TextInputs
from dialogauge.learned.words import Words

LAYERS = (256, 512, 128)
"""The widths of the layers between features and relatedness (Ghazarian et al. 2019, section 4.3)."""

Sentences = Tensor | Words
"""A batch of texts: pooled vectors, one row a text, or the vectors of their words."""
HIDDEN = 512
SMALL = 0.001
SCALE = 20.0
"""What cosines are multiplied with before anything is learned."""
SHOWN = 0.5
"""The share of training pairs of which the utterance before the query is shown: a query alone is to be enough."""
BATCH = 1024


class Relatedness(nn.Module):
    """Two batches of texts in, one logit for each pair out. The relatedness is its sigmoid."""

    def __init__(self, shape: RuberShape) -> None:
        super().__init__()
        width = shape.sentence_width
        recurrent = shape.sentence == "rnn"
        self.query_rnn = BidirectionalGru(shape.width) if recurrent else None
        self.response_rnn = BidirectionalGru(shape.width) if recurrent else None
        self.bilinear = nn.Parameter(torch.empty(width, width))
        nn.init.xavier_uniform_(self.bilinear)
        layers = [
            layer
            for before, after in zip((2 * width + 1, *LAYERS), LAYERS, strict=False)
            for layer in (nn.Dropout(shape.dropout), nn.Linear(before, after), nn.Tanh())
        ]
        self.layers = nn.Sequential(*layers, nn.Linear(LAYERS[-1], 1))

    def forward(self, queries: Sentences, responses: Sentences, _: Tensor | None = None) -> Tensor:
        """With k times as many responses as queries, the first k belong to the first query, and so on. What was said
        before the query, which towers look at, is nothing to it."""
        q: Any = self.query_rnn(queries) if self.query_rnn else queries
        r: Any = self.response_rnn(responses) if self.response_rnn else responses
        q = q.repeat_interleave(len(r) // len(q), dim=0)
        bilinear = ((q @ self.bilinear) * r).sum(dim=1, keepdim=True)
        return self.layers(torch.cat([q, bilinear, r], dim=1))[:, 0]  # type: ignore[no-any-return]


class BidirectionalGru(nn.Module):
    """Two layers of bidirectional gated recurrent units; a sentence is the last state of each direction."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, UNITS, num_layers=2, bidirectional=True, batch_first=True)

    def forward(self, texts: Words) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            texts.states, texts.lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        last = self.gru(packed)[1]
        return torch.cat([last[-2], last[-1]], dim=1)


class Towers(nn.Module):
    """Two batches of texts in, one logit for each pair out. The relatedness is its sigmoid."""

    calibration: Tensor

    def __init__(self, shape: RuberShape) -> None:
        super().__init__()
        self.width = shape.width
        self.query = Tower(shape)
        self.response = Tower(shape)
        self.previous = nn.Linear(shape.sentence_width, shape.width, bias=False)
        nn.init.normal_(self.previous.weight, std=SMALL)
        self.dropout = nn.Dropout(shape.dropout)
        self.scale = nn.Parameter(torch.tensor(log(SCALE)))
        self.register_buffer("calibration", torch.tensor([1.0, 0.0]))

    def forward(self, queries: Tensor, responses: Tensor, previous: Tensor | None = None) -> Tensor:
        """With k times as many responses as queries, the first k belong to the first query, and so on. `previous` is
        what was said before each query: a row of zeros where nothing was."""
        q, r = self._query(queries, previous), self._response(responses)
        q = q.repeat_interleave(len(r) // len(q), dim=0)
        logits: Tensor = (q * r).sum(dim=1) * self.scale.exp() * self.calibration[0] + self.calibration[1]
        return logits

    def all_pairs(self, queries: Tensor, responses: Tensor, previous: Tensor | None = None) -> Tensor:
        """Scores of every query with every response, before they are calibrated: (queries, responses)."""
        return self._query(queries, previous) @ self._response(responses).T * self.scale.exp()

    def _query(self, texts: Tensor, previous: Tensor | None) -> Tensor:
        vectors = self.query(self._even(texts))
        if previous is not None:
            if self.training:
                previous = previous * (torch.rand(len(previous), 1, device=previous.device) < SHOWN)
            vectors = vectors + self.previous(self.dropout(self._even(previous)))
        return functional.normalize(vectors, dim=1)

    def _response(self, texts: Tensor) -> Tensor:
        return functional.normalize(self.response(self._even(texts)), dim=1)

    def _even(self, texts: Tensor) -> Tensor:
        """The vectors of each layer brought to one length; zeros stay zeros."""
        blocks = texts.view(len(texts), -1, self.width)
        even: Tensor = functional.normalize(blocks, dim=2) * self.width**0.5
        return even.flatten(1)


class Tower(nn.Module):
    """A linear map that begins as the first layer's vector itself, and what a hidden layer adds to it."""

    def __init__(self, shape: RuberShape) -> None:
        super().__init__()
        wide, width = shape.sentence_width, shape.width
        self.linear = nn.Linear(wide, width)
        nn.init.normal_(self.linear.weight, std=SMALL)
        nn.init.zeros_(self.linear.bias)
        with torch.no_grad():
            self.linear.weight[:, :width] += torch.eye(width)
        self.inward = nn.Linear(wide, HIDDEN)
        self.outward = nn.Linear(HIDDEN, width, bias=False)
        nn.init.normal_(self.outward.weight, std=SMALL)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, texts: Tensor) -> Tensor:
        seen = self.dropout(texts)
        hidden = self.dropout(functional.gelu(self.inward(seen)))
        return self.linear(seen) + self.outward(hidden)  # type: ignore[no-any-return]


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
