"""What is counted of all turns that pass, measured or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

from dialogauge.corpus.corpus import only_users
from dialogauge.corpus.turn import Turn
from dialogauge.errors import unknown
from dialogauge.text.languages import Languages

LOOKED_AT, ONE_OF = 10_000, 16
"""So many of a system's first turns are looked at for their language, then one of so many."""


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
        """At the languages of what metrics hold against each other; not at every one of many turns."""
        if number <= LOOKED_AT or not number % ONE_OF:
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
