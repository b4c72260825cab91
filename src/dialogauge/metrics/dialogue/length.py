"""Numbers that need no reference: how long responses are, and columns that stand in the file already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, unknown
from dialogauge.metrics.base import Floats, Learned
from dialogauge.metrics.fitted import WordMetric
from dialogauge.metrics.prepared import MeanMetric, Sums
from dialogauge.text.splitters import split_by

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders


@dataclass(frozen=True)
class Length(WordMetric[Floats, Sums], MeanMetric):
    """Mean number of words; the part `characters` counts code points. An empty response counts 0."""

    name = "length"
    title = "words per response"
    higher_is_better = None
    bounds = (0.0, np.inf)
    parts = ("characters",)
    main = "words"

    def measure(self, turns: Sequence[Turn]) -> Floats:
        split = split_by(self.words)
        rows = [(len(split(turn.response)), len(turn.response)) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), 2)


NAMED_AT_MOST = 1000


@dataclass(frozen=True)
class NumericFields:
    """The names of numeric extra fields: the wanted one and, for messages, the first of the others."""

    wanted: str
    names: frozenset[str]

    @classmethod
    def choose(cls, wanted: str, names: Iterable[str]) -> NumericFields:
        return cls(wanted, frozenset(sorted(set(names), key=lambda name: (name != wanted, name))[:NAMED_AT_MOST]))

    def __add__(self, other: NumericFields) -> NumericFields:
        return self.choose(self.wanted, self.names | other.names)

    def require(self, column: str, metric: str) -> None:
        """Refuses a metric without a column, or with one that is not there."""
        if not column:
            choices = ", ".join(sorted(self.names)) or "none in this corpus"
            raise InputError(f"{metric} needs a name, as in {metric}[name=FIELD]; numeric extra fields: {choices}")
        if column not in self.names:
            raise unknown("numeric extra field", column, self.names)


@dataclass(frozen=True)
class Column(MeanMetric):
    """Mean of a numeric `extra` field. Turns where it is missing or no number are left out and counted."""

    name = "column"
    title = "a numeric extra field of the file"
    bounds = (-np.inf, np.inf)

    column: str = field(default="", metadata={"option": "name"})
    higher_is_better: bool = True

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> NumericFields:
        numeric = (key for turn in turns for key, value in turn.extra.items() if number_of(value) is not None)
        return NumericFields.choose(self.column, numeric)

    def learn(self, surveyed: NumericFields, encoders: Encoders, real: Corpus | None = None) -> Learned[Floats, Sums]:
        """Nothing, but that there is such a field."""
        surveyed.require(self.column, self.name)
        return Learned(self)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        values = [number_of(turn.extra.get(self.column)) for turn in turns]
        return np.array([np.nan if value is None else value for value in values]).reshape(len(turns), 1)


def number_of(value: Any) -> float | None:
    """The value as a float if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if np.isfinite(number) else None
