"""What a reader is given: one input, and the run's rules for lines that cannot be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TypeAlias

from dialogauge.corpus.columns import ColumnMap, Columns
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.known import KnownCorpus, with_content
from dialogauge.corpus.source import content_sha256, decode, raw_lines
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.tables import counted

LocatedTurn: TypeAlias = tuple[int, Turn]
"""A turn with the number of the line, from 1, where it stands (in Parquet: of the row)."""

_EXTENSIONS = {".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".parquet", ".pq"}


@dataclass(frozen=True)
class Reader:
    """A file format: its name, what it holds, how to recognise it, how to read it.

    `read` yields turns one at a time, so that files of any size can be streamed.
    """

    name: str
    title: str
    sniff: Callable[[FileHead], bool]
    read: Callable[[Reading], Iterator[LocatedTurn]]
    has_columns: bool = False
    """Whether records have names of their own, which can be told by `--map`."""


class Reading:
    """One input on its way to turns.

    A reader asks it for lines, wraps each record in `with reading.record(line):`, and raises
    `InputError(message)` there without a place: the place is added here, and with `skip_invalid` the record
    is left out and counted instead. (A generator that raises is over; the guard keeps it alive.)
    """

    record_name = "line"

    def __init__(
        self,
        path: Path,
        skip_invalid: bool = False,
        positions: dict[str, int] | None = None,
        mapping: ColumnMap = NOTHING,
        system: str | None = None,
    ) -> None:
        self.path = path
        self.place: Path | None = path
        """What errors name."""
        self.system = system or system_name(path)
        self.columns = Columns(mapping)
        self.skip_invalid = skip_invalid
        self.files = [path]
        self.users: set[str] = set()
        """Systems that are the users of a chat log."""
        self.problems: list[InputError] = []
        """The first two records left out."""
        self.left_out = 0
        self.short_conversations = 0
        self._remarks: list[Caveat] = []
        # Positions go on from file to file, so that a system may be spread over several. Systems named after
        # their file start anew: equal names in two directories must not merge unnoticed.
        self._positions = {} if positions is None else positions
        self._positions[self.system] = 0
        self._current = self.system

    @cached_property
    def known(self) -> KnownCorpus | None:
        """What is published about this file, which tells names that it does not hold itself."""
        return with_content(content_sha256(self.path))

    def lines(self, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
        """The input's lines that are not blank, with their numbers from 1."""
        for number, raw in raw_lines(self.path):
            try:
                text = decode(raw, self.path, number, keep_ends)
            except InputError as error:
                self.leave_out(error, number)
                self._positions[self.system] += 1
            else:
                if keep_ends or text.strip():
                    yield number, text

    @contextmanager
    def record(self, line: int, path: Path | None = None, item: int | None = None) -> Iterator[None]:
        """Guards the reading of one record. Left out or not, it takes one position of its system. `path` is to
        be given where the input is a directory, `item` where several records can stand in one line."""
        self._current = self.system
        try:
            yield
        except InputError as error:
            if item is not None:
                error = InputError(f"item {item}: {error.message}", error.path, error.line)
            self.leave_out(error, line, path)
        self._positions[self._current] = self._positions.get(self._current, 0) + 1

    def position(self, system: str) -> int:
        """The position from 0 of the current record within its system."""
        self._current = system
        return self._positions.get(system, 0)

    def leave_out(self, error: InputError, line: int, path: Path | None = None) -> None:
        """Counts a record that cannot be read; raises instead unless `skip_invalid`."""
        if error.path is None:
            error = InputError(error.message, path or self.place, line)
        if not self.skip_invalid:
            raise error from None
        self.left_out += 1
        if len(self.problems) < 2:
            self.problems.append(error)

    def left_out_message(self) -> str:
        """How many records were left out, and what was wrong with the first."""
        problems = [f"{self._place(problem)}: {problem.message}" for problem in self.problems]
        more = ["…"] if self.left_out > len(problems) else []
        return f"{counted(self.left_out, self.record_name)} left out ({'; '.join(problems + more)})"

    def _place(self, problem: InputError) -> str:
        elsewhere = "" if problem.path in (None, self.path) else f"{Path(str(problem.path)).name} "
        return f"{elsewhere}{self.record_name} {problem.line}"

    def remark(self, code: str, message: str) -> None:
        """Notes what the user must know about this input; it comes back among the caveats."""
        self._remarks.append(Caveat(code, f"{self.path}: {message}"))

    def caveats(self) -> list[Caveat]:
        caveats = [*self.columns.caveats(str(self.path)), *self._remarks]
        if self.left_out:
            caveats.append(Caveat("skipped_lines", f"{self.path}: {self.left_out_message()}"))
        if self.short_conversations:
            short = counted(self.short_conversations, "conversation")
            message = f"{self.path}: {short} of fewer than two utterances left out"
            caveats.append(Caveat("short_conversations", message))
        return caveats


def system_name(path: Path) -> str:
    """The file's name without the extensions of formats: `gpt-4.1.jsonl.gz` is `gpt-4.1`."""
    # The directory one is in, or the one above, is given as a path without a name.
    named = path if path.name not in ("", "..") else path.resolve()
    # A name that is not UTF-8 on disk comes with surrogates, which no output could hold.
    name = os.fsencode(named.name).decode("utf-8", errors="replace")
    while (extension := PurePath(name).suffix).lower() in _EXTENSIONS:
        name = name.removesuffix(extension)
    return name
