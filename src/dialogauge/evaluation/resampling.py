"""Intervals by resampling: the bootstrap for sums and means, the jackknife where repeated rows would bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats, Metric

CELLS_AT_ONCE = 4_000_000
GROUPS = 50
SINGLE = 200
"""Up to this many units the jackknife leaves out single units, above it one of 50 groups of nearly one size."""


class Interval(NamedTuple):
    """NaN where there is no interval."""

    low: float
    high: float


NO_INTERVAL = Interval(np.nan, np.nan)
ANOTHER_SAMPLE = 2**0.5
"""By how much wider an interval is that says what another sample would score: that one varies as much as this one."""


def bootstrap_weights(units: int, resamples: int, rng: np.random.Generator, widest: int = 0) -> Iterator[Floats]:
    """How often each unit is drawn in each resample (Efron 1979), as blocks of shape (resamples, units): small enough
    to hold that many resamples of the `widest` sample's rows."""
    block = max(1, CELLS_AT_ONCE // max(units, widest))
    for start in range(0, resamples, block):
        drawn = rng.integers(units, size=(min(block, resamples - start), units))
        yield np.array([np.bincount(row, minlength=units) for row in drawn], dtype=np.float64)


def percentile_interval(values: Floats, confidence: float) -> Interval:
    """The middle `confidence` of the values. Resamples in which the value is undefined are left out."""
    defined = values[~np.isnan(values)]
    if defined.size < 2:
        return NO_INTERVAL
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


class Groups(NamedTuple):
    """The summary of each group of units, None for a group without turns, and how many units each group holds."""

    summaries: list[Any]
    sizes: NDArray[np.int64]


class Jackknife(NamedTuple):
    """A statistic, its value without each group, and how many units each group holds."""

    value: float
    without: Floats
    sizes: NDArray[np.int64]
    extrapolated: bool = False
    """Whether the estimate is what is to be expected of ever larger samples."""

    def minus(self, other: Jackknife) -> Jackknife:
        """The difference of two statistics over the same groups. Where they do not stand on the same units, a group
        counts as large as the larger of the two."""
        return Jackknife(
            self.value - other.value,
            self.without - other.without,
            np.maximum(self.sizes, other.sizes),
            self.extrapolated,
        )

    @property
    def estimate(self) -> float:
        return self._centre if self.extrapolated else self.value

    @property
    def _centre(self) -> float:
        """The value less its bias, as far as that is proportional to 1/n: the line through the value at all units and
        the mean value without a group, drawn on to 1/n = 0 (Quenouille 1956). Groups may differ in size."""
        sizes, without = self._present
        if len(sizes) < 2:
            return float("nan")
        return float(len(sizes) * self.value - np.sum((1 - sizes / sizes.sum()) * without))

    @property
    def _present(self) -> tuple[NDArray[np.int64], Floats]:
        present = self.sizes > 0
        return self.sizes[present], self.without[present]

    @property
    def error(self) -> float:
        """The standard error, for groups that may differ in size (Busing, Meijer & van der Leeden 1999)."""
        sizes, without = self._present
        if len(sizes) < 2:
            return float("nan")
        share = sizes.sum() / sizes
        pseudo = share * self.value - (share - 1) * without
        return float(np.sqrt(np.mean((pseudo - self._centre) ** 2 / (share - 1))))

    @property
    def freedom(self) -> int:
        return int(np.count_nonzero(self.sizes)) - 1

    def interval(
        self, confidence: float, bounds: tuple[float, float] = (-np.inf, np.inf), wider: float = 1.0
    ) -> Interval:
        """The estimate ± Student's t times the standard error, cut to the bounds."""
        from scipy.special import stdtrit

        if np.isnan(self.error):
            return NO_INTERVAL
        reach = wider * stdtrit(self.freedom, (1 + confidence) / 2) * self.error
        low, high = np.clip([self.estimate - reach, self.estimate + reach], *bounds)
        return Interval(float(low), float(high))


def jackknife(metric: Metric, total: Any, summaries: Sequence[Any], sizes: NDArray[np.int64]) -> dict[str, Jackknife]:
    """For the main value and each part. `summaries[g]` is that of group g, or None where a group has no turns; `total`
    is their sum."""
    present = [place for place, summary in enumerate(summaries) if summary is not None]
    whole = metric.conclude(total)
    without = {part: np.full(len(summaries), float(value)) for part, value in whole.items()}
    if len(present) > 1:
        for place, rest in zip(present, metric.leave_one_out([summaries[place] for place in present]), strict=True):
            for part, value in rest.items():
                without[part][place] = value
    return {part: Jackknife(float(value), without[part], sizes, metric.extrapolates) for part, value in whole.items()}
