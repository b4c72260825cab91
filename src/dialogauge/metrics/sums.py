"""The summary of metrics that are a function of sums over turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.base import Floats, Metric, PlainMetric


@dataclass(frozen=True)
class Sums:
    """Number of turns and sums of columns; both may have leading axes, one entry per resample."""

    n: Floats
    total: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.total + other.total)


def sum_rows(rows: Floats, weights: Floats | None = None) -> Sums:
    """Sums the rows, each times its weight. A row with NaN is undefined: it adds nothing and is not counted."""
    defined = np.asarray(~np.isnan(rows).any(axis=1))
    if weights is None:
        weights = np.ones(len(rows))
    with np.errstate(over="ignore"):
        return Sums(weights @ defined.astype(np.float64), weights @ np.where(defined[:, None], rows, 0.0))


@dataclass(frozen=True)
class SumsOfRows(Metric[Floats, Sums]):
    """Rows are numbers, and the value is a function of their sums."""

    def summarise(self, measures: Floats, weights: Floats | None = None) -> Sums:
        return sum_rows(measures, weights)


@dataclass(frozen=True)
class SumMetric(SumsOfRows, PlainMetric[Floats, Sums]):
    """With nothing to prepare."""
