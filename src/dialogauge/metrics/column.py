"""A number that stands in the file already, used as a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, unknown
from dialogauge.metrics.base import Floats
from dialogauge.metrics.means import MeanMetric

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders


@dataclass(frozen=True)
class Column(MeanMetric):
    """Mean of a numeric `extra` field. Turns where it is missing or no number are left out and counted."""

    name = "column"
    title = "a numeric extra field of the file"
    bounds = (-np.inf, np.inf)

    column: str = field(default="", metadata={"option": "name"})
    higher_is_better: bool = True

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        numeric = {key for turn in corpus for key, value in turn.extra.items() if _number(value) is not None}
        if not self.column:
            choices = ", ".join(sorted(numeric)) or "none in this corpus"
            raise InputError(f"column needs a name, as in column[name=FIELD]; numeric extra fields: {choices}")
        if self.column not in numeric:
            raise unknown("numeric extra field", self.column, numeric)
        return self

    def measure(self, turns: Sequence[Turn]) -> Floats:
        values = [_number(turn.extra.get(self.column)) for turn in turns]
        return np.array([np.nan if value is None else value for value in values]).reshape(len(turns), 1)


def _number(value: Any) -> float | None:
    """The value as a float if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if np.isfinite(number) else None
