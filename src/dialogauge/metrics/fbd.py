"""The Fréchet BERT Distance (Xiang et al. 2021): how far generated (context, response) pairs are from real ones, when
each side's vectors are taken for a Gaussian."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.clouds import PooledSample, VectorSummary, each_left_out, total
from dialogauge.metrics.distribution import OUT, TO_GENERATED, TO_REAL, DistributionMetric, Plan
from dialogauge.metrics.frechet import Mean, Terms, frechet_terms
from dialogauge.metrics.influence import influences
from dialogauge.metrics.sides import PairedRows, PairedSummary, flattened

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
