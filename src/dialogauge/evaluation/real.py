"""Real conversations given beside a corpus: a bounded number of them, whole dialogues by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import Loading, watched
from dialogauge.corpus.turn import Turn
from dialogauge.corpus.unit import REAL
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.units import Keys, Units

REAL_TURNS = 100_000
"""The most real turns that are kept: their vectors lie in memory."""


def read_real(real: Corpus | Loading, progress: bool, limit: int = REAL_TURNS) -> tuple[Corpus, Keys, list[Caveat]]:
    """The real turns, the key of each one's unit, and what the reader must know about them."""
    turns = iter(real) if isinstance(real, Corpus) else real.turns()
    units = Units(REAL)
    kept, seen = _bounded(watched(turns) if progress else turns, units, limit)
    if not kept:
        raise InputError("expected real conversations, found no turns")
    caveats = list(real.caveats)
    if len(kept) < seen:
        message = f"of {seen} real turns {len(kept)} are used: whole {units.kind}, drawn by chance"
        caveats.append(Caveat("part_of_real", message))
    return Corpus(kept, tuple(real.files)), units.keys(kept), caveats


def _bounded(turns: Iterable[Turn], units: Units, limit: int) -> tuple[list[Turn], int]:
    """Turns of the units with the smallest keys (which are hashes, and so a random draw), as many as fit; and the
    number of all turns. The first unit stays even where it alone is too large."""
    held: dict[int, list[tuple[int, Turn]]] = {}
    largest: list[int] = []
    seen = count = 0
    ceiling = 2**64
    for turn, key in _keyed(turns, units):
        seen += 1
        if key >= ceiling:
            continue
        if key not in held:
            held[key] = []
            heappush(largest, -key)
        held[key].append((seen, turn))
        count += 1
        while count > limit and len(held) > 1:
            ceiling = -heappop(largest)
            count -= len(held.pop(ceiling))
    return [
        turn for _, turn in sorted((item for unit in held.values() for item in unit), key=lambda item: item[0])
    ], seen


def _keyed(turns: Iterable[Turn], units: Units) -> Iterator[tuple[Turn, int]]:
    for turn in turns:
        yield turn, units.key(turn)
