"""Turns of one or more systems, with where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dialogauge.corpus.reading.columns import ColumnMap
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.tables import counted, first_few


@dataclass(frozen=True)
class SourceFile:
    """A file that turns came from; `sha256` is of its bytes on disk, before any decompression."""

    path: str
    sha256: str
    reader: str


@dataclass(frozen=True, repr=False)
class Corpus:
    """Turns of one or more systems. (id, system) is unique where the corpus comes from `load` and the like.

    Examples:
        >>> from dialogauge import Corpus, Turn
        >>> corpus = Corpus([Turn("1", "hello"), Turn("1", "hi", system="other")])
        >>> corpus.systems
        ('system', 'other')
        >>> len(corpus.select(["other"]))
        1
    """

    turns: list[Turn]
    files: tuple[SourceFile, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    users: frozenset[str] = frozenset()
    """Systems that are the users of chat logs, to be judged only where they are named."""

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any] | Turn],
        *,
        system: str = "system",
        mapping: ColumnMap = NOTHING,
        skip_invalid: bool = False,
    ) -> Corpus:
        """The turns of records in memory, read and checked as those of files are.

        Args:
            records: Dicts with the fields of a JSON line, or `Turn`s.
            system: The name of the system where a record has none.
            mapping: The field that holds one of ours, `{"system": "variant"}`, as for `load`.
            skip_invalid: Whether what cannot be read is left out and counted.

        Examples:
            >>> from dialogauge import Corpus
            >>> records = [{"text": "fine", "context": ["how are you?"]}, {"text": "bye"}]
            >>> Corpus.from_records(records, mapping={"response": "text"}).turns[0].context
            ('how are you?',)
        """
        from dialogauge.corpus.frames import collected, read_records

        return collected(read_records(records, system=system, mapping=mapping, skip_invalid=skip_invalid))

    @classmethod
    def from_frame(
        cls, frame: Any, *, system: str = "system", mapping: ColumnMap = NOTHING, skip_invalid: bool = False
    ) -> Corpus:
        """The turns of a table in memory, one in each row, read and checked as those of files are.

        Args:
            frame: A pandas or polars DataFrame, a Hugging Face `Dataset`, or any Arrow table. The columns are those of
                CSV and Parquet files; that of a rated dimension is called `ratings.DIMENSION`. NaN is absent.
            system: As for `from_records`, like `mapping` and `skip_invalid`.

        Examples:
            >>> import pandas
            >>> from dialogauge import Corpus
            >>> frame = pandas.DataFrame({"response": ["fine", "bye"], "ratings.overall": [4, None]})
            >>> [dict(turn.ratings) for turn in Corpus.from_frame(frame)]
            [{'overall': (4.0,)}, {}]
        """
        from dialogauge.corpus.frames import collected, read_frame

        return collected(read_frame(frame, system=system, mapping=mapping, skip_invalid=skip_invalid))

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

    def select(self, systems: Sequence[str] | None) -> Corpus:
        """The corpus of these systems only, in the order asked for; of None, as it is but for users of chat logs."""
        if systems is None:
            return self._without_users() if self.users else self
        for system in systems:
            if system not in self.by_system:
                raise unknown("system", system, self.by_system)
        turns = [turn for system in dict.fromkeys(systems) for turn in self.by_system[system]]
        return Corpus(turns, self.files, self.caveats)

    def _without_users(self) -> Corpus:
        turns = [turn for turn in self.turns if turn.system not in self.users]
        left_out = {system: len(mine) for system, mine in self.by_system.items() if system in self.users}
        if not turns:
            raise only_users(left_out)
        return Corpus(turns, self.files, (*self.caveats, *users_left_out(left_out)))


def users_left_out(turns: Mapping[str, int]) -> list[Caveat]:
    """What is said of users of chat logs, with their numbers of turns, where only assistants are judged."""
    if not turns:
        return []
    message = f"{counted(sum(turns.values()), 'message')} of users are context only and not judged"
    return [Caveat("users_left_out", f"{message}; --systems names them where they are meant: {first_few(turns, 3)}")]


def only_users(turns: Mapping[str, int]) -> InputError:
    named = first_few(turns, 3)
    return InputError(f"expected replies of assistants, found only users: name them with --systems ({named})")
