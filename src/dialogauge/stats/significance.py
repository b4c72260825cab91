"""Tests, and the correction of their p-values for their number: Holm, Welch, Williams, and two samples that nothing
pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import CELLS_AT_ONCE, NO_INTERVAL, Interval, Jackknife

MOST_POINTS = 10**9
SAME_CORRELATION = 1e-12
"""Correlations that differ by less are equal."""
ROUNDING = 1e-9
"""Statistics that agree to this share of themselves are equal, and spreads below it are rounding."""


def holm_corrected(p_values: Sequence[float | None]) -> list[float | None]:
    """Each p-value as it stands after the correction (Holm 1979); None, for what was not tested, stays None and does
    not count."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        corrected[place] = largest
    return corrected


@dataclass(frozen=True)
class Welch:
    """The first group less the second. NaN where a group has fewer than two numbers, or where no number differs from
    its group's mean."""

    difference: float
    low: float
    high: float
    t: float
    freedom: float
    p: float
    """Two-sided."""
    g: float
    """Hedges': the difference in pooled standard deviations, less the bias of few numbers."""
    g_low: float
    g_high: float


NO_WELCH = Welch(*[float("nan")] * 9)


def welch_test(first: Floats, second: Floats, confidence: float = 0.95) -> Welch:
    """Welch's t-test (1947), which takes all numbers as independent.

    g = J(m) (mean1 - mean2) / s, with m = n1 + n2 - 2 degrees of freedom, s the pooled standard deviation and
    J(m) = Γ(m/2) / (sqrt(m/2) Γ((m-1)/2)) (Hedges 1981). Its interval is g ± z sqrt((n1 + n2) / (n1 n2) + g² / (2 (n1 +
    n2))) (Hedges & Olkin 1985), which takes both groups to be spread alike."""
    from scipy.special import gammaln, ndtri
    from scipy.stats import ttest_ind

    n1, n2 = len(first), len(second)
    if min(n1, n2) < 2 or not (np.ptp(first) or np.ptp(second)):
        return NO_WELCH
    test = ttest_ind(first, second, equal_var=False)
    ends = test.confidence_interval(confidence)
    difference, m = float(first.mean() - second.mean()), n1 + n2 - 2
    pooled = np.sqrt(((n1 - 1) * first.var(ddof=1) + (n2 - 1) * second.var(ddof=1)) / m)
    g = float(np.exp(gammaln(m / 2) - gammaln((m - 1) / 2)) / np.sqrt(m / 2) * difference / pooled)
    wide = float(ndtri((1 + confidence) / 2) * np.sqrt((n1 + n2) / (n1 * n2) + g**2 / (2 * (n1 + n2))))
    return Welch(
        difference=difference,
        low=float(ends.low),
        high=float(ends.high),
        t=float(test.statistic),
        freedom=float(test.df),
        p=float(test.pvalue),
        g=g,
        g_low=g - wide,
        g_high=g + wide,
    )


class Williams(NamedTuple):
    """NaN where the test is undefined."""

    t: float
    p: float


def williams_test(first: float, second: float, between: float, n: int) -> Williams:
    """Two-sided, with n - 3 degrees of freedom. `first` and `second` are the metrics' correlations with the ratings,
    `between` is theirs with each other (Williams 1959, as recommended by Steiger 1980):

        t = (first - second) sqrt((n - 1)(1 + between) / (2 |R| (n - 1)/(n - 3) + mean² (1 - between)³))

    where |R| is the determinant of the three correlations and mean is that of the first two. Made for Pearson's r of
    Gaussian values; of Spearman's rho, an approximation."""
    from scipy.special import stdtr

    if n <= 3 or np.isnan([first, second, between]).any():
        return Williams(np.nan, np.nan)
    t = _t(first, second, between, n)
    return Williams(t, float(2 * stdtr(n - 3, -abs(t))))


def points_needed(first: float, second: float, between: float) -> int | None:
    """How many independent points would show a difference of this size: the fewest with which t is as large as 80 %
    power at 5 % takes. None where there is no difference, or where a billion points would not show it."""
    if np.isnan([first, second, between]).any() or not _shown(first, second, between, MOST_POINTS):
        return None
    low, high = 4, MOST_POINTS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _shown(first, second, between, middle) else (middle + 1, high)
    return low


class TwoSampleResult(NamedTuple):
    """The first sample less the second. NaN where something is undefined."""

    values: tuple[float, float]
    interval: Interval
    p: float
    effect: float
    """The difference in standard deviations of a unit: the root of both samples' mean variance."""
    units: tuple[int, int]
    test: str


