"""What statistics and metrics share: vectors' lengths, angles and distances, and linear algebra on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import InputError

Floats = NDArray[np.float64]
BLOCK = 4_000_000
"""The most numbers a block of distances or kernel values holds: 32 MB."""
ROUNDING = 1e-12
"""What squared distances may be wrong by, as a share of the largest squared length of a centred vector."""


def cosine(left: Floats, right: Floats) -> float:
    """The cosine of the angle between two vectors; 0 where one of them is zero."""
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / norms if norms else 0.0


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row divided by its length; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0))


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


def group_means(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """The mean of each group's values; groups are numbered from 0."""
    return np.asarray(np.bincount(groups, values) / np.bincount(groups))


def settled(means: Floats) -> Floats:
    """Means without the rounding of their sums, so that equal ones are equal, and tied: to 12 digits each. Tiny values
    stay what they are."""
    mantissa, exponent = np.frexp(means)
    return np.asarray(np.ldexp(np.round(mantissa, 12), exponent))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy's linear algebra on one thread, until it is left; also a decorator. What comes after encoding is thousands
    of small decompositions, for which several threads spend more time on waiting for each other than they save, and
    beside other busy processes many times more. PyTorch's threads, which encode, are not touched."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1, user_api="blas"):
        yield
