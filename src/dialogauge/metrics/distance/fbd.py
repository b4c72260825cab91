"""The Fréchet BERT Distance (Xiang et al. 2021): how far generated (context, response) pairs are from real ones, when
each side's vectors are taken for a Gaussian."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.distance.distribution import OUT, TO_GENERATED, TO_REAL, DistributionMetric, Plan
from dialogauge.metrics.distance.frechet import (
    Gaussian,
    Mean,
    Moments,
    Terms,
    contrasts,
    frechet_terms,
    influences,
    nuclear_norm,
    terms_of,
)
from dialogauge.metrics.distance.paired_rows import PairedRows, PairedSummary, flattened

KEPT = 2
"""Up to this many vectors for each dimension are kept: a few more than dimensions still have a faster way."""
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

    @property
    def numbers(self) -> int:
        """Of vectors that are kept."""
        return 0 if self.rows is None else self.rows.size

    def smaller(self) -> VectorSummary:
        """By moments, where these take less memory than the vectors."""
        return self if self.rows is None or len(self.rows) <= self.width else VectorSummary(None, self.moments)

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
        kept = all(summary.rows is not None for summary in summaries)
        return kept and sum(summary.numbers for summary in summaries) <= POOLED

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


ENOUGH = 3
"""Vectors for each dimension from which on the extrapolated distance is free of all but a tenth of the size's bias
(benchmarks/coverage.py)."""


@dataclass(frozen=True)
class Fbd(DistributionMetric[VectorSummary]):
    """NaN with fewer than two vectors on a side.

    `mean=norm` is the formula as the paper prints it, `cov=shrunk` takes Ledoit and Wolf's covariances, and
    `est=extrapolated` gives the distance that is to be expected of ever larger samples, linearly in 1/n.
    """

    name = "fbd"
    title = "distance of (context, response) pairs from real ones, as Gaussians of vectors"
    citations = ("xiang2021assessing",)
    higher_is_better = False
    bounds = (-np.inf, np.inf)
    """Only the extrapolated distance can fall below 0."""
    parts = ("mean", "covariance")

    mean: Mean = "squared"
    covariance: Literal["plain", "shrunk"] = field(default="plain", metadata={"option": "cov"})
    estimate: Literal["plain", "extrapolated"] = field(default="plain", metadata={"option": "est"})

    @property
    def extrapolates(self) -> bool:
        return self.estimate == "extrapolated"

    def sides(self, rows: PairedRows) -> tuple[VectorSummary, VectorSummary]:
        return VectorSummary.from_rows(rows.real_vectors), VectorSummary.from_rows(rows.generated_vectors)

    def rate(self, nearer: float) -> float:
        """1 in the end. With few vectors for their dimensions it is less, by an amount that halves as the size doubles:
        from a quarter of the size to a half it was log2(nearer), from a half to the whole it is midway to 1."""
        return float(np.clip((1 + np.log2(nearer)) / 2, 0.5, 1.5)) if nearer > 0 else 1.0

    def total(self, sides: Sequence[VectorSummary]) -> VectorSummary:
        return total(sides)

    def bounded(self, summaries: Sequence[PairedSummary[VectorSummary]]) -> list[PairedSummary[VectorSummary]]:
        """Vectors that are too many for a pool are kept only where moments would take more memory."""
        if sum(side.numbers for side in flattened(summaries)) <= POOLED:
            return list(summaries)
        return [replace(each, real=each.real.smaller(), generated=each.generated.smaller()) for each in summaries]

    def leave_one_out(self, summaries: Sequence[PairedSummary[VectorSummary]]) -> Iterator[Values]:
        if self._pools(flattened(summaries)):
            yield from super().leave_one_out(summaries)
            return
        whole = sum(summary.n for summary in summaries)
        real, generated = (
            each_left_out(side) for side in zip(*((s.real, s.generated) for s in summaries), strict=True)
        )
        for summary, *left in zip(summaries, real, generated, strict=True):
            yield self.conclude(PairedSummary(whole - summary.n, 0, *left))

    def recombine(self, summaries: Sequence[PairedSummary[VectorSummary]], plans: Sequence[Plan]) -> Iterator[Values]:
        """Without a pool: where every side goes somewhere, the larger sum is the whole without the smaller one."""
        sides = flattened(summaries)
        sizes = np.array([side.n for side in sides])
        if self._pools(sides):
            pool = PooledSample.pooled(sides)
            for plan in plans:
                yield _values(pool.terms(plan.ravel() == TO_REAL, plan.ravel() == TO_GENERATED, self.mean))
            return
        if any((plan == OUT).any() for plan in plans) or (whole := total(sides)).rows is not None:
            yield from super().recombine(summaries, plans)
            return
        for plan in plans:
            to = plan.ravel()
            few = TO_REAL if sizes[to == TO_REAL].sum() * 2 <= sizes.sum() else TO_GENERATED
            part = total([whole.empty(), *(side for side, where in zip(sides, to, strict=True) if where == few)])
            real, generated = (part, whole - part) if few == TO_REAL else (whole - part, part)
            yield self.conclude(PairedSummary(generated.n, 0, real, generated))

    def _pools(self, sides: Sequence[VectorSummary]) -> bool:
        return self.covariance == "plain" and PooledSample.fits(sides)

    def conclude(self, summary: PairedSummary[VectorSummary]) -> Values:
        sides = (summary.real, summary.generated)
        if min(side.n for side in sides) < 2:
            return _values(Terms(np.nan, np.nan))
        left, right = (side.gaussian(self.covariance == "shrunk") for side in sides)
        return _values(frechet_terms(left, right, self.mean))

    @property
    def no_influences(self) -> str | None:
        return "influences are known with cov=plain alone" if self.covariance == "shrunk" else None

    def influences(self, summary: PairedSummary[VectorSummary], measures: PairedRows) -> Floats:
        """Of each generated vector; none where a side has too few vectors for a distance."""
        if min(summary.real.n, summary.generated.n) < 2:
            return np.empty(0)
        real, generated = summary.real.gaussian(), summary.generated.gaussian()
        return influences(real, generated, measures.generated_vectors, self.mean) / (summary.generated.n - 1)

    def limits(self, part: str) -> tuple[float, float]:
        return self.bounds if self.extrapolates else (0.0, np.inf)

    def has_interval(self, summary: PairedSummary[VectorSummary], units: int) -> bool:
        """With no more independent vectors than dimensions, nothing is known of the population distance."""
        return not self.extrapolates or _independent(summary, units) > summary.real.width

    def caveats_of_systems(
        self, summaries: Mapping[str, PairedSummary[VectorSummary]], units: Mapping[str, int]
    ) -> list[Caveat]:
        smallest = min(_independent(summary, units[system]) for system, summary in summaries.items())
        width = next(iter(summaries.values())).real.width
        if smallest >= ENOUGH * width:
            return []
        few = f"{self.label}: {smallest} independent vectors on a side in {width} dimensions"
        if not self.extrapolates:
            return [
                Caveat(
                    "few_vectors",
                    f"{few}: most of the score comes from the size of the sample; read it beside its floor, and "
                    "compare systems of one size only",
                )
            ]
        if smallest > width:
            message = f"{few}: below {ENOUGH * width} the interval can miss the population distance too often"
            return [Caveat("few_vectors", message)]
        message = (
            f"{few}: with no more vectors than dimensions nothing is known of most of the population's covariance, "
            "so that there is no interval for its distance"
        )
        return [Caveat("few_vectors", message)]


def _values(terms: Terms) -> Values:
    return {"": sum(terms), "mean": terms.mean, "covariance": terms.covariance}


def _independent(summary: PairedSummary[VectorSummary], units: int) -> int:
    """Vectors of the smaller side that may count as independent: no more than dialogues or contexts."""
    return min(summary.real.n, summary.generated.n, units)
