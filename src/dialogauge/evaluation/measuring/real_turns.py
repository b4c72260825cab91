"""Real conversations given beside a corpus: as many of them as fit, by whole units."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import itemgetter

from dialogauge.corpus.corpus import Corpus, SourceFile, only_users
from dialogauge.corpus.load import Loading, watched
from dialogauge.corpus.turn import REAL, Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.units import Keys, Units
from dialogauge.tables import counted

REAL_TURNS = 100_000
"""The most real turns that are kept: their vectors lie in memory."""


def read_real(real: Corpus | Loading, progress: bool, limit: int = REAL_TURNS) -> tuple[Corpus, Keys, list[Caveat]]:
    """The real turns, the key of each one's unit, and what the reader must know about them. What users of chat logs say
    is context, and no reply to hold a system against."""
    turns = iter(real) if isinstance(real, Corpus) else real.turns()
    held, users = RealTurns(limit), dict[str, int]()
    for turn in watched(turns) if progress else turns:
        if turn.system in real.users:
            users[turn.system] = users.get(turn.system, 0) + 1
        else:
            held.add(turn)
    if users and not held.seen:
        raise only_users(users)
    said = f"--real: {counted(sum(users.values()), 'message')} of users are context only; --role user takes them alone"
    caveats = [Caveat("users_left_out", said)] if users else []
    return of_drawn(held, tuple(real.files), [*real.caveats, *caveats])


def of_drawn(
    held: RealTurns, files: tuple[SourceFile, ...], caveats: list[Caveat]
) -> tuple[Corpus, Keys, list[Caveat]]:
    kept = held.turns
    if not kept:
        raise InputError("expected real conversations, found no turns")
    if len(kept) < held.seen:
        message = f"of {held.seen} real turns {len(kept)} are used: whole {held.units.kind}, drawn by chance"
        caveats.append(Caveat("part_of_real", message))
    return Corpus(kept, files), held.units.keys(kept), caveats


@dataclass
class RealTurns:
    """Of real conversations whole units, as many as fit: those with the smallest keys, which are hashes, and so a
    random draw. The first unit stays even where it alone is too large. What is held of two parts adds, in any order,
    to what is held of the whole."""

    limit: int = REAL_TURNS
    part: int = 0
    """Which part this is, by which the order of turns is found again."""
    seen: int = 0
    units: Units = field(default_factory=lambda: Units(REAL))
    held: dict[int, list[tuple[int, int, Turn]]] = field(default_factory=dict)
    """By unit, each turn after its part and its number there."""
    count: int = 0
    ceiling: int = 2**64
    """Units with this key or a larger one do not fit."""
    largest: list[int] = field(default_factory=list)
    """A heap of the keys that are held, with their signs changed."""

    def add(self, turn: Turn) -> None:
        self.seen += 1
        self._hold(self.units.key(turn), [(self.part, self.seen, turn)])

    def _hold(self, key: int, turns: list[tuple[int, int, Turn]]) -> None:
        if key >= self.ceiling:
            return
        if key not in self.held:
            self.held[key] = []
            heappush(self.largest, -key)
        self.held[key] += turns
        self.count += len(turns)
        while self.count > self.limit and len(self.held) > 1:
            self.ceiling = -heappop(self.largest)
            self.count -= len(self.held.pop(self.ceiling))

    def __add__(self, other: RealTurns) -> RealTurns:
        kinds = self.units.kinds | other.units.kinds
        whole = RealTurns(self.limit, seen=self.seen + other.seen, units=Units(REAL, kinds))
        whole.ceiling = min(self.ceiling, other.ceiling)
        for key, turns in (*self.held.items(), *other.held.items()):
            whole._hold(key, turns)
        return whole

    @property
    def turns(self) -> list[Turn]:
        """As they came."""
        placed = sorted((item for unit in self.held.values() for item in unit), key=itemgetter(0, 1))
        return [turn for _, _, turn in placed]
