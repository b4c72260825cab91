"""What a format is, and what its reader is given: one input, its beginning, and the run's rules for lines that cannot
be read."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias

from dialogauge.corpus.known import KnownCorpus, with_content
from dialogauge.corpus.reading.columns import ColumnMap, Columns
from dialogauge.corpus.reading.json import first_members, first_object, goes_on, parse_object
from dialogauge.corpus.reading.source import (
    FileState,
    Span,
    content_sha256,
    decode,
    longest_line,
    opened,
    raw_lines,
    refuse_long_line,
    sha256_since,
    state_of,
)
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, quote
from dialogauge.tables import counted

_ENOUGH = 1 << 16
_ENOUGH_FOR_ITEM = 1 << 20

LocatedTurn: TypeAlias = tuple[int, Turn]
"""A turn with the number of the line, from 1, where it stands (in Parquet: of the row)."""

Line: TypeAlias = Literal["turn", "dialogue"] | None

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
    line: Line = None
    """What each line holds by itself, so that JSON lines, or text, can be cut between lines; None where lines depend on
    others."""


@dataclass(frozen=True)
class FileHead:
    """The beginning of a file: whole lines, as many as 64 KiB hold, but at least one if it is JSON lines, and
    1 MiB of a JSON array. Of a directory there is only its path."""

    path: Path
    start: bytes
    mapping: ColumnMap = field(default_factory=dict)
    """What the user said of columns."""

    @classmethod
    def read(cls, path: Path, mapping: ColumnMap = NOTHING) -> FileHead:
        if path.is_dir():
            return cls(path, b"", mapping)
        with opened(path) as stream:
            start = stream.read(_ENOUGH)
            if b"\n" not in start and start.lstrip().startswith(b"{"):
                start += stream.readline(longest_line())
                refuse_long_line(start, path, 1)
            elif start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
                start += stream.read(_ENOUGH_FOR_ITEM - len(start))
            elif len(start) == _ENOUGH and b"\n" in start:
                start = start[: start.rindex(b"\n") + 1]
        return cls(path, start, mapping)

    @property
    def is_directory(self) -> bool:
        return self.path.is_dir()

    def holds(self, pattern: str) -> bool:
        """Whether the directory has something of this kind in it."""
        return self.is_directory and any(True for _ in self.path.glob(pattern))

    @cached_property
    def _text(self) -> str:
        """Bytes that are not UTF-8 are replaced: the format can still be recognised, and its reader says where
        they stand."""
        return self.start.decode("utf-8", errors="replace").removeprefix("\ufeff")

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with their numbers from 1."""
        numbered = enumerate(self._text.split("\n"), start=1)
        return [(number, line.removesuffix("\r")) for number, line in numbered if line.strip()]

    @property
    def first_line(self) -> str:
        return self.lines[0][1] if self.lines else ""

    @property
    def delimiter(self) -> str:
        """What stands between the cells, if the file is a table. Spreadsheets write semicolons where the comma is the
        decimal mark."""
        if "\t" in self.first_line:
            return "\t"
        return ";" if self.first_line.count(";") > self.first_line.count(",") else ","

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The first line that is a JSON object, with null for NaN; None in a file that does not begin like JSON
        lines."""
        if not self.first_line.lstrip().startswith("{"):
            return None
        for _, line in self.lines:
            try:
                return parse_object(line, with_nan=True)
            except InputError:
                continue
        return None

    @cached_property
    def item(self) -> dict[str, Any]:
        """The first object of a JSON array; empty in any other file."""
        return first_object(self._text) or {}

    @cached_property
    def document(self) -> dict[str, Any]:
        """The fields of a file that is one JSON object over several lines, as far as they are at hand; None where a
        value is cut short. Empty in any other file, also in JSON lines of which the first is broken."""
        lines = [line for _, line in self.lines]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{") or not goes_on(lines[0]):
            return {}
        if _is_object(lines[1]) and not goes_on(f"{lines[0]}\n{lines[1]}"):
            return {}
        return first_members(self._text)

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first record, whatever holds it: lines, an array, a table, a document; empty where there is none."""
        from dialogauge.corpus.readers.containers import first_record

        return first_record(self)

    def refuse_unless_text(self) -> None:
        """Raises where a line is not UTF-8."""
        for number, raw in enumerate(self.start.split(b"\n"), start=1):
            decode(raw, self.path, number)


