"""The maximum mean discrepancy between generated and real (context, response) pairs, without bias from their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Text
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.metrics.base import Floats, Learned, Values
from dialogauge.metrics.bounded_sample import (
    BoundedSample,
    SmallestKeys,
    bounded_caveats,
    bounded_together,
    draw,
    random_key,
    total,
)
from dialogauge.metrics.distance.distribution import (
    TO_GENERATED,
    TO_REAL,
    DistributionMetric,
    Plan,
    PreparedDistribution,
    RealSide,
)
from dialogauge.metrics.distance.paired_rows import PairedRows, PairedSummary
from dialogauge.stats.arrays import blocks, both_rows, centred_rows, distance_blocks, rounding

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

Kernel = Literal["polynomial", "gaussian"]
MEDIAN_ROWS = 2000
"""From how many rows of a side at most the median distance is taken: all pairs are then at most 8 million."""


def mmd(
    x: Floats, y: Floats, kernel: Kernel = "polynomial", bandwidth: float | None = None, *, paired: bool = False
) -> float:
    """Mean k(x, x') + mean k(y, y') - 2 mean k(x, y), the first two over pairs of different rows: the unbiased estimate
    of Gretton et al. (2012, eq. 3), whose mean over samples is 0 for equal distributions, so that it can fall below 0.

    `polynomial`: (x·y / d + 1)³ on d dimensions, as in KID (Bińkowski et al. 2018), over all rows rather than subsets.
    `gaussian`: exp(-‖x - y‖² / 2σ²) with σ = `bandwidth`, by default `median_distance(x, y)`. Sizes may differ. NaN
    with fewer than two rows on a side. Kernel values are made block by block and never kept.

    `paired`: row i of x and row i of y belong together (they share a context), and their kernel value is left out of
    the third mean too; without that, what they share would pull the estimate below 0.
    """
    if kernel == "polynomial":
        if bandwidth is not None:
            raise InputError(f"the polynomial kernel has no bandwidth; found {bandwidth}")
        x, y = both_rows(x, y)
    elif kernel == "gaussian":
        x, y = centred_rows(x, y)
    else:
        raise unknown("kernel", kernel, ("polynomial", "gaussian"))
    if min(len(x), len(y)) < 2:
        return float("nan")
    if kernel == "gaussian":
        bandwidth = median_distance(x, y) if bandwidth is None else bandwidth
        if not bandwidth > 0:
            raise InputError(f"the bandwidth is {bandwidth}; it must be above 0")
    if paired and len(x) != len(y):
        raise InputError(f"paired rows are as many on both sides; found {len(x)} and {len(y)}")
    n, m = len(x), len(y)
    of_x, of_y = (_total(side, side, kernel, bandwidth, True) for side in (x, y))
    within = of_x / (n * (n - 1)) + of_y / (m * (m - 1))
    return within - 2 * _total(x, y, kernel, bandwidth, paired) / (n * m - (n if paired else 0))


class BlockSums(NamedTuple):
    """At (i, j) the sum of kernel values over pairs of a row of piece i and one of piece j, and the number of pairs."""

    values: Floats
    pairs: Floats


def block_sums(
    pieces: Sequence[tuple[NDArray[Any], NDArray[np.uint64]]], kernel: Kernel, bandwidth: float | None = None
) -> BlockSums:
    """Over pieces given as rows and the unit of each row. Rows of one unit are not paired: they depend on each other,
    and what they share is no likeness of their sides. The mmd of any two unions of pieces is a matter of adding up."""
    sizes = np.array([len(rows) for rows, _ in pieces])
    filled = np.flatnonzero(sizes)
    starts = np.cumsum(sizes[filled]) - sizes[filled]
    owner = np.repeat(np.arange(len(pieces)), sizes)
    rows = np.concatenate([rows for rows, _ in pieces])
    rows = centred_rows(rows, rows)[0] if kernel == "gaussian" else both_rows(rows, rows)[0]
    units = np.concatenate([units for _, units in pieces])
    values, pairs = np.zeros((2, len(pieces), len(pieces)))
    for block, of_block in _kernel_blocks(rows, rows, kernel, bandwidth):
        apart = units[block, None] != units
        of_block *= apart
        for sums, parts in ((values, of_block), (pairs, apart.astype(np.float64))):
            columns = np.zeros((len(of_block), len(pieces)))
            columns[:, filled] = np.add.reduceat(parts, starts, axis=1)
            np.add.at(sums, owner[block], columns)
    return BlockSums(values, pairs)


def median_distance(x: Floats, y: Floats) -> float:
    """The median distance between rows of the union that differ, 1.0 where none do (any bandwidth then gives the same
    kernel). Beyond `MEDIAN_ROWS` rows of a side, of that many drawn with a fixed seed."""
    x, y = centred_rows(x, y)
    rng = np.random.default_rng(0)
    drawn = [
        rows if len(rows) <= MEDIAN_ROWS else rows[rng.choice(len(rows), MEDIAN_ROWS, replace=False)] for rows in (x, y)
    ]
    union = np.concatenate(drawn)
    slack = rounding(union, union)
    squares = []
    for rows, distances in distance_blocks(union, union):
        later = np.arange(len(union)) > np.arange(rows.start, rows.stop)[:, None]
        squares.append(distances[later & (distances > slack)])
    apart = np.concatenate(squares) if squares else np.empty(0)
    return float(np.median(np.sqrt(apart))) if len(apart) else 1.0


def _total(x: Floats, y: Floats, kernel: Kernel, bandwidth: float | None, same: bool) -> float:
    """The sum of kernel values over pairs of rows; where x and y are the `same`, not of row i with row i."""
    total = 0.0
    for rows, values in _kernel_blocks(x, y, kernel, bandwidth):
        if same:
            values[np.arange(len(values)), np.arange(rows.start, rows.stop)] = 0
        total += float(values.sum())
    return total


def _kernel_blocks(x: Floats, y: Floats, kernel: Kernel, bandwidth: float | None) -> Iterator[tuple[slice, Floats]]:
    """Kernel values of a few rows of x at a time with all rows of y."""
    if kernel == "gaussian":
        for rows, values in distance_blocks(x, y):
            np.maximum(values, 0, out=values)
            values *= -0.5 / (np.nan if bandwidth is None else bandwidth) ** 2
            yield rows, np.exp(values, out=values)
        return
    for rows in blocks(len(x), len(y)):
        values = x[rows] @ y.T
        values /= x.shape[1]
        values += 1
        values *= values * values
        yield rows, values


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
    """`mmd` of the two sides, without pairs of one dialogue or context. Its mean over samples is the distance
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
        self, surveyed: SmallestKeys[Text] | None, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[PairedRows, PairedSummary[BoundedSample]]:
        beside = self.encode_real(real, encoders)
        if not self.learns:
            return Learned(self, RealSide(beside))
        if beside is not None:
            vectors: NDArray[Any] = beside.vectors[beside.legible]
        else:
            read = self.asked_of(encoders).pooled(surveyed.records if surveyed else [], self.pool, self.layer)
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
