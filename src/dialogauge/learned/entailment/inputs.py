"""Pairs as entailment networks take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dialogauge.encode.base import Encoder
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import InputError
from dialogauge.learned.entailment.data import Labelled, Rows
from dialogauge.learned.entailment.model import EntailmentShape
from dialogauge.learned.training.token_pairs import PairInputs, token_inputs
from dialogauge.learned.words import Words, WordStates, read_words


@dataclass(frozen=True)
class WordInputs:
    """For ESIM: the vectors of words, kept in 16 bits."""

    states: WordStates
    premises: Tensor
    hypotheses: Tensor
    lengths: Rows

    def batch(self, rows: Tensor) -> tuple[Words, Words]:
        first, second = (self.states[side[rows]] for side in (self.premises, self.hypotheses))
        return tuple(batch._replace(states=batch.states.float()) for batch in (first, second))  # type: ignore[return-value]


def make_inputs(pairs: Labelled, encoder: Encoder, shape: EntailmentShape, device: torch.device) -> PairInputs:
    premises = ["" if shape.hypothesis_only else premise for premise in pairs.premises]
    if shape.network == "esim":
        return _word_inputs(encoder, premises, pairs.hypotheses, shape.width, device)
    if not isinstance(encoder, Transformer):
        raise InputError(f"the encoder {encoder.identity} is no transformer: choose another, or the recipe esim")
    return token_inputs(encoder, premises, pairs.hypotheses, device)


def _word_inputs(
    encoder: Encoder, premises: Sequence[str], hypotheses: Sequence[str], width: int, device: torch.device
) -> WordInputs:
    pairs = read_words(encoder, premises, hypotheses, width, np.dtype(np.float16))
    sides = [torch.from_numpy(side) for side in (pairs.premises, pairs.hypotheses)]
    lengths = sum(pairs.states.lengths[side].numpy() for side in sides)
    return WordInputs(pairs.states.to(device), sides[0].to(device), sides[1].to(device), np.asarray(lengths))
