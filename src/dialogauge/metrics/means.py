"""Metrics whose system score is the mean of their turns' scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.sums import SumMetric, Sums, SumsOfRows


@dataclass(frozen=True)
class MeansOfRows(SumsOfRows):
    """A row has the main value, the parts, then any counts that `caveats` reports on. A row of NaN is a turn without a
    score."""

    def defined(self, measures: Floats) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(measures).any(axis=1))

    def conclude(self, summary: Sums) -> Values:
        with np.errstate(invalid="ignore", divide="ignore"):
            means = summary.total / summary.n[..., None]
        return {part: means[..., column] for column, part in enumerate(("", *self.parts))}

    def mean_of(self, part: str) -> int | None:
        return ("", *self.parts).index(part)

    def per_turn(self, measures: Floats) -> Floats:
        return measures[:, 0]


@dataclass(frozen=True)
class MeanMetric(MeansOfRows, SumMetric):
    """With nothing to prepare: `measure` gives an array of such rows.

    Examples:
        >>> from dataclasses import dataclass
        >>> import numpy
        >>> from dialogauge import Turn, evaluate
        >>> from dialogauge.metrics import MeanMetric
        >>> @dataclass(frozen=True)
        ... class Shouts(MeanMetric):
        ...     name = "shouts"
        ...     title = "share of replies that shout"
        ...     higher_is_better = False
        ...     bounds = (0.0, 1.0)
        ...
        ...     mark: str = "!"
        ...
        ...     def measure(self, turns):
        ...         return numpy.array([[float(self.mark in turn.response)] for turn in turns])
        >>> evaluate([Turn("1", "no!"), Turn("2", "yes")], Shouts()).score("system", "shouts").value
        0.5
    """
