"""How files are cut into chunks: between lines, between row groups of Parquet, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Literal

from dialogauge.corpus.how import HowToRead
from dialogauge.corpus.readers.registry import choose
from dialogauge.corpus.reading.reader import FileHead, Reader
from dialogauge.corpus.reading.source import is_gzip, lines_of, refuse_missing, size_of
from dialogauge.errors import Caveat

CHUNK_BYTES = 64 * 2**20
"""Of a file that can be cut."""

Cut = tuple[int, int | None, Literal["lines", "row groups"] | None, int]
"""A range of a file, how it is counted, and the byte by which its shard is told."""


@dataclass(frozen=True)
class Chunk:
    """Some of a file's turns: those of the lines that begin in a range of bytes, those of a range of row groups, or
    all. `first` and `last` count bytes or row groups; `last` is not among them, and None where the file is whole."""

    number: int
    """Among all chunks of the plan."""
    file: int
    """Among the files that were given."""
    path: Path
    reader: str
    cut: Literal["lines", "row groups"] | None = None
    first: int = 0
    last: int | None = None
    size: int = 0
    """In bytes, about."""

    def __str__(self) -> str:
        if self.last is None:
            return str(self.path)
        return f"{self.path}, {'bytes' if self.cut == 'lines' else 'row groups'} {self.first} to {self.last}"

    def halves(self) -> list[Chunk]:
        """Two smaller ones with the same turns; none where it cannot be cut. Both keep its number."""
        if self.last is None or self.last - self.first < 2:
            return []
        middle = (self.first + self.last) // 2
        ends = ((self.first, middle), (middle, self.last))
        return [
            Chunk(self.number, self.file, self.path, self.reader, self.cut, first, last, self.size // 2)
            for first, last in ends
        ]


@dataclass(frozen=True)
class ChunkPlan:
    """The chunks of all files, in order, and what choosing their readers had to say."""

    chunks: tuple[Chunk, ...]
    caveats: tuple[Caveat, ...]
    shards: tuple[tuple[Chunk, ...], ...]
    """The same chunks, by the shard that reads them."""


def plan_chunks(
    paths: Sequence[Path],
    how: HowToRead,
    *,
    shards: int = 1,
    whole_dialogues: bool = False,
    size: int | None = None,
) -> ChunkPlan:
    """Chunks of this size, the same whatever the number of processes. `shards`: of so many shares of all bytes each is
    cut by itself. `whole_dialogues`: whether files are left whole whose lines are no whole dialogues."""
    size = size or CHUNK_BYTES
    caveats: list[Caveat] = []
    readers: list[Reader] = []
    for path in paths:
        refuse_missing(path)
        reader, said = choose(path, how.reader, how.mapping)
        readers.append(reader)
        caveats += [caveat for caveat in said if caveat not in caveats]
    sizes = [0 if path.is_dir() else size_of(path) for path in paths]
    ends = [round(sum(sizes) * shard / shards) for shard in range(1, shards + 1)]
    found: list[list[Chunk]] = [[] for _ in range(shards)]
    number = 0
    for file, (path, reader, own, end) in enumerate(zip(paths, readers, sizes, accumulate(sizes), strict=True)):
        begin = end - own
        for first, last, cut, share in _cuts(path, reader, own, [each - begin for each in ends], size, whole_dialogues):
            shard = next((place for place, each in enumerate(ends) if begin + share < each), shards - 1)
            bytes_there = last - first if last is not None and cut == "lines" else own
            found[shard].append(Chunk(number, file, path, reader.name, cut, first, last, bytes_there))
            number += 1
    return ChunkPlan(tuple(chunk for shard in found for chunk in shard), tuple(caveats), tuple(map(tuple, found)))


def _cuts(path: Path, reader: Reader, own: int, ends: Sequence[int], size: int, whole_dialogues: bool) -> Iterator[Cut]:
    if _has_lines(path, reader) and not (whole_dialogues and reader.line == "turn"):
        inside = [end for end in ends if 0 < end < own]
        for first, last in zip([0, *inside], [*inside, own], strict=True):
            for start in range(first, last, size):
                yield start, min(start + size, last), "lines", start
    elif reader.name == "parquet" and not whole_dialogues and not is_gzip(path):
        yield from _row_groups(path, own, ends, size)
    else:
        yield 0, None, None, 0


def _row_groups(path: Path, own: int, ends: Sequence[int], size: int) -> Iterator[Cut]:
    """Neighbours together, up to the size and to the end of a shard."""
    from dialogauge.corpus.reading.parquet import parquet_file

    with parquet_file(path) as file:
        weights = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
    if not weights:
        yield 0, None, None, 0  # what is wrong with it is told when it is read
        return
    scale = own / max(1, sum(weights))
    starts = [round(scale * before) for before in accumulate([0, *weights[:-1]])]
    first = 0
    for group in range(1, len(weights) + 1):
        at_end = group == len(weights)
        if (
            at_end
            or sum(weights[first : group + 1]) > size
            or any(starts[first] < end <= starts[group] for end in ends)
        ):
            yield first, group, "row groups", starts[first]
            first = group


def _has_lines(path: Path, reader: Reader) -> bool:
    """Whether a file can be cut between lines: no packed one, and none whose records may stand in several lines."""
    if reader.line is None or path.is_dir() or is_gzip(path):
        return False
    head = FileHead.read(path)
    return reader.name == "dailydialog" or (head.first_line.lstrip().startswith("{") and not head.document)


def surely_more_turns(paths: Sequence[Path], how: HowToRead, count: int) -> bool:
    """Whether files have more lines than this that can be read by themselves, or more rows. Some may be no turns."""
    found = 0
    for path in paths:
        refuse_missing(path)
        reader, _ = choose(path, how.reader, how.mapping)
        if reader.name == "parquet" and not is_gzip(path):
            from dialogauge.corpus.reading.parquet import parquet_file

            with parquet_file(path) as file:
                found += file.metadata.num_rows
        elif _has_lines(path, reader):
            found += lines_of(path, count - found)
        if found > count:
            return True
    return False
