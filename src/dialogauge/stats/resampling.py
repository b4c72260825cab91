"""How sure a number is: bootstrap weights, the jackknife where repeated rows would bias, and the intervals of resampled
values, of means and of correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats

CELLS_AT_ONCE = 4_000_000
CACHED_CELLS = 250_000
"""Weights of points worked on at once: as many as stay in a core's cache."""
GROUPS = 50
SINGLE = 200
"""Up to this many units the jackknife leaves out single units, above it one of 50 groups of nearly one size."""
ANOTHER_SAMPLE = 2**0.5
"""By how much wider an interval is that says what another sample would score: that one varies as much as this one."""
SPREAD = {"pearson": 1.0, "spearman": 1.0, "kendall": 0.437}
"""The variance of arctanh of the correlation, times the points less POINTS (Fisher 1921; Fieller, Hartley & Pearson
1957 for tau)."""
POINTS = {"pearson": 3, "spearman": 3, "kendall": 4}
ROUNDING = 1e-9
"""What comes so near to a perfect correlation is one."""


class Interval(NamedTuple):
    """NaN where there is no interval."""

    low: float
    high: float


NO_INTERVAL = Interval(np.nan, np.nan)


class IntervalEstimate(NamedTuple):
    """A value with its interval. NaN where there is none."""

    value: float
    low: float
    high: float


def percentile_interval(values: Floats, confidence: float) -> Interval:
    """The middle `confidence` of the values. Resamples in which the value is undefined are left out."""
    defined = values[~np.isnan(values)]
    if defined.size < 2:
        return NO_INTERVAL
    with np.errstate(invalid="ignore"):  # between two infinite values
        low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def expanded(confidence: float, units: int) -> float:
    """The share of resamples to keep so that an interval holds as often as it says (Hesterberg 2015, the expanded
    percentile interval)."""
    from scipy.special import ndtr, ndtri

    return float(2 * ndtr(expansion(confidence, units) * ndtri((1 + confidence) / 2)) - 1)


def expansion(confidence: float, units: int) -> float:
    """By how much wider an interval must be than one of very many units. Resamples of few vary too little, by
    sqrt((units - 1) / units), and their deviation is itself an estimate, as Student's t allows for."""
    from scipy.special import ndtri, stdtrit

    if units < 2:
        return 1.0
    upper = (1 + confidence) / 2
    return float(np.sqrt(units / (units - 1)) * stdtrit(units - 1, upper) / ndtri(upper))


def linear_interval(value: float, influences: Floats, confidence: float) -> Interval:
    """Of a correlation that is a sum over units to first order, by Student's t. `influences` is what it gains by each
    unit that is drawn once more."""
    from scipy.special import stdtrit

    units = len(influences)
    error = np.sqrt(units / (units - 1) * np.sum((influences - influences.mean()) ** 2))
    reach = float(stdtrit(units - 1, (1 + confidence) / 2)) * float(error)
    return Interval(max(value - reach, -1.0), min(value + reach, 1.0)) if np.isfinite(reach) else NO_INTERVAL


def student_mean(values: Floats, confidence: float = 0.95) -> IntervalEstimate:
    """A mean with Student's interval, which takes the numbers as independent; NaN of fewer than two."""
    from scipy.stats import ttest_1samp

    if len(values) < 2:
        return IntervalEstimate(float(values.mean()) if len(values) else np.nan, np.nan, np.nan)
    ends = ttest_1samp(values, 0).confidence_interval(confidence)
    return IntervalEstimate(float(values.mean()), float(ends.low), float(ends.high))


def clustered_mean(values: Floats, groups: NDArray[np.int64]) -> IntervalEstimate:
    """The mean of shares from 0 to 1, of which several come from one group, with its 95 % interval: that of a ratio of
    sums over groups, to first order, by Student's t."""
    from scipy.special import stdtrit

    value = float(values.mean())
    residuals = np.bincount(groups, weights=values - value)
    number = len(np.unique(groups))
    if number < 2:
        return IntervalEstimate(value, 0.0, 1.0)
    if value in (0.0, 1.0):  # the exact interval of a share, each group counted once: they do not vary
        least = 0.025 ** (1 / number)
        return IntervalEstimate(value, least * value, 1 - least * (1 - value))
    spread = float(np.sqrt(number / (number - 1) * (residuals**2).sum()))
    error = float(stdtrit(number - 1, 0.975)) * spread / len(values)
    return IntervalEstimate(value, max(value - error, 0.0), min(value + error, 1.0))


def mean_of_estimates(estimates: Sequence[IntervalEstimate]) -> IntervalEstimate:
    """The mean of independent estimates, from their intervals: distances add by squares (Zou 2007)."""
    value, low, high = np.array(estimates).T
    below, above = (np.sqrt(np.sum(side**2)) / len(value) for side in (value - low, high - value))
    mean = float(value.mean())
    return IntervalEstimate(mean, float(mean - below), float(mean + above))


def fisher_interval(coefficient: str, value: float, n: int, confidence: float) -> Interval:
    """Of a correlation, by Fisher's z: of few points, where the bootstrap alone is too narrow. For Spearman's rho the
    variance grows by rho squared / 2 (Bonett & Wright 2000). A perfect order counts as half a step less than perfect:
    of four systems in people's very order, one in 24 random ones are."""
    from scipy.special import ndtri

    if np.isnan(value):
        return NO_INTERVAL
    if n <= POINTS[coefficient]:
        return Interval(-1.0, 1.0)
    inside = float(np.clip(value, -1 + _half_step(coefficient, n), 1 - _half_step(coefficient, n)))
    spread = SPREAD[coefficient] + (inside**2 / 2 if coefficient == "spearman" else 0.0)
    reach = ndtri((1 + confidence) / 2) * np.sqrt(spread / (n - POINTS[coefficient]))
    low, high = np.tanh([np.arctanh(inside) - reach, np.arctanh(inside) + reach])
    return Interval(-1.0 if value <= -1 + ROUNDING else float(low), 1.0 if value >= 1 - ROUNDING else float(high))


def _half_step(coefficient: str, n: int) -> float:
    """Half of what one exchange of neighbours takes off a perfect order; next to nothing for Pearson's r."""
    return {"pearson": 1e-9, "spearman": 6 / (n * (n * n - 1)), "kendall": 2 / (n * (n - 1))}[coefficient]


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
    unseen: float = 0.0
    """The variance that the values without each group do not show: that of a sketch."""

    def minus(self, other: Jackknife) -> Jackknife:
        """The difference of two statistics over the same groups. Where they do not stand on the same units, a group
        counts as large as the larger of the two. What two sketches have in common would take from their variances, and
        is left in."""
        return Jackknife(
            self.value - other.value,
            self.without - other.without,
            np.maximum(self.sizes, other.sizes),
            self.extrapolated,
            self.unseen + other.unseen,
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
        return float(np.sqrt(np.mean((pseudo - self._centre) ** 2 / (share - 1)) + self.unseen))

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
