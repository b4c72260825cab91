"""The maximum mean discrepancy between generated and real (context, response) pairs, without bias from their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import HIDDEN, Floats, Values
from dialogauge.metrics.distribution import TO_GENERATED, TO_REAL, DistributionMetric, Plan, random_key
from dialogauge.metrics.drawn import BoundedSample, bounded_caveats, bounded_together, draw, total
from dialogauge.metrics.kernels import MEDIAN_ROWS, BlockSums, Kernel, block_sums, median_distance
from dialogauge.metrics.neighbours import both_rows
from dialogauge.metrics.sides import PairedRows, PairedSummary

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

EXACT = 1e-13
"""Differences of means below this share of them are rounding."""
LIMIT = 10_000
"""The most vectors of a side that are compared with all others."""


@dataclass(frozen=True)
class Mmd(DistributionMetric):
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
    found: float | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    """The bandwidth, once `prepare` has taken it from the corpus."""

    @property
    def learns(self) -> bool:
        return self.kernel == "gaussian" and self.bandwidth is None

    @property
    def grows(self) -> bool:
        return False

    @property
    def sigma(self) -> float | None:
        return self.found if self.bandwidth is None else self.bandwidth

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        if self.bandwidth is not None and (
            self.kernel == "polynomial" or not (self.bandwidth > 0 and 0 < self.bandwidth**2 < np.inf)
        ):
            raise InputError(f"mmd: a bandwidth above 0 goes with kernel=gaussian; found {self.label}")
        ready = super().prepare(corpus, real, encoders)
        if not self.learns:
            return ready
        if ready.real is not None:
            vectors: NDArray[Any] = ready.real.vectors[ready.real.legible]
        else:
            texts = {self.text(turn, text) for turn in corpus for text in ready.references(turn)}
            found = ready.encode(sorted(texts, key=random_key)[: 2 * MEDIAN_ROWS])
            vectors = found.vectors[found.coverage[:, -1] == 0]
        return replace(ready, found=median_distance(*both_rows(vectors[::2], vectors[1::2])))

    def rate(self, nearer: float) -> float:
        """Its spread; the mean is 0 at any size."""
        return 1.0

    def pack(self, measures: PairedRows) -> dict[str, NDArray[Any]]:
        found = {} if self.found is None else {"sigma": np.array(self.found)}
        return {**super().pack(measures), **found}

    def recall(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        return replace(self, found=float(arrays["sigma"])) if self.learns else self

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
        sums = block_sums([(side.rows, side.units) for side in sides], self.kernel, self.sigma)
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
        return [*super().caveats(summary), *bounded_caveats(self.label, summary)]

    def recipe(self) -> dict[str, str]:
        found = {} if self.found is None else {"sigma": f"{self.found:.6g}"}
        return {**super().recipe(), **found}


def _mean(sums: BlockSums, left: Floats, right: Floats) -> float:
    """Of kernel values over pairs of different vectors; NaN without pairs."""
    pairs = float(left @ sums.pairs @ right)
    return float(left @ sums.values @ right) / pairs if pairs else float("nan")