class PositionsUnknown(Exception):
    """A record has no name but its position, and it is not known how many records stand before."""


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
        self._states: dict[Path, FileState] = {path: state_of(path)}
        self.span: Span | None = None
        """The lines that are read, where these are not all."""
        self.row_groups: range | None = None
        """Of Parquet, in the same way."""
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
        self._known_positions = True
        self._current = self.system

    @property
    def files(self) -> list[Path]:
        """What is read. Readers of several files set them before they open any."""
        return list(self._states)

    @files.setter
    def files(self, paths: Sequence[Path]) -> None:
        self._states = {path: self._states.get(path) or state_of(path) for path in paths}

    def hashes(self) -> list[tuple[Path, str]]:
        """The SHA-256 of each file, once it is read: of what was read, or the file is refused."""
        return [(path, sha256_since(path, state)) for path, state in self._states.items()]

    @cached_property
    def known(self) -> KnownCorpus | None:
        """What is published about this file, which tells names that it does not hold itself."""
        return with_content(content_sha256(self.path))

    def lines(self, keep_ends: bool = False) -> Iterator[tuple[int, str]]:
        """The input's lines that are not blank, with their numbers from 1."""
        for number, raw in raw_lines(self.path, self.span):
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

    def belongs_to(self, system: str) -> None:
        """Says whose the current record is: it takes a position of this system."""
        self._current = system

    def position(self, system: str) -> int:
        """The position from 0 of the current record within its system."""
        self.belongs_to(system)
        if not self._known_positions:
            raise PositionsUnknown
        return self._positions.get(system, 0)

    def begin_at(self, positions: Mapping[str, int] | None) -> None:
        """Goes on from these positions, which records before have taken; None where nobody knows how many."""
        self._known_positions = positions is not None
        self._positions.update(positions or {})

    @property
    def taken(self) -> dict[str, int]:
        """How many positions of each system were taken so far."""
        return dict(self._positions)

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

    def all_left_out(self) -> list[str]:
        """Everything that was left out and why, for an input of which nothing else is there."""
        skipped = [self.left_out_message()] if self.left_out else []
        short = [self._short_message()] if self.short_conversations else []
        return [*skipped, *(each.message.removeprefix(f"{self.path}: ") for each in self._remarks), *short]

    def _short_message(self) -> str:
        return f"{counted(self.short_conversations, 'conversation')} of fewer than two utterances left out"

    def _place(self, problem: InputError) -> str:
        elsewhere = "" if problem.path in (None, self.path) else f"{Path(str(problem.path)).name} "
        return f"{elsewhere}{self.record_name} {problem.line}"

    def remark(self, code: str, message: str) -> None:
        """Notes what the user must know about this input; it comes back among the caveats."""
        self._remarks.append(Caveat(code, f"{self.path}: {message}"))

    def forget(self) -> None:
        """What was needed to read alone, before what was noted is sent elsewhere."""
        self._positions, self._states, self.span, self.row_groups = {}, {}, None, None
        self.columns += Columns(self.columns.mapping)

    def __add__(self, other: Reading) -> Reading:
        """What was noted about two parts of one input."""
        whole = copy(self)
        whole.columns = self.columns + other.columns
        whole.users = self.users | other.users
        whole.problems = [*self.problems, *other.problems][:2]
        whole.left_out += other.left_out
        whole.short_conversations += other.short_conversations
        whole._remarks = list(dict.fromkeys([*self._remarks, *other._remarks]))
        return whole

    def caveats(self) -> list[Caveat]:
        caveats = [*self.columns.caveats(str(self.path)), *self._remarks]
        if self.left_out:
            caveats.append(Caveat("skipped_lines", f"{self.path}: {self.left_out_message()}"))
        if self.short_conversations:
            caveats.append(Caveat("short_conversations", f"{self.path}: {self._short_message()}"))
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


def aligned(reading: Reading, paths: Sequence[Path]) -> Iterator[tuple[int, list[str]]]:
    """Lines with the same number, from 1. A line that is not UTF-8 is left out in all files; files of different
    lengths are refused in any case, since what belongs together is then unknown."""
    for line, rows in enumerate(zip_longest(*(raw_lines(path) for path in paths)), start=1):
        for path, row in zip(paths, rows, strict=True):
            if row is None:
                longer = next(other for other, row in zip(paths, rows, strict=True) if row)
                raise InputError(f"expected as many lines as in {quote(longer.name)}, found {line - 1}", path)
        with reading.record(line):
            yield line, [decode(raw, path, line) for path, (_, raw) in zip(paths, rows, strict=True)]


def _is_object(text: str) -> bool:
    try:
        parse_object(text)
    except InputError:
        return False
    return True


def part_of(path: Path, parts: re.Pattern[str]) -> str | None:
    """Which of several parallel files it is, by its name."""
    match = parts.search(path.name)
    return match[1] if match else None


def sibling(path: Path, parts: re.Pattern[str], part: str) -> Path | None:
    """The file with the same name but for the part; it may be compressed where this one is not."""
    if part_of(path, parts) is None:
        return None
    name = parts.sub(part, path.name, count=1)
    candidates = (path.with_name(each) for each in (name, f"{name}.gz", name.removesuffix(".gz")))
    return next((each for each in candidates if each != path and each.is_file()), None)


def utterances(text: str) -> tuple[str, ...]:
    """The utterances of a context that stands in one line, split at `|||` or, without one, at tabs. A blank
    line has none."""
    if not text.strip():
        return ()
    return tuple(part.strip() for part in text.split("|||" if "|||" in text else "\t"))
