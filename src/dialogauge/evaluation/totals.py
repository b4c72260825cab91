"""Sums of many summaries. Where summaries grow (sets of n-grams), adding them in pairs of like size merges each element
only a logarithmic number of times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any


def add_all(summaries: Sequence[Any]) -> Any:
    """The sum of one or more summaries, added in pairs, then pairs of pairs."""
    while len(summaries) > 1:
        pairs = [reduce(add, summaries[place : place + 2]) for place in range(0, len(summaries), 2)]
        summaries = pairs
    return summaries[0]


class Total:
    """A running sum that adds as a binary counter carries."""

    def __init__(self) -> None:
        self._levels: list[Any] = []

    def add(self, summary: Any) -> None:
        for level, held in enumerate(self._levels):
            if held is None:
                self._levels[level] = summary
                return
            summary = held + summary
            self._levels[level] = None
        self._levels.append(summary)

    def sum(self) -> Any:
        """None where nothing was added."""
        held = [level for level in self._levels if level is not None]
        return reduce(add, held) if held else None
