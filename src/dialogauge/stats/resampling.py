"""Resampling: bootstrap weights for sums and means, and the jackknife where repeated rows would bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats
from dialogauge.stats.intervals import NO_INTERVAL, Interval

CELLS_AT_ONCE = 4_000_000
CACHED_CELLS = 250_000
"""Weights of points worked on at once: as many as stay in a core's cache."""
GROUPS = 50
SINGLE = 200
"""Up to this many units the jackknife leaves out single units, above it one of 50 groups of nearly one size."""


def bootstrap_weights(
    units: int, resamples: int, rng: np.random.Generator, widest: int = 0, cells: int | None = None
) -> Iterator[Floats]:
    """How often each unit is drawn in each resample (Efron 1979), as blocks of shape (resamples, units): small enough
    to hold that many resamples of the `widest` sample's rows in so many cells."""
    block = max(1, (cells or CELLS_AT_ONCE) // max(units, widest))
    for start in range(0, resamples, block):
        drawn = rng.integers(units, size=(min(block, resamples - start), units))
        yield np.array([np.bincount(row, minlength=units) for row in drawn], dtype=np.float64)


def point_weights(units: NDArray[np.int64], resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each point is drawn in each resample, (resamples, points): a resample draws as many units as there are,
    with all their points."""
    count = int(units.max()) + 1
    alone = np.array_equal(units, np.arange(count))
    for weights in bootstrap_weights(count, resamples, rng, len(units), CACHED_CELLS):
        yield weights if alone else weights[:, units]


def deviation(values: Floats) -> float:
    """The standard deviation of a statistic's values in resamples, those left out in which it is undefined; NaN where
    it always is."""
    defined = values[~np.isnan(values)]
    with np.errstate(invalid="ignore"):
        return float(defined.std()) if defined.size else float("nan")


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


def t_test(statistic: Jackknife, rounding: float = 0.0) -> float:
    """Two-sided, of the hypothesis that the statistic is 0, by its jackknife standard error."""
    from scipy.special import stdtr

    if abs(statistic.estimate) <= rounding:
        return 1.0
    if not statistic.error > rounding:
        return float("nan")
    return float(2 * stdtr(statistic.freedom, -abs(statistic.estimate) / statistic.error))
