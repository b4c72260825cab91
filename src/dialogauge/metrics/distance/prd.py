"""The Precision-Recall Distance (Sajjadi et al. 2018; Xiang et al. 2021): how far generated (context, response) pairs
fall into the same regions of an encoder's space as real ones, and in the same shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, check_seed, check_whole, unknown
from dialogauge.metrics.base import Floats, Learned, Values
from dialogauge.metrics.bounded_sample import BySystem, SmallestKeys, random_key
from dialogauge.metrics.distance.codebooks import FIT_ROWS, Fit, assign, codebooks, histograms, prd_of_histograms
from dialogauge.metrics.distance.distribution import (
    TO_GENERATED,
    TO_REAL,
    DistributionMetric,
    Plan,
    PreparedDistribution,
    RealSide,
)
from dialogauge.metrics.distance.paired_rows import PairedRows, PairedSummary, flattened

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

MOST_CENTRES = 100_000
"""Of all runs together; they are held at once for each system."""


@dataclass(frozen=True)
class Histograms:
    """How many vectors there are, and how many of them each code has under each clustering: (runs, clusters)."""

    n: int
    counts: Floats

    @property
    def kept(self) -> int:
        return self.n

    def empty(self) -> Histograms:
        return Histograms(0, np.zeros_like(self.counts))

    def __add__(self, other: Histograms) -> Histograms:
        return Histograms(self.n + other.n, self.counts + other.counts)


@dataclass(frozen=True)
class Codebooks(RealSide):
    """The centres for each system, under each clustering."""

    books: dict[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Prd(DistributionMetric[Histograms]):
    """The largest F1 of the precision-recall curve, averaged over clusterings of the real and this system's vectors.
    Measures are codes; the codebooks are found once, and resampling counts codes anew. NaN where a side is empty."""

    name = "prd"
    title = "overlap of (context, response) pairs with real ones, over clusters of vectors (F1)"
    citations: ClassVar[tuple[str, ...]] = ("sajjadi2018assessing", "xiang2021assessing")
    higher_is_better = True
    bounds = (0.0, 1.0)
    parts: ClassVar[tuple[str, ...]] = ("f8", "f1_8", "spread")
    main = "f1"
    ideal: ClassVar[float] = 1.0
    fit: ClassVar[Fit] = staticmethod(partial(codebooks, in_order=True))

    clusters: int = 20
    runs: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(f"{self.name}: runs", self.runs, 1, 1000)
        check_whole(f"{self.name}: clusters", self.clusters, 1, 10_000)
        check_whole(f"{self.name}: clusters of all runs", self.clusters * self.runs, 1, MOST_CENTRES)
        check_seed(self.seed)

    @property
    def learns(self) -> bool:
        return True

    @property
    def judged(self) -> tuple[str, ...]:
        return ("", "f8", "f1_8")

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> BySystem[Turn]:
        """Of each system no more turns than codebooks are fitted on, by what they say alone: an id may be no more than
        a place in the file."""
        keyed: dict[str, list[tuple[bytes, Turn]]] = {}
        for turn in turns:
            own = keyed.setdefault(turn.system, [])
            if self.usable_beside(turn, beside_real):
                references = () if beside_real else self.references(turn)
                own.append((random_key((self.seed, turn.context, turn.response, references)), turn))
        return BySystem({system: SmallestKeys.choose(FIT_ROWS, own) for system, own in keyed.items()})

    def learn(
        self, surveyed: BySystem[Turn], encoders: Encoders, real: Corpus | None = None
    ) -> Learned[PairedRows, PairedSummary[Histograms]]:
        vectors = super().open(encoders, RealSide(self.encode_real(real, encoders)))
        return Learned(self, Codebooks(vectors.known.real, self.books(surveyed, vectors)))

    def books(self, surveyed: BySystem[Turn], vectors: PreparedDistribution[Histograms]) -> dict[str, Floats]:
        """The centres for each system, in the order of their names: what is encoded together does not depend on which
        stands first in a file."""
        return {system: self._book(sample.records, vectors) for system, sample in sorted(surveyed.samples.items())}

    def _book(self, turns: Sequence[Turn], vectors: PreparedDistribution[Histograms]) -> Floats:
        rows = vectors.measure(turns)
        rows = rows[np.flatnonzero(self.defined(rows))]
        real: NDArray[Any] = rows.real_vectors
        if (beside := vectors.known.real) is not None:
            real = beside.vectors[beside.order[beside.legible[beside.order]]]
        if not len(real) or not len(rows):
            return np.zeros((self.runs, self.clusters, 0))
        return type(self).fit(real, rows.generated_vectors, self.clusters, self.runs, self.seed)

    def open(self, encoders: Encoders, known: RealSide) -> PreparedDistribution[Histograms]:
        if not isinstance(known, Codebooks):
            raise TypeError(f"{self.name} is opened with codebooks, found {known!r}")
        return PreparedPrd(self, known, self.asked_of(encoders))

    def direction(self, part: str) -> bool | None:
        return None if part == "spread" else self.higher_is_better

    def rate(self, nearer: float) -> float:
        """The shares of n vectors are off by 1/√n."""
        return 0.5

    def sides(self, rows: PairedRows) -> tuple[Histograms, Histograms]:
        return self._histograms(rows.real_vectors), self._histograms(rows.generated_vectors)

    def _histograms(self, codes: NDArray[np.int32]) -> Histograms:
        return Histograms(len(codes), histograms(codes.T.astype(np.intp), self.clusters))

    def recombine(self, summaries: Sequence[PairedSummary[Histograms]], plans: Sequence[Plan]) -> Iterator[Values]:
        sides = flattened(summaries)
        sizes, counts = np.array([side.n for side in sides]), np.stack([side.counts for side in sides])
        for plan in plans:
            real, generated = (
                Histograms(int(sizes @ chosen), np.tensordot(chosen.astype(np.float64), counts, 1))
                for chosen in (plan.ravel() == TO_REAL, plan.ravel() == TO_GENERATED)
            )
            yield self.conclude(PairedSummary(generated.n, 0, real, generated))

    def curve(self, summary: PairedSummary[Histograms]) -> tuple[Floats, Floats]:
        """Precision and recall at 1001 angles, averaged over clusterings."""
        found = prd_of_histograms(summary.real.counts, summary.generated.counts)
        return found.precision, found.recall

    def conclude(self, summary: PairedSummary[Histograms]) -> Values:
        if not summary.real.n or not summary.generated.n:
            return dict.fromkeys(("", *self.parts), np.nan)
        found = prd_of_histograms(summary.real.counts, summary.generated.counts)
        spread = float(found.run_f1.std(ddof=1)) if self.runs > 1 else np.nan
        return {"": found.f1, "f8": found.f8, "f1_8": found.f1_8, "spread": spread}

    def caveats_of_systems(
        self, summaries: Mapping[str, PairedSummary[Histograms]], units: Mapping[str, int]
    ) -> list[Caveat]:
        fewest = min(min(summary.real.n, summary.generated.n) for summary in summaries.values())
        caveats = []
        if fewest < self.clusters:
            message = (
                f"{self.label}: {fewest} vectors on a side for {self.clusters} clusters: most codes are of one vector"
            )
            caveats.append(Caveat("few_vectors", message))
        apart = [name for name, summary in summaries.items() if summary.real.n != summary.generated.n]
        if not apart:
            return caveats
        sides = summaries[apart[0]]
        message = (
            f"{self.label}: {sides.generated.n} generated vectors of {apart[0]} against {sides.real.n} real ones; both "
            "sides weigh the same in the clustering, and the smaller one leaves codes empty by chance, which lowers "
            "the score"
        )
        return [*caveats, Caveat("unequal_sides", message)]


@dataclass(frozen=True)
class PreparedPrd(PreparedDistribution[Histograms]):
    """Rows hold codes in place of vectors."""

    asked: Prd
    known: Codebooks

    def introduced(self, turns: Sequence[Turn]) -> Self:
        strangers = [turn for turn in turns if turn.system not in self.known.books]
        if not strangers:
            return self
        vectors = PreparedDistribution(self.asked, self.known, self.encoder)
        books = self.asked.books(self.asked.survey(strangers, self.known.real is not None), vectors)
        return replace(self, known=replace(self.known, books=self.known.books | books))

    def measure(self, turns: Sequence[Turn]) -> PairedRows:
        rows = super().measure(turns)
        real = np.empty((len(rows.real), self.asked.runs), dtype=np.int32)
        generated = np.empty((len(rows.generated), self.asked.runs), dtype=np.int32)
        for system in dict.fromkeys(turn.system for turn in turns):
            mine = np.array([turn.system == system for turn in turns])
            of_real = np.repeat(mine, rows.last - rows.first)
            real[of_real] = self._codes(rows.real[of_real], system)
            generated[mine] = self._codes(rows.generated[mine], system)
        return replace(rows, real=real, generated=generated)

    def _codes(self, vectors: NDArray[Any], system: str) -> NDArray[np.int32]:
        if system not in self.known.books:
            raise unknown(f"system that {self.asked.label} has a codebook for", system, self.known.books)
        book = self.known.books[system]
        if not len(vectors) or not book.size:  # without a legible text on one side there is no book
            return np.zeros((len(vectors), self.asked.runs), dtype=np.int32)
        return assign(vectors, book).T.astype(np.int32)

    def real_rows(self, system: str) -> PairedRows | None:
        rows = super().real_rows(system)
        if rows is None:
            return None
        return replace(rows, real=self._codes(rows.real, system), generated=self._codes(rows.generated, system))
