"""A bounded draw of vectors that adds: the same vectors come out in whatever order and parts they come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.sides import NONE, SideRows, Sides


@dataclass(frozen=True)
class Drawn:
    """Of all vectors those with the smallest keys, which are hashes of the row they come from and so as good as drawn
    by chance. The real and the generated vector of a row have one key and are drawn together. Equal rows have equal
    keys and count each time."""

    n: int
    """How many vectors there were."""
    limit: int
    keys: NDArray[np.uint64]
    rows: NDArray[Any]

    @classmethod
    def of(cls, vectors: NDArray[Any], limit: int, keys: NDArray[np.uint64] | None = None) -> Drawn:
        """With the hash of each vector as its key, unless others are given."""
        keys = hashes(vector.tobytes() for vector in vectors) if keys is None else keys
        return cls(len(vectors), limit, *_smallest(keys, vectors, limit))

    def __add__(self, other: Drawn) -> Drawn:
        return total([self, other])

    def up_to(self, key: np.uint64 | None) -> Drawn:
        """Those with no larger key; all where there is none."""
        if key is None:
            return self
        kept = self.keys <= key
        return replace(self, keys=self.keys[kept], rows=self.rows[kept])


def total(draws: Sequence[Drawn]) -> Drawn:
    """The sum of one or more."""
    keys, rows = (np.concatenate(parts) for parts in zip(*((of.keys, of.rows) for of in draws), strict=True))
    return Drawn(sum(of.n for of in draws), draws[0].limit, *_smallest(keys, rows, draws[0].limit))


def draw_sides(rows: SideRows, limit: int) -> Sides[Drawn]:
    """Both sides of rows, under keys of whole rows."""
    counts, has = rows.last - rows.first, rows.place != NONE
    real, generated = rows.real_vectors, rows.generated_vectors
    keys = _row_keys(rows)
    return Sides(
        n=len(generated),
        cut=int(rows.cut[has].sum()),
        real=Drawn.of(real, limit, np.repeat(keys, counts)),
        generated=Drawn.of(generated, limit, keys[has]),
    )


def _row_keys(rows: SideRows) -> NDArray[np.uint64]:
    return hashes(
        rows.real[first:last].tobytes() + (rows.generated[place].tobytes() if place != NONE else b"")
        for first, last, place in zip(rows.first, rows.last, rows.place, strict=True)
    )


def hashes(texts: Iterable[bytes]) -> NDArray[np.uint64]:
    """64 bits for each, the same in every process."""
    return np.frombuffer(b"".join(blake2b(text, digest_size=8).digest() for text in texts), dtype=np.uint64)


def _smallest(keys: NDArray[np.uint64], rows: NDArray[Any], limit: int) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    if len(keys) <= limit:
        return keys, rows
    kept = np.sort(np.argsort(keys, kind="stable")[:limit])
    return keys[kept], rows[kept]
