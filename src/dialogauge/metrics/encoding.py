"""Metrics that see texts through an encoder, which they ask the run for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.encode.base import Coverage, Dtype, Encoder
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import HIDDEN, UNSIGNED, Floats, Metric, spell_file
from dialogauge.metrics.means import MeanMetric

NAMED = {**UNSIGNED, "spell": spell_file}
COVERAGE = len(Coverage._fields)
"""So many columns at the end of a row say how much of its texts is known."""


def text_caveats(name: str, turns: Any, cut: float, silent: float, what: str = "its end") -> list[Caveat]:
    """What became of texts that an encoder cannot read in full, or not at all."""
    caveats = []
    if cut:
        message = f"{name}: {int(cut)} of {int(turns)} turns have a text longer than the encoder takes; {what} is cut"
        caveats.append(Caveat("cut_text", message))
    if silent:
        message = f"{name}: {int(silent)} of {int(turns)} turns have a text without any vector, and score 0"
        caveats.append(Caveat("no_vectors", message))
    return caveats


def together(texts: Iterable[Coverage], illegible: bool) -> Coverage:
    """Of all texts of a turn."""
    read = list(texts)
    return Coverage(sum(text.tokens for text in read), sum(text.unknown for text in read), illegible)


@dataclass(frozen=True)
class ReadMeanMetric(MeanMetric):
    """A mean over turns whose texts an encoder reads. Rows end with the `Coverage` of their texts; a turn with an
    illegible text has no score."""

    def coverage(self, measures: Floats) -> NDArray[np.int64]:
        return np.asarray(measures[:, -COVERAGE:].sum(axis=0, where=~np.isnan(measures[:, -COVERAGE:])), np.int64)


@dataclass(frozen=True)
class EncoderMetric(Metric):
    """Sees texts as vectors. `prepare` brings in the encoder."""

    encoder: str = field(default="minilm", metadata=NAMED)
    dtype: Dtype = field(default="float32", metadata=UNSIGNED)
    asked: Encoder | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    """The run's encoder, once `prepare` has asked for it."""

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        return replace(self, asked=(encoders or Encoders()).get(self.encoder, self.dtype))

    @property
    def reader(self) -> Encoder | None:
        return self.asked

    @property
    def vectors(self) -> Encoder:
        if self.asked is None:
            raise InputError(f"{self.name} has no encoder yet: call prepare(corpus) first")
        return self.asked

    def recipe(self) -> dict[str, str]:
        return {"enc": self.encoder} if self.asked is None else self.asked.recipe()
