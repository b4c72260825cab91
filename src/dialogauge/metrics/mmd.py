"""The maximum mean discrepancy between generated and real (context, response) pairs, without bias from their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import HIDDEN, Floats
from dialogauge.metrics.distribution import OUT, TO_GENERATED, TO_REAL, DistributionMetric, Plan
from dialogauge.metrics.drawn import Drawn, draw_sides, total
from dialogauge.metrics.kernels import BlockSums, Kernel, block_sums, kernel_matrix, median_distance
from dialogauge.metrics.sides import SideRows, Sides, repeated

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

LIMIT = 2000
"""The most vectors of a side that are compared with all others."""


class KernelMeans(NamedTuple):
    """Means of kernel values over pairs of different vectors, within each side and between them; NaN without pairs."""

    n: int
    real: float
    generated: float
    between: float


@dataclass(frozen=True)
class Mmd(DistributionMetric):
    """`kernels.mmd` of the two sides, without the pairs that share a context. Its mean over samples is the distance of
    the populations, so that it can fall below 0 and samples of any size compare. NaN with fewer than two vectors on a
    side. The bandwidth of the Gaussian kernel is by default the median distance between real vectors."""

    name = "mmd"
    title = "distance of (context, response) pairs from real ones, by a kernel, unbiased"
    higher_is_better = False
    bounds = (-np.inf, np.inf)
    rate: ClassVar[float | None] = 1.0
    limit: ClassVar[int | None] = LIMIT

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
        if self.bandwidth is not None and (self.kernel == "polynomial" or not self.bandwidth > 0):
            raise InputError(f"mmd: a bandwidth above 0 goes with kernel=gaussian; found {self.label}")
        ready = super().prepare(corpus, real, encoders)
        if not self.learns:
            return ready
        if ready.real is not None:
            vectors = ready.real.vectors
        else:
            texts = {self.text(turn, text) for turn in corpus for text in ready.references(turn)}
            vectors = ready.encode(sorted(texts)).vectors
        drawn = Drawn.of(vectors, LIMIT).rows
        return replace(ready, found=median_distance(drawn, drawn[:0]))

    def side(self, vectors: NDArray[Any]) -> Drawn:
        return Drawn.of(vectors, LIMIT)

    def summarise(self, measures: SideRows, weights: Floats | None = None) -> Sides[Drawn]:
        return draw_sides(repeated(measures, weights), LIMIT)

    def total(self, sides: Sequence[Drawn]) -> Drawn:
        return total(sides)

    def leave_one_out(self, summaries: Sequence[Sides[Drawn]]) -> Iterator[KernelMeans]:
        plans = np.tile(np.array([TO_REAL, TO_GENERATED], dtype=np.int8), (len(summaries), len(summaries), 1))
        plans[np.arange(len(summaries)), np.arange(len(summaries))] = OUT
        return self.recombine(summaries, list(plans))

    def recombine(self, summaries: Sequence[Sides[Drawn]], plans: Sequence[Plan]) -> Iterator[KernelMeans]:
        """Kernel values are summed once, block by block of two summaries' sides; each plan adds up blocks."""
        real, generated = _kept([of.real for of in summaries]), _kept([of.generated for of in summaries])
        sums = block_sums(real, generated, self.kernel, self.sigma)
        sizes = np.array([len(rows) for rows, _ in (*real, *generated)])
        for plan in plans:
            to = plan.T.ravel()
            one, other = (to == TO_REAL).astype(np.float64), (to == TO_GENERATED).astype(np.float64)
            means = [_mean(sums, *sides) for sides in ((one, one), (other, other), (one, other))]
            yield KernelMeans(int(sizes @ other), *means)

    def split(self, rows: SideRows, chosen: Sequence[NDArray[np.bool_]]) -> Iterator[KernelMeans]:
        """Kernel values are made once, for all pairs; each split adds up some of them."""
        values = kernel_matrix(rows.real_vectors, self.kernel, self.sigma)
        for mask in chosen:
            one, other = (~mask).astype(np.float64), mask.astype(np.float64)
            n, m = float(one.sum()), float(other.sum())
            sums = [float(left @ values @ right) for left, right in ((one, one), (other, other), (one, other))]
            pairs = (n * (n - 1), m * (m - 1), n * m)
            means = [total / count if count else float("nan") for total, count in zip(sums, pairs, strict=True)]
            yield KernelMeans(int(m), *means)

    def conclude(self, summary: Sides[Drawn] | KernelMeans, real: Any = None) -> dict[str, float]:
        if isinstance(summary, Sides):
            (summary,) = self.recombine([summary], [np.array([[TO_REAL, TO_GENERATED]], dtype=np.int8)])
        return {"": summary.real + summary.generated - 2 * summary.between}

    def caveats(self, summary: Sides[Drawn]) -> list[Caveat]:
        return [*super().caveats(summary), *bounded_caveat(self.label, summary, LIMIT)]

    def recipe(self) -> dict[str, str]:
        found = {} if self.found is None else {"sigma": f"{self.found:.6g}"}
        return {**super().recipe(), **found}


def bounded_caveat(label: str, summary: Sides[Drawn], limit: int) -> list[Caveat]:
    """Says that not all vectors were compared, where there were too many of them."""
    if max(summary.real.n, summary.generated.n) <= limit:
        return []
    return [
        Caveat("bounded_sample", f"{label}: of each system's vectors at most {limit} a side count, drawn by chance")
    ]


def _kept(draws: Sequence[Drawn]) -> list[tuple[NDArray[Any], NDArray[np.uint64]]]:
    """Rows and keys of those that the sum of these keeps."""
    keys, limit = np.concatenate([of.keys for of in draws]), draws[0].limit
    last = None if len(keys) <= limit else np.partition(keys, limit - 1)[limit - 1]
    return [(of.rows, of.keys) for of in (draw.up_to(last) for draw in draws)]


def _mean(sums: BlockSums, left: Floats, right: Floats) -> float:
    pairs = float(left @ sums.pairs @ right)
    return float(left @ sums.values @ right) / pairs if pairs else float("nan")
