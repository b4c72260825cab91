"""How many pairs of a label, and from which source, so that the shares come out."""

from __future__ import annotations

import math
from collections.abc import Mapping


class Counter:
    """Whole numbers whose mean is a rate: what is rounded off is carried on, so that the sum is never wrong by more
    than a half."""

    def __init__(self, rate: float) -> None:
        self._rate, self._made, self._slots = rate, 0, 0

    def next(self) -> int:
        self._slots += 1
        number = math.floor(self._slots * self._rate + 0.5) - self._made
        self._made += number
        return number


class Mixer:
    """Sources by their shares, of which the last takes what is left. A source that cannot give a pair where it is
    asked is asked again, until its share is made up for."""

    def __init__(self, shares: Mapping[str, float], rest: str) -> None:
        self._shares = {source: share for source, share in shares.items() if share > 0}
        left = 1 - sum(self._shares.values())
        self._rest = rest
        self._shares[rest] = max(left, 0.0)
        self._owed = dict.fromkeys(self._shares, 0.0)

    def order(self) -> list[str]:
        """The sources for one pair, the one that is owed most first; what fills in for all others is among them."""
        for source, share in self._shares.items():
            self._owed[source] += share
        return sorted(self._owed, key=lambda source: -self._owed[source])

    def took(self, source: str) -> None:
        self._owed[source] -= 1
