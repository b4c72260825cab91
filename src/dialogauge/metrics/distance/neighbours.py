"""Precision, recall, density and coverage of generated vectors by nearest neighbours, and distances block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import InputError
from dialogauge.metrics.base import Floats

BLOCK = 4_000_000
"""The most numbers a block of distances or kernel values holds: 32 MB."""
ROUNDING = 1e-12
"""What squared distances may be wrong by, as a share of the largest squared length of a centred vector."""


UnitKeys = NDArray[np.uint64]


class PrdcValues(NamedTuple):
    precision: float
    recall: float
    density: float
    coverage: float


def prdc(real: Floats, generated: Floats, k: int = 5, units: tuple[UnitKeys, UnitKeys] | None = None) -> PrdcValues:
    """How two sets of rows cover each other, where a row's ball reaches to its k-th nearest neighbour on its own side.

    Precision: the share of generated rows in the ball of any real row; recall the same with sides changed
    (Kynkäänniemi et al. 2019). Density: the mean number of real balls around a generated row, divided by k, which may
    exceed 1; coverage: the share of real rows with a generated row in their ball (Naeem et al. 2020). All but density
    lie in [0, 1].

    Balls are closed, up to rounding: a row as far away as the neighbour is inside, and so are copies of a row whose
    neighbours are copies too (the package `prdc` leaves them out; without ties both agree). A row is never its own
    neighbour, nor are rows of the same of the given `units` (dialogues, contexts), which are near for another reason
    than that the sides are alike. A side of k rows or fewer has no balls: recall is NaN if that side is the generated
    one, the other three if it is the real one, and all four if a side is empty.
    """
    if k < 1:
        raise InputError(f"k is {k}; the number of neighbours must be at least 1")
    real, generated = centred_rows(real, generated)
    n, m = len(real), len(generated)
    if not n or not m:
        return PrdcValues(np.nan, np.nan, np.nan, np.nan)
    slack = rounding(real, generated)
    of_real, of_generated = units or (np.arange(n, dtype=np.uint64), np.arange(n, n + m, dtype=np.uint64))
    reach, reach_generated = _reach(real, k, of_real) + slack, _reach(generated, k, of_generated) + slack
    around = np.zeros(m, dtype=np.int64)
    covered = recalled = 0
    for rows, distances in distance_blocks(real, generated):
        if units is not None:
            distances[of_real[rows, None] == of_generated] = np.inf
        inside = distances <= reach[rows, None]
        around += inside.sum(axis=0)
        covered += int(inside.any(axis=1).sum())
        recalled += int((distances <= reach_generated).any(axis=1).sum())
    balls = np.nan if np.isnan(reach).all() else 1.0
    return PrdcValues(
        precision=balls * float((around > 0).mean()),
        recall=np.nan if np.isnan(reach_generated).all() else recalled / n,
        density=balls * float(around.mean()) / k,
        coverage=balls * covered / n,
    )


def _reach(rows: Floats, k: int, units: UnitKeys) -> Floats:
    """The squared distance from each row to its k-th nearest row of another unit; NaN where there are fewer."""
    if len(rows) <= k:
        return np.full(len(rows), np.nan)
    found = np.empty(len(rows))
    for block, distances in distance_blocks(rows, rows):
        distances[units[block, None] == units] = np.inf
        found[block] = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return np.where(np.isinf(found), np.nan, found)


def distance_blocks(x: Floats, y: Floats) -> Iterator[tuple[slice, Floats]]:
    """Squared distances from a few rows of x at a time to all rows of y. Rounding can leave them just below zero."""
    lengths_x, lengths_y = squared_lengths(x), squared_lengths(y)
    for rows in blocks(len(x), len(y)):
        yield rows, lengths_x[rows, None] + lengths_y - 2 * (x[rows] @ y.T)


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows that keep a block of that many columns within `BLOCK` numbers."""
    size = max(1, BLOCK // max(columns, 1))
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def rounding(x: Floats, y: Floats) -> float:
    """By how much squared distances between rows of x and y may be off."""
    return ROUNDING * float(max(squared_lengths(x).max(initial=0), squared_lengths(y).max(initial=0)))


def squared_lengths(rows: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def centred_rows(x: NDArray[Any], y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Both less the mean of the two means: the same distances, with fewer digits lost to a common offset."""
    x, y = both_rows(x, y)
    if not len(x) or not len(y):
        return x, y
    middle = (x.mean(axis=0) + y.mean(axis=0)) / 2
    return x - middle, y - middle


def both_rows(x: NDArray[Any], y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Two sets of vectors in double precision, or an error that says what does not fit."""
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise InputError(f"expected two sets of vectors, (n, d) and (m, d); found shapes {x.shape} and {y.shape}")
    return finite_rows(x), finite_rows(y)


def finite_rows(rows: NDArray[Any]) -> Floats:
    """In double precision, or an error that names the first row that holds no numbers."""
    fine = np.isfinite(rows).all(axis=1)
    if not fine.all():
        row = int(fine.argmin())
        raise InputError(f"vector {row} of {len(rows)} holds NaN or an infinite number; leave such vectors out")
    return np.asarray(rows, dtype=np.float64)
