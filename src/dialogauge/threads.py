"""How many threads linear algebra takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy's linear algebra on one thread, until it is left; also a decorator. What comes after encoding is thousands
    of small decompositions, for which several threads spend more time on waiting for each other than they save, and
    beside other busy processes many times more. PyTorch's threads, which encode, are not touched."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1, user_api="blas"):
        yield
