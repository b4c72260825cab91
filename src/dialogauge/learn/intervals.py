"""Shares with their uncertainty, where several cases come from one dialogue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Accuracy:
    """With its 95 % interval over dialogues."""

    value: float
    low: float
    high: float


def clustered_mean(values: NDArray[np.float64], groups: NDArray[np.int64]) -> Accuracy:
    """Of shares from 0 to 1. The interval is that of a ratio of sums over groups, to first order, by Student's t."""
    value = float(values.mean())
    residuals = np.bincount(groups, weights=values - value)
    number = len(np.unique(groups))
    if number < 2:
        return Accuracy(value, 0.0, 1.0)
    if value in (0.0, 1.0):  # the exact interval of a share, each group counted once: they do not vary
        least = 0.025 ** (1 / number)
        return Accuracy(value, least * value, 1 - least * (1 - value))
    error = _t(number - 1) * float(np.sqrt(number / (number - 1) * (residuals**2).sum())) / len(values)
    return Accuracy(value, max(value - error, 0.0), min(value + error, 1.0))


def _t(freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))
