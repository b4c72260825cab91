"""Tests: is one group of numbers larger than another, is one of two correlations stronger, and which of many p-values
still count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dialogauge.stats.arrays import Floats

MOST_POINTS = 10**9
ROUNDING = 1e-12


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


def _shown(first: float, second: float, between: float, n: int) -> bool:
    from scipy.special import stdtrit

    return bool(abs(_t(first, second, between, n)) >= stdtrit(n - 3, 0.975) + stdtrit(n - 3, 0.8))


def _t(first: float, second: float, between: float, n: int) -> float:
    determinant = max(0.0, 1 - first**2 - second**2 - between**2 + 2 * first * second * between)
    spread = 2 * determinant * (n - 1) / (n - 3) + ((first + second) / 2) ** 2 * max(0.0, 1 - between) ** 3
    if abs(first - second) <= ROUNDING:
        return 0.0
    if 1 + between <= ROUNDING:  # a metric and its opposite
        return np.nan
    if spread <= 0:
        return float(np.copysign(np.inf, first - second))
    return float((first - second) * np.sqrt((n - 1) * (1 + between) / spread))
