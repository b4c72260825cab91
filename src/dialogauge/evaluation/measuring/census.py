"""What is counted of all turns that pass, measured or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from zlib import crc32

from dialogauge.corpus.corpus import only_users
from dialogauge.corpus.turn import Turn
from dialogauge.errors import unknown
from dialogauge.text.languages import Languages

LOOKED_AT, ONE_OF = 10_000, 16
"""So many of a system's first turns are looked at for their language, and of all turns one of so many."""


@dataclass
class Census:
    """What is counted of all turns that pass, measured or not."""

    wanted: Sequence[str] | None
    users: Set[str]
    """Systems that are left out unless they are wanted."""
    seen: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    empty: int = 0
    languages: Languages = field(default_factory=Languages)
    whole: bool = True
    """Whether the turns that pass are all there are, from the first on."""

    def __add__(self, other: Census) -> Census:
        """What was counted of two parts of a corpus."""
        seen, left_out = (_sum(getattr(self, name), getattr(other, name)) for name in ("seen", "left_out"))
        languages = self.languages + other.languages
        return Census(self.wanted, self.users | other.users, seen, left_out, self.empty + other.empty, languages)

    def watch(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        """The turns of the wanted systems."""
        for turn in turns:
            if self.wanted is None and turn.system in self.users:
                self.left_out[turn.system] = self.left_out.get(turn.system, 0) + 1
                continue
            self.seen[turn.system] = self.seen.get(turn.system, 0) + 1
            if self.wanted is None or turn.system in self.wanted:
                self.empty += not turn.response.strip()
                self.look(turn, self.seen[turn.system])
                yield turn

    def look(self, turn: Turn, number: int) -> None:
        """At the languages of what metrics hold against each other; not at every one of many turns, and where parts of
        a corpus are counted by themselves, at the same ones whatever the parts."""
        if not crc32(turn.response.encode("utf-8", "surrogatepass")) % ONE_OF or (number <= LOOKED_AT and self.whole):
            self.languages.note((turn.response, *turn.references, *turn.context[-1:]))

    @property
    def systems(self) -> dict[str, int]:
        """The wanted systems in the order asked for, with their numbers of turns."""
        if self.left_out and not self.seen:
            raise only_users(self.left_out)
        for system in self.wanted or ():
            if system not in self.seen:
                raise unknown("system", system, self.seen)
        return {system: self.seen[system] for system in self.wanted or self.seen}


def _sum(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in (*first, *second)}
