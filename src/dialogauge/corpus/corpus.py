"""Turns of one or more systems, with where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, unknown
from dialogauge.tables import counted


@dataclass(frozen=True)
class SourceFile:
    """A file that turns came from; `sha256` is of its bytes on disk, before any decompression."""

    path: str
    sha256: str
    reader: str


@dataclass(frozen=True, repr=False)
class Corpus:
    """Turns of one or more systems. (id, system) is unique where the corpus comes from `load`."""

    turns: list[Turn]
    files: tuple[SourceFile, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    def __repr__(self) -> str:
        return f"<Corpus: {counted(len(self.by_system), 'system')}, {counted(len(self.turns), 'turn')}>"

    def __len__(self) -> int:
        return len(self.turns)

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in order of first appearance."""
        return tuple(self.by_system)

    @cached_property
    def by_system(self) -> dict[str, list[Turn]]:
        """Each system's turns, in order. Computed once: `turns` is not to be changed afterwards."""
        groups: dict[str, list[Turn]] = {}
        for turn in self.turns:
            groups.setdefault(turn.system, []).append(turn)
        return groups

    def select(self, systems: Sequence[str]) -> Corpus:
        """The corpus of these systems only, in the order asked for."""
        for system in systems:
            if system not in self.by_system:
                raise unknown("system", system, self.by_system)
        turns = [turn for system in dict.fromkeys(systems) for turn in self.by_system[system]]
        return Corpus(turns, self.files, self.caveats)
