"""Sets of hashes that add, and theta sketches of them where they are too large: the ids below a threshold, which are as
good as drawn by chance (Dasgupta et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint64]
ALL = 2**64
"""Every id is below it."""


@dataclass(frozen=True)
class IdSketch:
    """Of different ids those below a threshold. What is held of two parts adds, in any order, to what is held of the
    whole: ids below the smaller threshold."""

    ids: Ids
    """Sorted, each once."""
    below: int = ALL

    def __add__(self, other: IdSketch) -> IdSketch:
        below = min(self.below, other.below)
        return IdSketch(unique(np.concatenate([self.under(below).ids, other.under(below).ids])), below)

    def under(self, below: int) -> IdSketch:
        """Without the ids from there on."""
        if below >= self.below:
            return self
        return IdSketch(self.ids[: np.searchsorted(self.ids, np.uint64(below))], below)

    @property
    def share(self) -> float:
        """Of all ids that are held."""
        return self.below / ALL

    @property
    def count(self) -> float:
        """How many ids there are: a whole number unless this is a sketch, whose number is unbiased."""
        return len(self.ids) if self.below == ALL else len(self.ids) / self.share

    @property
    def variance(self) -> float:
        """Of that number, over hash functions: each id is held or not by itself."""
        return variance(len(self.ids), self.share)


def variance(held: float, share: float) -> float:
    """Of the number of ids that so many stand for, each held with the probability `share`: an unbiased estimate."""
    return held * (1 - share) / share**2


def unique(ids: Ids) -> Ids:
    """Sorted, each once. (NumPy's own `unique` hashes, which is slow for millions of ids.)"""
    ids = np.sort(ids)
    return ids[np.concatenate(([True], ids[1:] != ids[:-1]))] if len(ids) else ids


def threshold(sets: Sequence[Ids], below: int, most: int) -> int:
    """The largest up to `below` under which the sets have no more ids than `most`, those of each set counted.

    It is found from the union of parts alone, whatever was left of each part before, since it can only fall as sets
    grow; and no id that is held has a say in it, so that what is held stays a random draw (Ting 2022).
    """
    if sum(map(len, sets)) <= most:
        return below
    return int(np.partition(np.concatenate(sets), most)[most])


def at_one_threshold(sketches: Sequence[IdSketch], most: int | None = None) -> list[IdSketch]:
    """All under the smallest of their thresholds, or under one with which they hold no more than so many ids."""
    below = min((sketch.below for sketch in sketches), default=ALL)
    cut = [sketch.under(below) for sketch in sketches]
    if most is None:
        return cut
    below = threshold([sketch.ids for sketch in cut], below, most)
    return [sketch.under(below) for sketch in cut]


def once(groups: Sequence[Ids]) -> tuple[int, NDArray[np.int64]]:
    """How many different ids there are, and for each group how many of its ids no other group has. A group has each
    of its ids once."""
    ids = np.concatenate(groups)
    if not len(ids):
        return 0, np.zeros(len(groups), dtype=np.int64)
    group = np.repeat(np.arange(len(groups)), [len(part) for part in groups])
    order = np.argsort(ids)
    ids = ids[order]
    differs = np.concatenate(([True], ids[1:] != ids[:-1], [True]))
    alone = np.bincount(group[order][differs[1:] & differs[:-1]], minlength=len(groups))
    return int(np.count_nonzero(differs[:-1])), alone
