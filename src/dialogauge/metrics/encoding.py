"""Metrics that see texts through an encoder, which they ask the run for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import Coverage, Dtype, Encoder
from dialogauge.errors import Caveat
from dialogauge.metrics.base import UNSIGNED, Floats, Metric, Rows, Summary, spell_file
from dialogauge.metrics.prepared import MeansOfRows, Prepared

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

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
class ReadMeans(MeansOfRows):
    """A mean over turns whose texts an encoder reads. Rows end with the `Coverage` of their texts; a turn with an
    illegible text has no score."""

    def coverage(self, measures: Floats) -> NDArray[np.int64]:
        return np.asarray(measures[:, -COVERAGE:].sum(axis=0, where=~np.isnan(measures[:, -COVERAGE:])), np.int64)


@dataclass(frozen=True)
class EncoderMetric(Metric[Rows, Summary]):
    """Sees texts as vectors, of an encoder that it asks the run for."""

    encoder: str = field(default="minilm", metadata=NAMED)
    dtype: Dtype = field(default="float32", metadata=UNSIGNED)

    @abstractmethod
    def asked_of(self, encoders: Encoders) -> Encoder:
        """The encoder, told what it will be asked for."""

    def recipe_with(self, encoder: Encoder, known: Any) -> dict[str, str]:
        """`Prepared.recipe` with this encoder, and what was learned."""
        return encoder.recipe()


@dataclass(frozen=True)
class PreparedReader(Prepared[Rows, Summary]):
    """Reads texts with an encoder."""

    encoder: Encoder

    @property
    def reader(self) -> Encoder:
        return self.encoder


@dataclass(frozen=True)
class PreparedEncoding(PreparedReader[Rows, Summary]):
    """Of a metric that names its encoder."""

    asked: EncoderMetric[Rows, Summary]

    def recipe(self) -> dict[str, str]:
        return self.asked.recipe_with(self.encoder, self.known)


def layer_recipe(layer: int | None, encoder: Encoder) -> dict[str, str]:
    """The layer asked for, else the encoder's usual one, where it has layers."""
    chosen = encoder.layer_name(layer)
    return {} if chosen is None else {"layer": chosen}
