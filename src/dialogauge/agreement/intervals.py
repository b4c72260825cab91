"""What makes intervals of few points as wide as they must be, where the bootstrap alone is too narrow; and intervals of
means of correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Bounds(NamedTuple):
    """A correlation with its interval. NaN where there is none."""

    value: float
    low: float
    high: float


SPREAD = {"pearson": 1.0, "spearman": 1.0, "kendall": 0.437}
"""The variance of arctanh of the correlation, times the points less POINTS (Fisher 1921; Fieller, Hartley & Pearson
1957 for tau)."""
ROUNDING = 1e-9
"""What comes so near to a perfect correlation is one."""
POINTS = {"pearson": 3, "spearman": 3, "kendall": 4}


def expanded(confidence: float, units: int) -> float:
    """The share of resamples to keep so that an interval holds as often as it says. Resamples of few units vary too
    little, by sqrt((units - 1) / units), and their deviation is itself an estimate, as Student's t allows for
    (Hesterberg 2015, the expanded percentile interval)."""
    from scipy.special import ndtr, stdtrit

    if units < 2:
        return confidence
    reach = np.sqrt(units / (units - 1)) * stdtrit(units - 1, (1 + confidence) / 2)
    return float(2 * ndtr(reach) - 1)


def fisher_interval(coefficient: str, value: float, n: int, confidence: float) -> tuple[float, float]:
    """By Fisher's z. For Spearman's rho the variance grows by rho squared / 2 (Bonett & Wright 2000). A perfect order
    counts as half a step less than perfect: of four systems in people's very order, one in 24 random ones are."""
    from scipy.special import ndtri

    if np.isnan(value):
        return np.nan, np.nan
    if n <= POINTS[coefficient]:
        return -1.0, 1.0
    inside = float(np.clip(value, -1 + _half_step(coefficient, n), 1 - _half_step(coefficient, n)))
    spread = SPREAD[coefficient] + (inside**2 / 2 if coefficient == "spearman" else 0.0)
    reach = ndtri((1 + confidence) / 2) * np.sqrt(spread / (n - POINTS[coefficient]))
    low, high = np.tanh([np.arctanh(inside) - reach, np.arctanh(inside) + reach])
    return (-1.0 if value <= -1 + ROUNDING else float(low)), (1.0 if value >= 1 - ROUNDING else float(high))


def _half_step(coefficient: str, n: int) -> float:
    """Half of what one exchange of neighbours takes off a perfect order; next to nothing for Pearson's r."""
    return {"pearson": 1e-9, "spearman": 6 / (n * (n * n - 1)), "kendall": 2 / (n * (n - 1))}[coefficient]


def mean_interval(correlations: Sequence[Bounds]) -> Bounds:
    """The mean of independent correlations, from their intervals: distances add by squares (Zou 2007)."""
    value, low, high = np.array(correlations).T
    below, above = (np.sqrt(np.sum(side**2)) / len(value) for side in (value - low, high - value))
    mean = float(value.mean())
    return Bounds(mean, float(mean - below), float(mean + above))
