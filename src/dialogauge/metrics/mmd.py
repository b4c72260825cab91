"""The maximum mean discrepancy between generated and real (context, response) pairs, without bias from their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Text
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import Floats, Learned, Values
from dialogauge.metrics.distribution import (
    TO_GENERATED,
    TO_REAL,
    DistributionMetric,
    Plan,
    PreparedDistribution,
    RealSide,
)
from dialogauge.metrics.drawn import BoundedSample, bounded_caveats, bounded_together, draw, total
from dialogauge.metrics.kernels import MEDIAN_ROWS, BlockSums, Kernel, block_sums, median_distance
from dialogauge.metrics.neighbours import both_rows
from dialogauge.metrics.sides import PairedRows, PairedSummary
from dialogauge.metrics.survey import SmallestKeys, random_key

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

EXACT = 1e-13
"""Differences of means below this share of them are rounding."""
LIMIT = 10_000
"""The most vectors of a side that are compared with all others."""


@dataclass(frozen=True)
class Bandwidth(RealSide):
    """Of the Gaussian kernel, where none was given."""

    sigma: float = 1.0


@dataclass(frozen=True)
class Mmd(DistributionMetric[BoundedSample]):
    """`kernels.mmd` of the two sides, without pairs of one dialogue or context. Its mean over samples is the distance
    of the populations, so that it can fall below 0 and samples of any size compare. NaN with fewer than two dialogues
    or contexts on a side. The Gaussian kernel's bandwidth is by default the median distance between real vectors."""

    name = "mmd"
    title = "distance of (context, response) pairs from real ones, by a kernel, unbiased"
    citations = ("gretton2012kernel", "binkowski2018demystifying")
    higher_is_better = False
    bounds = (-np.inf, np.inf)

    kernel: Kernel = "polynomial"
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bandwidth is not None and (
            self.kernel == "polynomial" or not (self.bandwidth > 0 and 0 < self.bandwidth**2 < np.inf)
        ):
            raise InputError(f"mmd: a bandwidth above 0 goes with kernel=gaussian; found {self.label}")

    @property
    def learns(self) -> bool:
        return self.kernel == "gaussian" and self.bandwidth is None

    @property
    def grows(self) -> bool:
        return False

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> SmallestKeys[Text] | None:
        """Pairs of context and reference, each once; with real conversations beside the corpus, theirs are enough."""
        if not self.learns or beside_real:
            return None
        texts = dict.fromkeys(self.text(turn, reference) for turn in turns for reference in self.references(turn))
        return SmallestKeys.choose(2 * MEDIAN_ROWS, ((random_key(text), text) for text in texts), True)

    def learn(
        self, found: SmallestKeys[Text] | None, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[PairedRows, PairedSummary[BoundedSample]]:
        beside = self.encode_real(real, encoders)
        if not self.learns:
            return Learned(self, RealSide(beside))
        if beside is not None:
            vectors: NDArray[Any] = beside.vectors[beside.legible]
        else:
            read = self.asked_of(encoders).pooled(found.records if found else [], self.pool, self.layer)
            vectors = read.vectors[read.coverage[:, -1] == 0]
        return Learned(self, Bandwidth(beside, median_distance(*both_rows(vectors[::2], vectors[1::2]))))

    def open(self, encoders: Encoders, known: RealSide) -> PreparedDistribution[BoundedSample]:
        if isinstance(known, Bandwidth):
            return PreparedMmd(self, known, self.asked_of(encoders))
        return super().open(encoders, known)

    def rate(self, nearer: float) -> float:
        """Its spread; the mean is 0 at any size."""
        return 1.0

    def pack(self, measures: PairedRows) -> dict[str, NDArray[Any]]:
        known = {} if self.bandwidth is None else {"sigma": np.array(self.bandwidth)}
        return {**super().pack(measures), **known}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return replace(self, bandwidth=float(arrays["sigma"])) if self.learns else self

    def sides(self, rows: PairedRows) -> tuple[BoundedSample, BoundedSample]:
        return draw(rows, LIMIT)

    def total(self, sides: Sequence[BoundedSample]) -> BoundedSample:
        return total(sides)

    def bounded(self, summaries: Sequence[PairedSummary[BoundedSample]]) -> list[PairedSummary[BoundedSample]]:
        return bounded_together(summaries)

    def recombine(self, summaries: Sequence[PairedSummary[BoundedSample]], plans: Sequence[Plan]) -> Iterator[Values]:
        """Kernel values are summed once, block by block of two summaries' sides; each plan adds up blocks."""
        kept = self.bounded(summaries)
        sides = [*(summary.real for summary in kept), *(summary.generated for summary in kept)]
        sums = block_sums([(side.rows, side.units) for side in sides], self.kernel, self.bandwidth)
        for plan in plans:
            to = plan.T.ravel()
            one, other = (to == TO_REAL).astype(np.float64), (to == TO_GENERATED).astype(np.float64)
            real, generated, between = (_mean(sums, *both) for both in ((one, one), (other, other), (one, other)))
            value = real + generated - 2 * between
            yield {"": 0.0 if abs(value) <= EXACT * (abs(real) + abs(generated)) else value}

    def conclude(self, summary: PairedSummary[BoundedSample]) -> Values:
        (values,) = self.recombine([summary], [np.array([[TO_REAL, TO_GENERATED]], dtype=np.int8)])
        return values

    def caveats(self, summary: PairedSummary[BoundedSample]) -> list[Caveat]:
        return bounded_caveats(self.label, summary)


@dataclass(frozen=True)
class PreparedMmd(PreparedDistribution[BoundedSample]):
    """With a bandwidth that comes from the vectors."""

    asked: Mmd
    known: Bandwidth

    @property
    def metric(self) -> Mmd:
        return replace(self.asked, bandwidth=self.known.sigma)

    def recipe(self) -> dict[str, str]:
        return {**super().recipe(), "sigma": f"{self.known.sigma:.6g}"}


def _mean(sums: BlockSums, left: Floats, right: Floats) -> float:
    """Of kernel values over pairs of different vectors; NaN without pairs."""
    pairs = float(left @ sums.pairs @ right)
    return float(left @ sums.values @ right) / pairs if pairs else float("nan")
