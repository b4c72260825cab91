"""Vectors summed up: the vectors themselves while they are few, their moments where they are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats
from dialogauge.metrics.frechet import Gaussian, Mean, Moments, Terms, contrasts, frechet_terms, nuclear_norm, terms_of

KEPT = 2
"""Up to this many vectors for each dimension are kept: they take as much memory as the moments, in single precision."""
POOLED = 40_000_000
"""The most numbers that the vectors of a pool may have, in double precision 320 MB."""
FLAT = 1e-13
"""The share of the largest variance below which a dimension has none."""


@dataclass(frozen=True)
class VectorSummary:
    """Clouds add. Vectors give a faster way to the Fréchet distance where they are fewer than dimensions."""

    rows: NDArray[Any] | None
    summed: Moments | None = None

    @classmethod
    def from_rows(cls, rows: NDArray[Any]) -> VectorSummary:
        return cls(rows) if len(rows) <= KEPT * rows.shape[1] else cls(None, Moments.from_rows(rows))

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
            raise ValueError("a summary of vectors has vectors or moments")
        return Moments.from_rows(self.rows)

    @property
    def width(self) -> int:
        return self.rows.shape[1] if self.rows is not None else len(self.moments.mean)

    def empty(self) -> VectorSummary:
        return VectorSummary(np.empty((0, self.width), dtype=np.float32))

    def __add__(self, other: VectorSummary) -> VectorSummary:
        return total([self, other])

    def __sub__(self, part: VectorSummary) -> VectorSummary:
        """What is left of a sum without one of its parts, by moments."""
        return VectorSummary(None, self.moments - part.moments)

    def gaussian(self, shrunk: bool = False) -> Gaussian:
        if shrunk:
            moments = self.moments
            return Gaussian(moments.mean, moments.shrunk)
        return Gaussian.from_moments(self.moments) if self.rows is None else Gaussian.from_rows(self.rows)


def total(summaries: Sequence[VectorSummary]) -> VectorSummary:
    """The sum of one or more."""
    rows = [summary.rows for summary in summaries if summary.rows is not None]
    if len(rows) == len(summaries) and sum(map(len, rows)) <= KEPT * summaries[0].width:
        return VectorSummary(np.concatenate(rows))
    summed = [summary.moments for summary in summaries if summary.rows is None]
    if rows:
        summed.append(Moments.from_rows(np.concatenate(rows)))
    return VectorSummary(None, reduce(add, summed))


def each_left_out(summaries: Sequence[VectorSummary]) -> Iterator[VectorSummary]:
    """The sum of all but each, one after the other."""
    whole = total(summaries)
    if whole.rows is None:
        yield from (whole - summary for summary in summaries)
        return
    ends = np.cumsum([summary.n for summary in summaries])
    for summary, end in zip(summaries, ends, strict=True):
        yield VectorSummary(np.delete(whole.rows, np.s_[end - summary.n : end], axis=0))


@dataclass(frozen=True)
class PooledSample:
    """The vectors of many summaries, of which any two sums may be held against each other. They are moved to their mean
    and, where they are more than dimensions, turned into those in which they vary: encoders end in a normalisation that
    leaves a dimension without variance, where covariances would have no Cholesky factor."""

    rows: Floats
    square: Floats
    """The sum of z zᵀ over all rows z."""
    products: Floats | None
    """Of every two rows, where they are few: sums of no more summaries than dimensions need nothing else."""
    origin: NDArray[np.intp]
    """Which summary each row belongs to."""
    distinct: NDArray[np.intp]
    """Equal for equal rows."""

    @staticmethod
    def fits(summaries: Sequence[VectorSummary]) -> bool:
        """Whether all vectors are kept, and are not too many to keep them twice."""
        kept = [summary.rows.size for summary in summaries if summary.rows is not None]
        return len(kept) == len(summaries) and sum(kept) <= POOLED

    @classmethod
    def pooled(cls, summaries: Sequence[VectorSummary]) -> PooledSample:
        kept = [summary.rows for summary in summaries if summary.rows is not None]
        given = np.ascontiguousarray(np.concatenate(kept))
        _, distinct = np.unique(given.view(np.dtype((np.void, given.strides[0]))).ravel(), return_inverse=True)
        rows = given - given.mean(axis=0, dtype=np.float64)
        square = rows.T @ rows
        if len(rows) > rows.shape[1]:
            values, axes = np.linalg.eigh(square)
            varied = values > FLAT * values[-1]
            rows, square = rows @ axes[:, varied], np.diag(values[varied])
        products = rows @ rows.T if len(rows) <= 2 * rows.shape[1] else None
        origin = np.repeat(np.arange(len(kept)), [len(own) for own in kept])
        return cls(rows, square, products, origin, distinct)

    def terms(self, x: NDArray[np.bool_], y: NDArray[np.bool_], mean: Mean) -> Terms:
        """The Fréchet distance between the sum of the summaries `x` and that of `y`; NaN with fewer than two vectors in
        one of them."""
        members = [chosen[self.origin] for chosen in (x, y, ~(x | y))]
        if min(member.sum() for member in members[:2]) < 2:
            return Terms(np.nan, np.nan)
        rank = min(len(np.unique(self.distinct[member])) for member in members[:2]) - 1
        if self.products is not None:
            return self._terms_of_products(self.products, members, mean, rank)
        left, right = self._gaussians(members)
        return frechet_terms(left, right, mean, rank)

    def _terms_of_products(
        self, products: Floats, members: Sequence[NDArray[np.bool_]], mean: Mean, rank: int
    ) -> Terms:
        """With n and m rows, X Yᵀ of the factors X and Y of the covariances is their matrix of products, centred both
        ways and divided by √(n - 1) √(m - 1)."""
        sides = [np.flatnonzero(member) for member in members[:2]]
        means = [self.rows[side].mean(axis=0) for side in sides]
        traces = [
            (products[side, side].sum() - len(side) * at @ at) / (len(side) - 1)
            for side, at in zip(sides, means, strict=True)
        ]
        cross = contrasts(contrasts(products[np.ix_(*sides)]).T)
        shared = nuclear_norm(cross, rank) / np.sqrt((len(sides[0]) - 1) * (len(sides[1]) - 1))
        return terms_of(means[0] - means[1], float(sum(traces)), shared, mean)

    def _gaussians(self, members: Sequence[NDArray[np.bool_]]) -> list[Gaussian]:
        """Of the first two of three parts of the rows. Sums over the largest part are what the others leave."""
        sizes, width = [int(member.sum()) for member in members], self.rows.shape[1]
        if max(sizes[:2]) <= width:
            return [Gaussian.from_rows(self.rows[member]) for member in members[:2]]
        totals, squares = np.zeros((3, width)), np.zeros((3, width, width))
        *smaller, largest = np.argsort(sizes)
        for place in smaller:
            part = self.rows[members[place]]
            totals[place], squares[place] = part.sum(axis=0), part.T @ part
        totals[largest], squares[largest] = -totals.sum(axis=0), self.square - squares.sum(axis=0)
        return [
            Gaussian.from_sums(n, total, square) if n > width else Gaussian.from_rows(self.rows[member])
            for n, total, square, member in zip(sizes[:2], totals, squares, members, strict=False)
        ]