class UnitSums(NamedTuple):
    """The sum of each unit's values, and how many they are."""

    totals: Floats
    sizes: Floats

    @classmethod
    def from_values(cls, values: Floats, units: NDArray[np.uint64]) -> UnitSums:
        _, places = np.unique(units, return_inverse=True)
        return cls(np.bincount(places, values).astype(np.float64), np.bincount(places).astype(np.float64))

    @property
    def mean(self) -> float:
        return float(self.totals.sum() / self.sizes.sum())

    def means(self, weights: Floats) -> Floats:
        return np.asarray((weights @ self.totals) / (weights @ self.sizes))

    def error(self, weights: Floats) -> Floats:
        """The standard error of the mean of the units with weight 1, a ratio of sums: the root of n / (n - 1) times
        sum (t - s r)² / (sum s)², r being the ratio of the sums of t and s."""
        t, s = self.totals, self.sizes
        n, total, size, tt, ts, ss = (weights @ np.stack([np.ones_like(t), t, s, t * t, t * s, s * s], axis=1)).T
        ratio = total / size
        return np.asarray(np.sqrt(n / (n - 1) * np.maximum(tt - 2 * ratio * ts + ratio**2 * ss, 0.0)) / size)

    def studentised(self, weights: Floats) -> Floats:
        """How far the mean of the units with weight 1 lies from that of the others, in standard errors."""
        apart = np.abs(self.means(weights) - self.means(1 - weights))
        error = np.hypot(self.error(weights), self.error(1 - weights))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(apart <= ROUNDING * np.abs(self.totals).max(), 0.0, apart / error)


def permutation_test(
    first: UnitSums, second: UnitSums, confidence: float, permutations: int, rng: np.random.Generator
) -> TwoSampleResult:
    """The p-value is the share of permutations, the observed one included, in which the studentised difference is as
    large; the interval reaches as many standard errors as 95 % of them do."""
    units = len(first.sizes), len(second.sizes)
    values = first.mean, second.mean
    mine = np.repeat([1.0, 0.0], units)[None, :]
    pooled = UnitSums(*(np.concatenate(both) for both in zip(first, second, strict=True)))
    deviations = pooled.totals - pooled.sizes * pooled.mean
    scale = float(np.abs(deviations).max())
    found = TwoSampleResult(values, NO_INTERVAL, float("nan"), float("nan"), units, "permutation")
    if min(units) < 2 or np.isnan(scale):
        return found
    if scale <= ROUNDING * np.abs(pooled.totals).max():
        return found._replace(interval=Interval(0.0, 0.0), p=1.0)
    pooled = UnitSums(deviations / scale, pooled.sizes)
    dealt = _studentised(pooled, mine, rng, permutations)
    errors = np.concatenate([pooled.error(mine), pooled.error(1 - mine)])
    reach = float(np.quantile(dealt, confidence, method="higher")) * scale * float(np.hypot(*errors))
    difference, spread = values[0] - values[1], float(np.sqrt(np.dot(units, errors**2) / 2))
    return found._replace(
        interval=Interval(difference - reach, difference + reach) if np.isfinite(reach) else NO_INTERVAL,
        p=float(np.mean(dealt >= dealt[0] * (1 - ROUNDING))),
        effect=difference / scale / spread if spread > ROUNDING else float("nan"),
    )


def jackknife_test(first: Jackknife, second: Jackknife, units: tuple[int, int], confidence: float) -> TwoSampleResult:
    """The degrees of freedom are Welch's, from the standard errors of the two jackknives."""
    from scipy.special import stdtr, stdtrit

    values = first.estimate, second.estimate
    difference, error = values[0] - values[1], float(np.hypot(first.error, second.error))
    rounding = ROUNDING * max(map(abs, values))
    found = TwoSampleResult(values, NO_INTERVAL, float("nan"), float("nan"), units, "welch")
    if np.isnan(difference) or not error > rounding:
        return found._replace(p=1.0) if min(units) > 1 and abs(difference) <= rounding else found
    shares = np.square([first.error / error, second.error / error])
    freedom = 1 / float(np.sum(shares**2 / [first.freedom, second.freedom]))
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    return found._replace(
        interval=Interval(difference - reach, difference + reach),
        p=float(2 * stdtr(freedom, -abs(difference) / error)),
        effect=difference / error / float(np.sqrt(np.dot(units, shares) / 2)),
    )


def _shown(first: float, second: float, between: float, n: int) -> bool:
    from scipy.special import stdtrit

    return bool(abs(_t(first, second, between, n)) >= stdtrit(n - 3, 0.975) + stdtrit(n - 3, 0.8))


def _t(first: float, second: float, between: float, n: int) -> float:
    determinant = max(0.0, 1 - first**2 - second**2 - between**2 + 2 * first * second * between)
    spread = 2 * determinant * (n - 1) / (n - 3) + ((first + second) / 2) ** 2 * max(0.0, 1 - between) ** 3
    if abs(first - second) <= SAME_CORRELATION:
        return 0.0
    if 1 + between <= SAME_CORRELATION:  # a metric and its opposite
        return np.nan
    if spread <= 0:
        return float(np.copysign(np.inf, first - second))
    return float((first - second) * np.sqrt((n - 1) * (1 + between) / spread))


def _studentised(pooled: UnitSums, mine: Floats, rng: np.random.Generator, permutations: int) -> Floats:
    """The differences as they are and in so many permutations, in standard errors."""
    found = [pooled.studentised(mine)]
    block = max(1, CELLS_AT_ONCE // mine.size)
    for start in range(0, permutations, block):
        dealt = rng.permuted(np.repeat(mine, min(block, permutations - start), axis=0), axis=1)
        found.append(pooled.studentised(dealt))
    return np.concatenate(found)
