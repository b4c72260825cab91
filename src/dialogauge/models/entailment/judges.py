"""Histories and responses in, a logit for each class out: the two kinds of networks at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from dialogauge.encode.base import Encoder
from dialogauge.models.entailment.esim import Esim
from dialogauge.models.entailment.head import ClassHead
from dialogauge.models.entailment.shape import CLASSES, EntailmentShape
from dialogauge.models.entailment.tuned import HEAD
from dialogauge.models.entailment.words import read_words

AT_ONCE, BATCH = 4096, 256
"""Pairs whose vectors are in memory, and pairs that go through ESIM together."""


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
        return cls(encoder, _filled(Esim(shape), weights, ""), shape)

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
        lengths = pairs.states.lengths
        order = torch.argsort(lengths[pairs.premises], stable=True)
        for rows in torch.split(order, BATCH):
            texts = (pairs.states[torch.from_numpy(side)[rows]] for side in (pairs.premises, pairs.hypotheses))
            words = [batch._replace(states=batch.states.double()) for batch in texts]
            values[rows.numpy()] = self.network(*words).numpy()
        return Logits(values, pairs.cut, pairs.silent, pairs.coverage)


@dataclass(frozen=True)
class TunedJudge:
    """A tuned transformer, which reads both texts at once. Its vectors are kept like any encoder's."""

    encoder: Encoder
    head: ClassHead
    shape: EntailmentShape

    @classmethod
    def from_weights(cls, encoder: Encoder, shape: EntailmentShape, weights: Mapping[str, Any]) -> TunedJudge:
        return cls(encoder, _filled(ClassHead(shape), weights, HEAD), shape)

    def expect(self) -> None:
        self.encoder.expect(self.shape.pool, pairs=True)

    @torch.no_grad()
    def logits(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Logits:
        pooled = self.encoder.pooled(list(zip(premises, hypotheses, strict=True)), self.shape.pool)
        values = self.head(torch.from_numpy(pooled.vectors).double()).numpy()
        silent = np.array([[not text for text in side] for side in (premises, hypotheses)]).T
        return Logits(values, pooled.dropped > 0, silent, pooled.coverage)


def _filled(network: Any, weights: Mapping[str, Any], prefix: str) -> Any:
    named = {
        name.removeprefix(prefix): torch.from_numpy(array.astype(np.float64))
        for name, array in weights.items()
        if name.startswith(prefix)
    }
    module: nn.Module = network.double().eval()
    module.load_state_dict(named)
    return module
