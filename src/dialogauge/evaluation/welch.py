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
    from scipy.special import stdtrit

    if len(values) < 2:
        return MeanInterval(float(values.mean()) if len(values) else np.nan, np.nan, np.nan)
    mean, error = float(values.mean()), float(values.std(ddof=1)) / np.sqrt(len(values))
    reach = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * error
    return MeanInterval(mean, mean - reach, mean + reach)


def welch_test(first: Floats, second: Floats, confidence: float = 0.95) -> Welch:
    """Welch's t-test (1947), with the degrees of freedom of Welch and Satterthwaite. It takes all numbers as
    independent.

    g = J(m) (mean1 - mean2) / s, with m = n1 + n2 - 2 degrees of freedom, s the pooled standard deviation and
    J(m) = Γ(m/2) / (sqrt(m/2) Γ((m-1)/2)) (Hedges 1981). Its interval is g ± z sqrt((n1 + n2) / (n1 n2) + g² / (2 (n1 +
    n2))) (Hedges & Olkin 1985), which takes both groups to be spread alike."""
    from scipy.special import gammaln, ndtri, stdtr, stdtrit

    n1, n2 = len(first), len(second)
    if min(n1, n2) < 2:
        return UNDEFINED
    variance1, variance2 = float(first.var(ddof=1)), float(second.var(ddof=1))
    part1, part2 = variance1 / n1, variance2 / n2
    error = float(np.sqrt(part1 + part2))
    if not error:
        return UNDEFINED
    difference = float(first.mean() - second.mean())
    freedom = (part1 + part2) ** 2 / (part1**2 / (n1 - 1) + part2**2 / (n2 - 1))
    t, reach = difference / error, float(stdtrit(freedom, (1 + confidence) / 2)) * error
    m = n1 + n2 - 2
    pooled = np.sqrt(((n1 - 1) * variance1 + (n2 - 1) * variance2) / m)
    g = float(np.exp(gammaln(m / 2) - gammaln((m - 1) / 2)) / np.sqrt(m / 2) * difference / pooled)
    wide = float(ndtri((1 + confidence) / 2) * np.sqrt((n1 + n2) / (n1 * n2) + g**2 / (2 * (n1 + n2))))
    return Welch(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        t=t,
        freedom=freedom,
        p=float(2 * stdtr(freedom, -abs(t))),
        g=g,
        g_low=g - wide,
        g_high=g + wide,
    )
