"""Bounded samples that add, by the smallest hashes: of what a corpus teaches metrics, and of the vectors they compare.
The same come out in whatever order and parts they come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import itemgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import Caveat
from dialogauge.metrics.distance.paired_rows import NONE, PairedRows, PairedSummary

Record = TypeVar("Record")
Keys = NDArray[np.uint64]


def random_key(value: Any) -> bytes:
    """A hash, as good as drawn by chance, and the same in any order and process."""
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass(frozen=True)
class SmallestKeys(Generic[Record]):
    """The records with the smallest keys, as many as the limit says. Where keys are hashes, that is a random sample.
    Those of two parts add, in any order, to those of the whole."""

    limit: int
    keyed: tuple[tuple[bytes, Record], ...]
    """By key."""
    distinct: bool = False
    """Whether equal records count once."""

    @classmethod
    def choose(cls, limit: int, keyed: Iterable[tuple[bytes, Record]], distinct: bool = False) -> SmallestKeys[Record]:
        records = dict.fromkeys(keyed) if distinct else keyed
        return cls(limit, tuple(sorted(records, key=itemgetter(0))[:limit]), distinct)

    @property
    def records(self) -> list[Record]:
        return [record for _, record in self.keyed]

    def __add__(self, other: SmallestKeys[Record]) -> SmallestKeys[Record]:
        return self.choose(self.limit, (*self.keyed, *other.keyed), self.distinct)


@dataclass(frozen=True)
class BySystem(Generic[Record]):
    """A sample of each system."""

    samples: dict[str, SmallestKeys[Record]]

    def __add__(self, other: BySystem[Record]) -> BySystem[Record]:
        whole = dict(self.samples)
        for system, sample in other.samples.items():
            whole[system] = whole[system] + sample if system in whole else sample
        return BySystem(whole)


@dataclass(frozen=True)
class BoundedSample:
    """Of all vectors those with the smallest keys, which are hashes of the row they come from and so as good as drawn
    by chance. The vectors of a row have one key and are drawn together, so that there can be a few more than the
    limit. Equal rows of one unit have equal keys and count each time."""

    n: int
    """How many vectors there were."""
    limit: int
    keys: Keys
    rows: NDArray[Any]
    units: Keys
    """The dialogue or context that each vector belongs to."""

    @property
    def kept(self) -> int:
        return len(self.keys)

    def empty(self) -> BoundedSample:
        return BoundedSample(0, self.limit, self.keys[:0], self.rows[:0], self.units[:0])

    def __add__(self, other: BoundedSample) -> BoundedSample:
        return total([self, other])

    def up_to(self, key: np.uint64 | None) -> BoundedSample:
        """Those with no larger key; all where there is none."""
        return self if key is None else self._only(np.flatnonzero(self.keys <= key))

    def bounded(self) -> BoundedSample:
        """As many as the limit says, and those that share a key with the last of them."""
        return self.up_to(_last(self.keys, self.limit))

    def _only(self, places: NDArray[np.int64]) -> BoundedSample:
        return BoundedSample(self.n, self.limit, self.keys[places], self.rows[places], self.units[places])


def draw(rows: PairedRows, limit: int) -> tuple[BoundedSample, BoundedSample]:
    """Of the real and of the generated vectors of rows."""
    keys, counts, has = _row_keys(rows), rows.counts, rows.place != NONE
    real, generated = rows.real_vectors, rows.generated_vectors
    return (
        BoundedSample(len(real), limit, np.repeat(keys, counts), real, np.repeat(rows.unit, counts)).bounded(),
        BoundedSample(len(generated), limit, keys[has], generated, rows.unit[has]).bounded(),
    )


def total(samples: Sequence[BoundedSample]) -> BoundedSample:
    """The sum of one or more."""
    keys, rows, units = (
        np.concatenate(parts)
        for parts in zip(*((sample.keys, sample.rows, sample.units) for sample in samples), strict=True)
    )
    return BoundedSample(sum(sample.n for sample in samples), samples[0].limit, keys, rows, units).bounded()


def bounded_together(summaries: Sequence[PairedSummary[BoundedSample]]) -> list[PairedSummary[BoundedSample]]:
    """Each without what their sum does not keep."""
    real, generated = (
        _last(np.concatenate([side.keys for side in sides]), sides[0].limit)
        for sides in ([summary.real for summary in summaries], [summary.generated for summary in summaries])
    )
    return [
        replace(summary, real=summary.real.up_to(real), generated=summary.generated.up_to(generated))
        for summary in summaries
    ]


def _last(keys: Keys, limit: int) -> np.uint64 | None:
    """The largest key that is kept; None where all are."""
    return None if len(keys) <= limit else np.partition(keys, limit - 1)[limit - 1]


def bounded_caveats(label: str, summary: PairedSummary[BoundedSample]) -> list[Caveat]:
    """Says that not all vectors were compared, where there were too many of them."""
    limit = summary.real.limit
    if max(summary.real.n, summary.generated.n) <= limit:
        return []
    return [
        Caveat("bounded_sample", f"{label}: of each system's vectors at most {limit} a side count, drawn by chance")
    ]


def _row_keys(rows: PairedRows) -> Keys:
    """64 bits for each row, the same in every process, and for all systems that answer the same contexts."""
    contents: Iterable[bytes] = (
        unit.tobytes() + (rows.real[first:last] if first < last else rows.generated[place]).tobytes()
        for unit, first, last, place in zip(rows.unit, rows.first, rows.last, rows.place, strict=True)
    )
    return np.frombuffer(b"".join(blake2b(content, digest_size=8).digest() for content in contents), dtype=np.uint64)
