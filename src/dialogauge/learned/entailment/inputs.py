"""Pairs as networks take them, and in which batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from dialogauge.encode.base import Encoder
from dialogauge.encode.network import refuse_unknown_token
from dialogauge.encode.transformer import Transformer
from dialogauge.errors import InputError
from dialogauge.learned.entailment.data import Labelled, Rows
from dialogauge.learned.entailment.model import EntailmentShape
from dialogauge.learned.entailment.networks import TokenIds
from dialogauge.learned.words import Words, WordStates, read_words

WINDOW = 50
"""Batches whose pairs are sorted by length together: less padding, and still a new order in every epoch."""
AT_ONCE = 16_384


def shuffled_batches(rows: Rows, lengths: Rows, batch: int, rng: np.random.Generator) -> list[Rows]:
    """Every row once. Pairs of a batch are of similar length; batches come in no order."""
    order = rng.permutation(rows)
    found: list[Rows] = []
    for start in range(0, len(order), WINDOW * batch):
        window = order[start : start + WINDOW * batch]
        window = window[np.argsort(lengths[window], kind="stable")]
        found += [window[at : at + batch] for at in range(0, len(window), batch)]
    return [found[place] for place in rng.permutation(len(found))]


def sorted_batches(rows: Rows, lengths: Rows, batch: int) -> list[Rows]:
    """Every row once, the longest first."""
    order = rows[np.argsort(-lengths[rows], kind="stable")]
    return [order[at : at + batch] for at in range(0, len(order), batch)]


class PairInputs(Protocol):
    """All pairs; a tensor of rows gives their batch, as a network takes it."""

    @property
    def lengths(self) -> Rows:
        """Of each pair, in tokens: pairs of similar length make a batch."""

    def batch(self, rows: Tensor) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class TokenInputs:
    """For a transformer: ids of tokens."""

    ids: WordStates
    segments: WordStates | None
    lengths: Rows

    def batch(self, rows: Tensor) -> tuple[TokenIds]:
        ids = self.ids[rows]
        segments = None if self.segments is None else self.segments[rows].states
        return (TokenIds(ids.states, segments, ids.lengths),)


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
    return _token_inputs(encoder, premises, pairs.hypotheses, device)


def _token_inputs(
    encoder: Transformer, premises: Sequence[str], hypotheses: Sequence[str], device: torch.device
) -> TokenInputs:
    ids, segments, lengths = [], [], []
    both = list(zip(premises, hypotheses, strict=True))
    for start in range(0, len(both), AT_ONCE):
        encoded = encoder.tokenizer.encode(both[start : start + AT_ONCE], places=False)
        lengths.append(np.array([len(one) for one in encoded], np.int64))
        ids.append(np.concatenate([one.ids for one in encoded]))
        refuse_unknown_token(encoder.files, int(ids[-1].max()))
        segments += [one.segments for one in encoded if one.segments is not None]
    counts = np.concatenate(lengths)
    flat = _flat(ids, counts, device)
    return TokenInputs(flat, _flat(segments, counts, device) if segments else None, counts)


def _flat(parts: Sequence[Any], lengths: Rows, device: torch.device) -> WordStates:
    numbers = np.concatenate([np.zeros(1, np.int32), *parts])
    return WordStates(torch.from_numpy(numbers), torch.from_numpy(lengths)).to(device)


def _word_inputs(
    encoder: Encoder, premises: Sequence[str], hypotheses: Sequence[str], width: int, device: torch.device
) -> WordInputs:
    pairs = read_words(encoder, premises, hypotheses, width, np.dtype(np.float16))
    sides = [torch.from_numpy(side) for side in (pairs.premises, pairs.hypotheses)]
    lengths = sum(pairs.states.lengths[side].numpy() for side in sides)
    return WordInputs(pairs.states.to(device), sides[0].to(device), sides[1].to(device), np.asarray(lengths))
