"""The squared maximum mean discrepancy between two sets of vectors, without bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import InputError, unknown
from dialogauge.metrics.base import Floats
from dialogauge.metrics.neighbours import blocks, both_rows, centred_rows, distance_blocks, rounding

Kernel = Literal["polynomial", "gaussian"]
MEDIAN_ROWS = 2000
"""From how many rows of a side at most the median distance is taken: all pairs are then at most 8 million."""


def mmd(
    x: Floats, y: Floats, kernel: Kernel = "polynomial", bandwidth: float | None = None, *, paired: bool = False
) -> float:
    """Mean k(x, x') + mean k(y, y') - 2 mean k(x, y), the first two over pairs of different rows: the unbiased estimate
    of Gretton et al. (2012, eq. 3), whose mean over samples is 0 for equal distributions, so that it can fall below 0.

    `polynomial`: (x·y / d + 1)³ on d dimensions, as in KID (Bińkowski et al. 2018), over all rows rather than subsets.
    `gaussian`: exp(-‖x - y‖² / 2σ²) with σ = `bandwidth`, by default `median_distance(x, y)`. Sizes may differ. NaN
    with fewer than two rows on a side. Kernel values are made block by block and never kept.

    `paired`: row i of x and row i of y belong together (they share a context), and their kernel value is left out of
    the third mean too; without that, what they share would pull the estimate below 0.
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
    if kernel == "gaussian":
        bandwidth = median_distance(x, y) if bandwidth is None else bandwidth
        if not bandwidth > 0:
            raise InputError(f"the bandwidth is {bandwidth}; it must be above 0")
    if paired and len(x) != len(y):
        raise InputError(f"paired rows are as many on both sides; found {len(x)} and {len(y)}")
    n, m = len(x), len(y)
    of_x, of_y = (_total(side, side, kernel, bandwidth, True) for side in (x, y))
    within = of_x / (n * (n - 1)) + of_y / (m * (m - 1))
    return within - 2 * _total(x, y, kernel, bandwidth, paired) / (n * m - (n if paired else 0))


class BlockSums(NamedTuple):
    """At (i, j) the sum of kernel values over pairs of a row of piece i and one of piece j, and the number of pairs."""

    values: Floats
    pairs: Floats


def block_sums(
    pieces: Sequence[tuple[NDArray[Any], NDArray[np.uint64]]], kernel: Kernel, bandwidth: float | None = None
) -> BlockSums:
    """Over pieces given as rows and the unit of each row. Rows of one unit are not paired: they depend on each other,
    and what they share is no likeness of their sides. The mmd of any two unions of pieces is a matter of adding up."""
    sizes = np.array([len(rows) for rows, _ in pieces])
    filled = np.flatnonzero(sizes)
    starts = np.cumsum(sizes[filled]) - sizes[filled]
    owner = np.repeat(np.arange(len(pieces)), sizes)
    rows = np.concatenate([rows for rows, _ in pieces])
    rows = centred_rows(rows, rows)[0] if kernel == "gaussian" else both_rows(rows, rows)[0]
    units = np.concatenate([units for _, units in pieces])
    values, pairs = np.zeros((2, len(pieces), len(pieces)))
    for block, of_block in _kernel_blocks(rows, rows, kernel, bandwidth):
        apart = units[block, None] != units
        of_block *= apart
        for sums, parts in ((values, of_block), (pairs, apart.astype(np.float64))):
            columns = np.zeros((len(of_block), len(pieces)))
            columns[:, filled] = np.add.reduceat(parts, starts, axis=1)
            np.add.at(sums, owner[block], columns)
    return BlockSums(values, pairs)


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


def _total(x: Floats, y: Floats, kernel: Kernel, bandwidth: float | None, same: bool) -> float:
    """The sum of kernel values over pairs of rows; where x and y are the `same`, not of row i with row i."""
    total = 0.0
    for rows, values in _kernel_blocks(x, y, kernel, bandwidth):
        if same:
            values[np.arange(len(values)), np.arange(rows.start, rows.stop)] = 0
        total += float(values.sum())
    return total


def _kernel_blocks(x: Floats, y: Floats, kernel: Kernel, bandwidth: float | None) -> Iterator[tuple[slice, Floats]]:
    """Kernel values of a few rows of x at a time with all rows of y."""
    if kernel == "gaussian":
        for rows, values in distance_blocks(x, y):
            np.maximum(values, 0, out=values)
            values *= -0.5 / (np.nan if bandwidth is None else bandwidth) ** 2
            yield rows, np.exp(values, out=values)
        return
    for rows in blocks(len(x), len(y)):
        values = x[rows] @ y.T
        values /= x.shape[1]
        values += 1
        values *= values * values
        yield rows, values
