"""The squared maximum mean discrepancy between two sets of vectors, without bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from dialogauge.errors import InputError, unknown
from dialogauge.metrics.base import Floats
from dialogauge.metrics.neighbours import blocks, both_rows, centred_rows, distance_blocks, rounding

Kernel = Literal["polynomial", "gaussian"]
MEDIAN_ROWS = 2000
"""From how many rows of a side at most the median distance is taken: all pairs are then at most 8 million."""


def mmd(x: Floats, y: Floats, kernel: Kernel = "polynomial", bandwidth: float | None = None) -> float:
    """Mean k(x, x') + mean k(y, y') - 2 mean k(x, y), the first two over pairs of different rows: the unbiased estimate
    of Gretton et al. (2012, eq. 3), whose mean over samples is 0 for equal distributions, so that it can fall below 0.

    `polynomial`: (x·y / d + 1)³ on d dimensions, as in KID (Bińkowski et al. 2018), over all rows rather than subsets.
    `gaussian`: exp(-‖x - y‖² / 2σ²) with σ = `bandwidth`, by default `median_distance(x, y)`. Sizes may differ. NaN
    with fewer than two rows on a side. Kernel values are made block by block and never kept.
    """
    if kernel == "polynomial":
        if bandwidth is not None:
            raise InputError(f"the polynomial kernel has no bandwidth; found {bandwidth}")
        x, y = both_rows(x, y)
    elif kernel == "gaussian":
        x, y = centred_rows(x, y)
    else:
        raise unknown("kernel", kernel, ("polynomial", "gaussian"))
    if min(len(x), len(y)) < 2:
        return float("nan")
    if kernel == "polynomial":
        return _estimate(x, y, _polynomial_sum)
    sigma = median_distance(x, y) if bandwidth is None else bandwidth
    if not sigma > 0:
        raise InputError(f"the bandwidth is {sigma}; it must be above 0")

    def total(left: Floats, right: Floats, same: bool) -> float:
        return _gaussian_sum(left, right, same, sigma)

    return _estimate(x, y, total)


def median_distance(x: Floats, y: Floats) -> float:
    """The median distance between rows of the union that differ, 1.0 where none do (any bandwidth then gives the same
    kernel). Beyond `MEDIAN_ROWS` rows of a side, of that many drawn with a fixed seed."""
    x, y = centred_rows(x, y)
    rng = np.random.default_rng(0)
    drawn = [
        rows if len(rows) <= MEDIAN_ROWS else rows[rng.choice(len(rows), MEDIAN_ROWS, replace=False)] for rows in (x, y)
    ]
    union = np.concatenate(drawn)
    slack = rounding(union, union)
    squares = []
    for rows, distances in distance_blocks(union, union):
        later = np.arange(len(union)) > np.arange(rows.start, rows.stop)[:, None]
        squares.append(distances[later & (distances > slack)])
    apart = np.concatenate(squares) if squares else np.empty(0)
    return float(np.median(np.sqrt(apart))) if len(apart) else 1.0


def _estimate(x: Floats, y: Floats, total: Callable[[Floats, Floats, bool], float]) -> float:
    n, m = len(x), len(y)
    within = total(x, x, True) / (n * (n - 1)) + total(y, y, True) / (m * (m - 1))
    return within - 2 * total(x, y, False) / (n * m)


def _polynomial_sum(x: Floats, y: Floats, same: bool) -> float:
    """The sum of kernel values over pairs of rows; where x and y are the `same`, not of a row with itself."""
    total = 0.0
    for rows in blocks(len(x), len(y)):
        values = x[rows] @ y.T
        values /= x.shape[1]
        values += 1
        values *= values * values
        total += _sum(values, rows, same)
    return total


def _gaussian_sum(x: Floats, y: Floats, same: bool, sigma: float) -> float:
    total = 0.0
    for rows, values in distance_blocks(x, y):
        np.maximum(values, 0, out=values)
        values *= -0.5 / sigma**2
        total += _sum(np.exp(values, out=values), rows, same)
    return total


def _sum(values: Floats, rows: slice, same: bool) -> float:
    if same:
        values[np.arange(len(values)), np.arange(rows.start, rows.stop)] = 0
    return float(values.sum())
