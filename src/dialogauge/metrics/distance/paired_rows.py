"""What is noted of real and generated (context, response) pairs, and sums of it: both sides kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dialogauge.encode.base import fully_covered


class SideSum(Protocol):
    """What is kept of the vectors of a side."""

    @property
    def n(self) -> int:
        """Their number."""

    @property
    def kept(self) -> int:
        """How many of them count."""

    def empty(self) -> Self:
        """The same of no vectors."""

    def __add__(self, other: Any, /) -> Self: ...


Side = TypeVar("Side", bound=SideSum)
NONE = -1
"""In place of a generated vector, for a row that has none."""


@dataclass(frozen=True)
class PairedRows:
    """Row i has the generated vector `generated[place[i]]` (none where that is -1) and the real vectors from
    `real[first[i]]` up to `real[last[i]]`. Rows taken from these share the vectors, which are never copied."""

    real: NDArray[Any]
    generated: NDArray[Any]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    place: NDArray[np.int64]
    unit: NDArray[np.uint64]
    """The dialogue or context that the row belongs to."""
    cut: NDArray[np.bool_]
    """Whether a text of the row was longer than the encoder takes."""
    coverage: NDArray[np.int32]
    """A row of `Coverage` for each."""

    @classmethod
    def from_vectors(
        cls,
        real: NDArray[Any],
        counts: NDArray[np.int64],
        generated: NDArray[Any],
        unit: NDArray[np.uint64],
        cut: NDArray[np.bool_],
        coverage: NDArray[np.int32] | None = None,
    ) -> PairedRows:
        """One row for each count of real vectors, and a generated one for each row, or for none of them."""
        ends = np.cumsum(counts)
        place = np.arange(len(counts)) if len(generated) else np.full(len(counts), NONE)
        known = fully_covered(len(counts)) if coverage is None else coverage
        return cls(real, generated, ends - counts, ends, place, unit, cut, known)

    def __len__(self) -> int:
        return len(self.place)

    def __getitem__(self, index: Any) -> PairedRows:
        return replace(
            self,
            first=self.first[index],
            last=self.last[index],
            place=self.place[index],
            unit=self.unit[index],
            cut=self.cut[index],
            coverage=self.coverage[index],
        )

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of real vectors of each row."""
        return self.last - self.first

    @property
    def real_vectors(self) -> NDArray[Any]:
        """Of all rows, one below the other."""
        counts = self.counts
        before = np.cumsum(counts) - counts
        return np.asarray(self.real[np.repeat(self.first - before, counts) + np.arange(counts.sum())])

    @property
    def generated_vectors(self) -> NDArray[Any]:
        return np.asarray(self.generated[self.place[self.place != NONE]])


def repeated(rows: PairedRows, weights: NDArray[np.float64] | None) -> PairedRows:
    """Each row as often as its weight says."""
    return rows if weights is None else rows[np.repeat(np.arange(len(rows)), weights.astype(np.int64))]


def join_rows(batches: Sequence[PairedRows]) -> PairedRows:
    """One below the other. Where only one of them has vectors of a side, they stay where they are."""
    real, real_starts = _pool([batch.real for batch in batches])
    generated, generated_starts = _pool([batch.generated for batch in batches])
    return PairedRows(
        real,
        generated,
        np.concatenate([batch.first + start for batch, start in zip(batches, real_starts, strict=True)]),
        np.concatenate([batch.last + start for batch, start in zip(batches, real_starts, strict=True)]),
        np.concatenate(
            [
                np.where(batch.place == NONE, NONE, batch.place + start)
                for batch, start in zip(batches, generated_starts, strict=True)
            ]
        ),
        np.concatenate([batch.unit for batch in batches]),
        np.concatenate([batch.cut for batch in batches]),
        np.concatenate([batch.coverage for batch in batches]),
    )


def _pool(pools: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All vectors, and where those of each pool begin."""
    filled = [pool for pool in pools if len(pool)]
    sizes = np.array([len(pool) for pool in pools])
    whole = filled[0] if len(filled) == 1 else np.concatenate(pools)
    return whole, np.cumsum(sizes) - sizes


@dataclass(frozen=True)
class PairedSummary(Generic[Side]):
    """The sum of rows: of each side what the metric keeps of its vectors, which must add."""

    n: int
    """Rows with a generated vector."""
    cut: int
    real: Side
    generated: Side

    def __add__(self, other: PairedSummary[Side]) -> PairedSummary[Side]:
        return PairedSummary(
            self.n + other.n,
            self.cut + other.cut,
            self.real + other.real,
            self.generated + other.generated,
        )


def flattened(summaries: Sequence[PairedSummary[Side]]) -> list[Side]:
    """The real and the generated side of each, in turn."""
    return [side for summary in summaries for side in (summary.real, summary.generated)]
