"""Two groups of numbers whose spreads may differ: the difference of their means, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MeanInterval:
    """A mean with Student's interval, which takes the numbers as independent; NaN of fewer than two."""

    value: float
    low: float
    high: float


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


UNDEFINED = Welch(*[float("nan")] * 9)


def mean_interval(values: Floats, confidence: float = 0.95) -> MeanInterval:
    from scipy.stats import ttest_1samp

    if len(values) < 2:
        return MeanInterval(float(values.mean()) if len(values) else np.nan, np.nan, np.nan)
    ends = ttest_1samp(values, 0).confidence_interval(confidence)
    return MeanInterval(float(values.mean()), float(ends.low), float(ends.high))


def welch_test(first: Floats, second: Floats, confidence: float = 0.95) -> Welch:
    """Welch's t-test (1947), which takes all numbers as independent.

    g = J(m) (mean1 - mean2) / s, with m = n1 + n2 - 2 degrees of freedom, s the pooled standard deviation and
    J(m) = Γ(m/2) / (sqrt(m/2) Γ((m-1)/2)) (Hedges 1981). Its interval is g ± z sqrt((n1 + n2) / (n1 n2) + g² / (2 (n1 +
    n2))) (Hedges & Olkin 1985), which takes both groups to be spread alike."""
    from scipy.special import gammaln, ndtri
    from scipy.stats import ttest_ind

    n1, n2 = len(first), len(second)
    if min(n1, n2) < 2 or not (np.ptp(first) or np.ptp(second)):
        return UNDEFINED
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
