"""Williams' test: is one of two metrics more strongly correlated with the same ratings?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST = 10**9
ROUNDING = 1e-12


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
    if np.isnan([first, second, between]).any() or not _shown(first, second, between, MOST):
        return None
    low, high = 4, MOST
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
