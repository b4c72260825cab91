"""The networks that judge entailment, in training and at work: ESIM (Chen et al. 2017), and the head of a tuned
transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dialogauge.encode.base import Encoder
from dialogauge.learned.entailment.model import CLASSES, EntailmentShape
from dialogauge.learned.pair_network import HEAD, filled
from dialogauge.learned.words import Words, read_words

AT_ONCE, BATCH = 4096, 256
"""Pairs whose vectors are in memory, and pairs that go through ESIM together, at most."""
WORDS, CELLS = 1 << 15, 1 << 22
"""Words, and pairs of a premise's word and a hypothesis's, that go through ESIM together, padding among them."""


class ClassHead(nn.Module):
    """One hidden layer, as wide as the vector."""

    def __init__(self, shape: EntailmentShape) -> None:
        super().__init__()
        self.dropout = nn.Dropout(shape.dropout)
        self.hidden = nn.Linear(shape.width, shape.width)
        self.classes = nn.Linear(shape.width, CLASSES)

    def forward(self, vectors: Tensor) -> Tensor:
        hidden = torch.tanh(self.hidden(self.dropout(vectors)))
        return self.classes(self.dropout(hidden))  # type: ignore[no-any-return]


class Esim(nn.Module):
    """Two batches of texts, as the vectors of their words, in; a logit for each class and pair out."""

    def __init__(self, shape: EntailmentShape) -> None:
        super().__init__()
        units = shape.units
        self.dropout = nn.Dropout(shape.dropout)
        self.encoding = BidirectionalLstm(shape.width, units)
        self.projection = nn.Linear(8 * units, units)
        self.composition = BidirectionalLstm(units, units)
        self.hidden = nn.Linear(8 * units, units)
        self.classes = nn.Linear(units, CLASSES)

    def forward(self, premises: Words, hypotheses: Words) -> Tensor:
        a, b = (self.encoding(self.dropout(texts.states), texts.lengths) for texts in (premises, hypotheses))
        here, there = mask(premises), mask(hypotheses)
        alike = a @ b.transpose(1, 2)
        a_aligned = alike.masked_fill(~there[:, None, :], -torch.inf).softmax(dim=2) @ b
        b_aligned = alike.masked_fill(~here[:, :, None], -torch.inf).softmax(dim=1).transpose(1, 2) @ a
        pooled = [
            *self._compose(a, a_aligned, premises.lengths, here),
            *self._compose(b, b_aligned, hypotheses.lengths, there),
        ]
        hidden = torch.tanh(self.hidden(self.dropout(torch.cat(pooled, dim=1))))
        return self.classes(self.dropout(hidden))  # type: ignore[no-any-return]

    def learned(self) -> dict[str, Tensor]:
        """All that training changes, by the names of a model directory."""
        return self.state_dict()

    def _compose(self, own: Tensor, aligned: Tensor, lengths: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """The average and the maximum over the words of one text, held against the other."""
        local = torch.cat([own, aligned, own - aligned, own * aligned], dim=2)
        composed = self.composition(self.dropout(torch.relu(self.projection(local))), lengths)
        average = (composed * real[..., None]).sum(dim=1) / lengths[:, None]
        return average, composed.masked_fill(~real[..., None], -torch.inf).amax(dim=1)


class BidirectionalLstm(nn.Module):
    """A bidirectional layer of long short-term memory; states past a text's end are zero."""

    def __init__(self, width: int, units: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(width, units, bidirectional=True, batch_first=True)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(states, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])[0]


def mask(texts: Words) -> Tensor:
    """Where there are words, and not padding: (texts, words)."""
    return torch.arange(texts.states.shape[1], device=texts.lengths.device) < texts.lengths[:, None]


class Logits(NamedTuple):
    """Entry i of each belongs to pair i."""

    values: NDArray[np.float64]
    cut: NDArray[np.bool_]
    """Pairs that are longer than the encoder takes."""
    silent: NDArray[np.bool_]
    """Of each pair, whether premise and hypothesis have no vector: (pairs, 2)."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each pair."""


class Judge(Protocol):
    @property
    def encoder(self) -> Encoder: ...

    def expect(self) -> None:
        """Tells the encoder what will be asked for."""

    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits: ...


@dataclass(frozen=True)
class EsimJudge:
    """ESIM over the vectors of an encoder. It counts in 64 bits, so that what else is in a batch changes nothing."""

    encoder: Encoder
    network: Esim
    shape: EntailmentShape

    @classmethod
    def from_weights(cls, encoder: Encoder, shape: EntailmentShape, weights: Mapping[str, Any]) -> EsimJudge:
        return cls(encoder, filled(Esim(shape), weights, ""), shape)

    def expect(self) -> None:
        self.encoder.expect("tokens", pairs=False)

    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        starts = range(0, len(premises), AT_ONCE)
        parts = [self._some(premises[at : at + AT_ONCE], hypotheses[at : at + AT_ONCE]) for at in starts]
        return Logits(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @torch.no_grad()
    def _some(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        pairs = read_words(self.encoder, premises, hypotheses, self.shape.width)
        values = np.empty((len(premises), CLASSES))
        lengths = pairs.states.lengths.numpy()
        for rows in batches(lengths[pairs.premises], lengths[pairs.hypotheses]):
            texts = (pairs.states[torch.from_numpy(side[rows])] for side in (pairs.premises, pairs.hypotheses))
            words = [batch._replace(states=batch.states.double()) for batch in texts]
            values[rows] = self.network(*words).numpy()
        return Logits(values, pairs.cut, pairs.silent, pairs.coverage)


def batches(premises: NDArray[np.int64], hypotheses: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The pairs in order of their lengths, in batches that fit into memory: all texts of a batch are as long as its
    longest. A pair that is too large by itself stands alone."""
    found: list[list[int]] = []
    longest, other = 0, 0
    for row in np.lexsort((hypotheses, premises)).tolist():
        longest, other = max(longest, int(premises[row])), max(other, int(hypotheses[row]))
        size = len(found[-1]) + 1 if found else 1
        if found and size <= BATCH and size * (longest + other) <= WORDS and size * longest * other <= CELLS:
            found[-1].append(row)
        else:
            found.append([row])
            longest, other = int(premises[row]), int(hypotheses[row])
    return [np.array(rows) for rows in found]


@dataclass(frozen=True)
class TunedJudge:
    """A tuned transformer, which reads both texts at once. Its vectors are kept like any encoder's."""

    encoder: Encoder
    head: ClassHead
    shape: EntailmentShape

    @classmethod
    def from_weights(cls, encoder: Encoder, shape: EntailmentShape, weights: Mapping[str, Any]) -> TunedJudge:
        return cls(encoder, filled(ClassHead(shape), weights, HEAD), shape)

    def expect(self) -> None:
        self.encoder.expect(self.shape.pool, pairs=True)

    @torch.no_grad()
    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        pooled = self.encoder.pooled(list(zip(premises, hypotheses, strict=True)), self.shape.pool)
        values = self.head(torch.from_numpy(pooled.vectors).double()).numpy()
        silent = np.array([[not text for text in side] for side in (premises, hypotheses)]).T
        return Logits(values, pooled.dropped > 0, silent, pooled.coverage)
