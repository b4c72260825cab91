"""A cloud of vectors: the vectors themselves while they are few, their moments where they are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.frechet import Gaussian, Moments

KEPT = 2
"""Up to this many vectors for each dimension are kept: they take as much memory as the moments, in single precision."""


@dataclass(frozen=True)
class Cloud:
    """Clouds add. Vectors give a faster way to the Fréchet distance where they are fewer than dimensions."""

    rows: NDArray[Any] | None
    summed: Moments | None = None

    @classmethod
    def of(cls, rows: NDArray[Any]) -> Cloud:
        return cls(rows) if len(rows) <= KEPT * rows.shape[1] else cls(None, Moments.of(rows))

    @property
    def n(self) -> int:
        return len(self.rows) if self.rows is not None else int(self.moments.n)

    @property
    def kept(self) -> int:
        return self.n

    @property
    def moments(self) -> Moments:
        if self.summed is not None:
            return self.summed
        if self.rows is None:
            raise ValueError("a cloud has vectors or moments")
        return Moments.of(self.rows)

    @property
    def width(self) -> int:
        return self.rows.shape[1] if self.rows is not None else len(self.moments.mean)

    def empty(self) -> Cloud:
        return Cloud(np.empty((0, self.width), dtype=np.float32))

    def __add__(self, other: Cloud) -> Cloud:
        return total([self, other])

    def __sub__(self, part: Cloud) -> Cloud:
        """What is left of a sum without one of its parts, by moments."""
        return Cloud(None, self.moments - part.moments)

    def gaussian(self, shrunk: bool = False) -> Gaussian:
        if shrunk:
            moments = self.moments
            return Gaussian(moments.mean, moments.shrunk)
        return Gaussian.of_moments(self.moments) if self.rows is None else Gaussian.of_rows(self.rows)


def total(clouds: Sequence[Cloud]) -> Cloud:
    """The sum of one or more."""
    rows = [cloud.rows for cloud in clouds if cloud.rows is not None]
    if len(rows) == len(clouds) and sum(map(len, rows)) <= KEPT * clouds[0].width:
        return Cloud(np.concatenate(rows))
    summed = [cloud.moments for cloud in clouds if cloud.rows is None]
    if rows:
        summed.append(Moments.of(np.concatenate(rows)))
    return Cloud(None, reduce(add, summed))


def each_left_out(clouds: Sequence[Cloud]) -> Iterator[Cloud]:
    """The sum of all but each, one after the other."""
    whole = total(clouds)
    if whole.rows is None:
        yield from (whole - cloud for cloud in clouds)
        return
    ends = np.cumsum([cloud.n for cloud in clouds])
    for cloud, end in zip(clouds, ends, strict=True):
        yield Cloud(np.delete(whole.rows, np.s_[end - cloud.n : end], axis=0))
