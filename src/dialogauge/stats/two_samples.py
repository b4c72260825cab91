"""Two samples that nothing pairs: means of units by permutation, other statistics by their jackknives.

Means are tested by permutation: if both were equally good, it would not matter to which of them a unit belongs. The
difference is divided by its standard error in every permutation, since otherwise the test fails where the samples
differ in size and in spread (Janssen 1997; Chung & Romano 2013). For everything else each sample has a jackknife of its
own, and the test is Welch's (1947). Intervals come from the same tests, so that they leave 0 out where the test finds a
difference: the bootstrap's are too narrow for some tens of units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats
from dialogauge.stats.intervals import NO_INTERVAL, Interval
from dialogauge.stats.resampling import CELLS_AT_ONCE, Jackknife

ROUNDING = 1e-9
"""Statistics that agree to this share of themselves are equal, and spreads below it are rounding."""


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


def _studentised(pooled: UnitSums, mine: Floats, rng: np.random.Generator, permutations: int) -> Floats:
    """The differences as they are and in so many permutations, in standard errors."""
    found = [pooled.studentised(mine)]
    block = max(1, CELLS_AT_ONCE // mine.size)
    for start in range(0, permutations, block):
        dealt = rng.permuted(np.repeat(mine, min(block, permutations - start), axis=0), axis=1)
        found.append(pooled.studentised(dealt))
    return np.concatenate(found)


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
