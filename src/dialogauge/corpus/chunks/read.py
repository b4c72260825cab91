"""One chunk on its way to turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dialogauge.corpus.chunks.notes import FileNotes, Notes, line_at, place_of
from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.how import HowToRead
from dialogauge.corpus.load import known_faults, refuse_twice
from dialogauge.corpus.readers.registry import choose
from dialogauge.corpus.reading.fields import refuse_huge_texts
from dialogauge.corpus.reading.parquet import sha256_of_row_groups
from dialogauge.corpus.reading.reader import Reading
from dialogauge.corpus.reading.source import Span
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError

Positions = Mapping[str, int]
"""By system, how many records stand before."""


class ChunkReading:
    """The turns of one chunk, read once; then `notes` says what was met on the way. Errors name the line as it is
    counted in the whole file."""

    def __init__(self, chunk: Chunk, how: HowToRead, before: Positions | None) -> None:
        """`before` is None where nobody counted; then a turn without a name raises `PositionsUnknown`, but at the very
        beginning: the second half of the first chunk has its number."""
        self._chunk, self._how = chunk, how
        self._reader, _ = choose(chunk.path, chunk.reader, how.mapping)
        if how.mapping and not self._reader.has_columns:
            raise InputError(f"--map: files of the format {self._reader.name!r} have no columns to name", chunk.path)
        self._reading = Reading(chunk.path, how.skip_invalid, None, how.mapping)
        self._reading.begin_at({} if chunk.number == chunk.first == 0 else before)
        if chunk.cut == "lines" and chunk.last is not None:
            self._reading.span = Span(chunk.first, chunk.last)
        elif chunk.cut == "row groups" and chunk.last is not None:
            self._reading.row_groups = range(chunk.first, chunk.last)
        self._before = self._reading.taken
        self.notes = Notes()

    def turns(self) -> Iterator[Turn]:
        reading, chunk = self._reading, self._chunk
        systems: dict[str, int] = {}
        try:
            for line, turn in self._reader.read(reading):
                try:
                    refuse_huge_texts((turn.response, *turn.context, *turn.references, *turn.facts))
                    before = self.notes.seen.note(turn.system, turn.id, place_of(chunk.number, line))
                    if before is not None:
                        raise refuse_twice(turn, f"{chunk.path}:{self._line(line_at(before))}")
                except InputError as error:
                    reading.leave_out(error, line)
                    continue
                if self._how.wants(turn.system, reading.users):
                    systems[turn.system] = systems.get(turn.system, 0) + 1
                    yield turn
        except InputError as error:
            raise self._placed(error) from None
        self._finish(systems)

    @property
    def users(self) -> set[str]:
        """Systems that are the users of a chat log and not asked for, as far as it was read."""
        return self._how.left_as_users(self._reading.users)

    def count(self) -> dict[str, int]:
        """How many positions of each system its records take; nothing else is noted."""
        self._reading.begin_at({})
        try:
            for _ in self._reader.read(self._reading):
                pass
        except InputError as error:
            raise self._placed(error) from None
        return self._reading.taken

    def _finish(self, systems: dict[str, int]) -> None:
        reading, chunk = self._reading, self._chunk
        reading.problems = [self._placed(problem) for problem in reading.problems]
        hashes = {str(file): {(chunk.number, chunk.first): digest} for file, digest in self._hashes()}
        faults = known_faults(reading, self._reader) if chunk.last is None else []
        reading.forget()
        self.notes = replace(
            self.notes,
            files={chunk.file: FileNotes(reading, self._reader.name, systems, hashes, tuple(faults))},
        )

    def _hashes(self) -> list[tuple[Path, str]]:
        """Of what was read."""
        reading = self._reading
        if reading.span is not None:
            return [(reading.path, reading.span.digest.hexdigest())]
        if reading.row_groups is not None:
            return [(reading.path, sha256_of_row_groups(reading.path, reading.row_groups))]
        return reading.hashes()

    def _placed(self, error: InputError) -> InputError:
        """The error with its line in the whole file."""
        if error.line is None or error.path != self._chunk.path:
            return error
        return InputError(error.message, error.path, self._line(error.line))

    def _line(self, line: int) -> int:
        span = self._reading.span
        return line if span is None else span.number_in(self._chunk.path, line)
