"""What is noted while chunks are read, apart from their turns. Notes of chunks add to those of the whole input."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dialogauge.corpus.chunks.plan import Chunk
from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.load import merging_systems, refuse_contested, refuse_empty, twice_in
from dialogauge.corpus.reading.reader import Reading
from dialogauge.corpus.reading.seen import SeenIds
from dialogauge.corpus.reading.source import Span
from dialogauge.errors import Caveat, InputError

_LINES = 1 << 40


def place_of(chunk: int, line: int) -> int:
    """One int, since a million tuples would be heavy."""
    return chunk * _LINES + line


def line_at(place: int) -> int:
    """As its chunk counts it."""
    return place % _LINES


@dataclass(frozen=True)
class FileNotes:
    """Of one file, as far as it was read."""

    reading: Reading
    reader: str
    systems: dict[str, int]
    """With their numbers of turns."""
    hashes: dict[str, dict[tuple[int, int], str]]
    """Of each file on disk that belongs to it, by the number of the chunk and where it begins, of the bytes that were
    read: the two halves of a chunk that was cut have one number."""
    faults: tuple[Caveat, ...] = ()

    def __add__(self, other: FileNotes) -> FileNotes:
        systems = dict(self.systems)
        for system, turns in other.systems.items():
            systems[system] = systems.get(system, 0) + turns
        hashes = {path: self.hashes.get(path, {}) | found for path, found in (self.hashes | other.hashes).items()}
        faults = tuple(dict.fromkeys((*self.faults, *other.faults)))
        return FileNotes(self.reading + other.reading, self.reader, systems, hashes, faults)

    def read_at(self, read: Path, given: Path) -> FileNotes:
        """As if it had been read at the path that was given: machines have copies in directories of their own."""
        hashes = {_moved(path, read, given): found for path, found in self.hashes.items()}
        return replace(self, hashes=hashes)

    @property
    def files(self) -> list[SourceFile]:
        return [SourceFile(path, whole_hash(found), self.reader) for path, found in self.hashes.items()]


def _moved(path: str, read: Path, given: Path) -> str:
    """A file, or one of a directory."""
    if path == str(read):
        return str(given)
    return str(given / Path(path).relative_to(read)) if Path(path).is_relative_to(read) else path


def whole_hash(by_chunk: dict[tuple[int, int], str]) -> str:
    """A file's SHA-256 where it was read as one chunk; else the SHA-256 of its chunks' SHA-256 values, as bytes, in
    order."""
    found = [by_chunk[place] for place in sorted(by_chunk)]
    if len(found) == 1:
        return found[0]
    return hashlib.sha256(b"".join(map(bytes.fromhex, found))).hexdigest()


@dataclass(frozen=True)
class Twice:
    """An id of a system that stands at two places of different chunks."""

    first: int
    second: int


@dataclass(frozen=True)
class Notes:
    """Of all files, as far as they were read."""

    files: dict[int, FileNotes] = field(default_factory=dict)
    seen: SeenIds = field(default_factory=SeenIds)
    twice: Twice | None = None

    def __add__(self, other: Notes) -> Notes:
        files = dict(self.files)
        for file, notes in other.files.items():
            files[file] = files[file] + notes if file in files else notes
        seen, found = self.seen.merged(other.seen)
        here = Twice(found[1], found[0]) if found else None
        known = [each for each in (self.twice, other.twice, here) if each]
        return Notes(files, seen, min(known, key=lambda each: each.second, default=None))

    @property
    def users(self) -> frozenset[str]:
        return frozenset(user for notes in self.files.values() for user in notes.reading.users)

    def check(self, paths: Sequence[Path], chunks: Sequence[Chunk]) -> None:
        """Refuses what no chunk can see by itself: ids that stand twice, files without a turn, columns that were asked
        for and are nowhere, systems of two files that may not be one."""
        if self.twice is not None:
            places = self.twice.first, self.twice.second
            if not all(_chunk(place, chunks).path.exists() for place in places):
                where = " and in ".join(str(_chunk(place, chunks)) for place in places)
                raise InputError(
                    f"an id of a system stands twice, in {where}; merge where these files are to see the lines"
                )
            (one, first), (other, second) = (_place(place, chunks) for place in places)
            skipping = self.files[other.file].reading.skip_invalid
            raise twice_in((one.path, first), (other.path, second), one.file == other.file, skipping)
        for notes in self.files.values():
            refuse_empty(notes.reading, empty=not notes.systems)
            refuse_contested(notes.reading)
        first_in: dict[str, int] = {}
        for file, notes in sorted(self.files.items()):
            for system in notes.systems:
                first_file = first_in.setdefault(system, file)
                if first_file != file:
                    merging_systems(
                        system, paths[first_file], self.files[first_file].reading, paths[file], notes.reading
                    )

    @property
    def source_files(self) -> tuple[SourceFile, ...]:
        return tuple(file for _, notes in sorted(self.files.items()) for file in notes.files)

    @property
    def caveats(self) -> list[Caveat]:
        return [
            caveat for _, notes in sorted(self.files.items()) for caveat in (*notes.reading.caveats(), *notes.faults)
        ]


def _chunk(place: int, chunks: Sequence[Chunk]) -> Chunk:
    return next(each for each in chunks if each.number == place // _LINES)


def _place(place: int, chunks: Sequence[Chunk]) -> tuple[Chunk, int]:
    """The chunk, and the line in the whole file."""
    chunk, line = _chunk(place, chunks), line_at(place)
    if chunk.cut == "lines" and chunk.last is not None:
        line = Span(chunk.first, chunk.last).number_in(chunk.path, line)
    return chunk, line
