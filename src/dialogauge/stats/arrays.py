"""What the statistics and the metrics share: vectors' lengths and angles, and linear algebra on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cosine(left: Floats, right: Floats) -> float:
    """The cosine of the angle between two vectors; 0 where one of them is zero."""
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / norms if norms else 0.0


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row divided by its length; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0))


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
