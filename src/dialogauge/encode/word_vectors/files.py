"""Files of word vectors, told by their content: GloVe text, word2vec text and binary, a block at a time."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from dialogauge.corpus.reading.source import opened
from dialogauge.encode.base import Vectors
from dialogauge.errors import InputError, quote
from dialogauge.tables import counted

VectorFormat = Literal["glove", "word2vec-text", "word2vec-binary"]
MOST_VALUES = 1 << 16

_HEAD = 1 << 20
_ROWS_LOOKED_AT = 64
_HEADER = re.compile(rb"(\d{1,12})[ \t]+(\d{1,12})[ \t\r]*")
_OTHERS = {
    b"PK\x03\x04": "is a zip archive; unpack it first",
    b"\xba\x16\x4f\x2f": "is a model in fastText's own form; use the .vec file that belongs to it",
}
_EXPECTED = (
    "expected word vectors: lines of a word and its values with one space between them, or word2vec's binary form"
)

Block = tuple[list[str], Vectors]
"""Some words in the file's order, and a row of values for each."""

_BLOCK_VALUES = 1 << 18
_CHUNK = 1 << 20
_LONGEST_WORD = 1 << 16


@dataclass(frozen=True, slots=True)
class Layout:
    """What the start of a file says about the rest of it."""

    format: VectorFormat
    dim: int
    count: int | None
    """How many words the header announces; None without a header."""


def layout_of(path: Path) -> Layout:
    """A first line of two whole numbers is word2vec's header (so a GloVe file of one value a word may not start
    with a number). Without one, a word has as many values as most of the first lines end in numbers: GloVe's
    840B file has words with spaces in them."""
    with opened(path) as stream:
        head = stream.read(_HEAD)
    if not head.strip():
        raise InputError(f"is empty; {_EXPECTED}", path)
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise InputError(f"{what}; {_EXPECTED}", path)
    first, _, rest = head.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    if header := _HEADER.fullmatch(first):
        count, dim = int(header[1]), int(header[2])
        if not count or not 0 < dim <= MOST_VALUES:
            raise InputError(
                f"expected a header of the number of words and of values a word, found {quote(first.decode())}", path, 1
            )
        return Layout("word2vec-binary" if _is_binary(rest, dim) else "word2vec-text", dim, count)
    lines = [first, *rest.split(b"\n")]
    return Layout("glove", _values_a_word(lines[:-1] if len(lines) > 1 else lines, path), None)


def is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def blocks(path: Path, layout: Layout) -> Iterator[Block]:
    """All of the file. Words that are given twice come twice; bytes of a word that are not UTF-8 become U+FFFD,
    as with gensim's `unicode_errors="replace"`.

    A word may hold spaces: of a line, the last `dim` fields are the values. Only where the word would then end
    in a number the line has too many values. Every value must be finite as a 32-bit number, and the number of
    words the one that the header announces.
    """
    with opened(path) as stream:
        read = _binary_blocks if layout.format == "word2vec-binary" else _text_blocks
        yield from read(stream, path, layout)


def _values_a_word(lines: Sequence[bytes], path: Path) -> int:
    counts = Counter(_numbers_at_end(line.rstrip().split(b" ")) for line in lines[:_ROWS_LOOKED_AT] if line.strip())
    dim = counts.most_common(1)[0][0] if counts else 0
    if not 0 < dim <= MOST_VALUES:
        raise InputError(f"{_EXPECTED}; found {quote(lines[0][:200].decode(errors='replace'))}", path, 1)
    return dim


def _numbers_at_end(fields: Sequence[bytes]) -> int:
    """How many of the fields after the first are numbers, counted from the last up to one that is not."""
    for number, field in enumerate(reversed(fields)):
        if number == len(fields) - 1 or not is_number(field):
            return number
    return 0


def _is_binary(rest: bytes, dim: int) -> bool:
    """Whether what follows the header is binary: the first row is no row of text, and where its values would
    stand are bytes that no text has."""
    fields = rest.partition(b"\n")[0].rstrip().rsplit(b" ", dim)
    if len(fields) == dim + 1 and all(map(is_number, fields[1:])):
        return False
    values = rest.partition(b" ")[2][: 4 * dim]
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(values)
    except UnicodeDecodeError:
        return True
    return any(unicodedata.category(character) == "Cc" and character not in "\t\r\n" for character in text)


def _text_blocks(stream: BinaryIO, path: Path, layout: Layout) -> Iterator[Block]:
    rows: list[tuple[bytes, bytes]] = []
    number, first, done, empty = 0, 1, 0, 0
    most = max(1, _BLOCK_VALUES // layout.dim)
    for number, raw in enumerate(stream, start=1):
        line = (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).rstrip()
        if number == 1 and layout.count is not None:
            first = 2
            continue
        if not line:
            empty = empty or number
            continue
        if empty:
            raise InputError(f"expected a word and {counted(layout.dim, 'value')}, found an empty line", path, empty)
        if done + len(rows) == layout.count:
            raise InputError(f"{_announced(layout)}; found more", path, number)
        rows.append(_word_and_values(line, layout.dim, path, number))
        if len(rows) == most:
            yield _text_block(rows, layout.dim, path, first)
            done, first, rows = done + len(rows), number + 1, []
    if rows:
        yield _text_block(rows, layout.dim, path, first)
    done += len(rows)
    if layout.count is not None and done < layout.count:
        raise InputError(f"{_announced(layout)}; the file ends after {done}", path, empty or number)


def _announced(layout: Layout) -> str:
    return f"the header announces {counted(layout.count or 0, 'word')}"


def _word_and_values(line: bytes, dim: int, path: Path, number: int) -> tuple[bytes, bytes]:
    word, _, values = line.partition(b" ")
    more = values.count(b" ") + 1 - dim if values else -dim
    if more > 0:
        word, *fields = line.rsplit(b" ", dim)
        values = b" ".join(fields)
    if more < 0 or (more and is_number(word.rpartition(b" ")[2])):
        raise InputError(
            f"expected a word and {counted(dim, 'value')}, found {counted(dim + more, 'value')}", path, number
        )
    return word, values


def _text_block(rows: Sequence[tuple[bytes, bytes]], dim: int, path: Path, first: int) -> Block:
    values = _parsed(b" ".join(values for _, values in rows) + b" ")
    if values is None or not np.isfinite(values).all():
        values = np.concatenate([_parsed_slowly(row[1], path, line) for line, row in enumerate(rows, start=first)])
    return [word.decode("utf-8", "replace") for word, _ in rows], values.reshape(len(rows), dim)


def _parsed(values: bytes) -> Vectors | None:
    """Numbers that each end in a space; None where one is no number, or where there is no Arrow, which reads them about
    2.5 times as fast as NumPy. By way of 64 bits: read as 32 bits at once, some would differ from other readers' in the
    last bit."""
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
    except ImportError:
        return None

    ends = np.flatnonzero(np.frombuffer(values, np.uint8) == ord(" ")).astype(np.int32) + np.int32(1)
    bounds = np.concatenate([np.zeros(1, np.int32), ends])
    fields = pa.Array.from_buffers(pa.utf8(), len(ends), [None, pa.py_buffer(bounds), pa.py_buffer(values)])
    try:
        numbers = pc.ascii_rtrim(fields, " ").cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return _as_float32(numbers)


def _parsed_slowly(values: bytes, path: Path, number: int) -> Vectors:
    """One line's values, as Python reads numbers: it knows more spellings than Arrow, such as +1."""
    fields = values.split(b" ")
    wrong = next((field for field in fields if not is_number(field)), None)
    if wrong is None:
        row = _as_float32(np.array([float(field) for field in fields]))
        if np.isfinite(row).all():
            return row
        wrong = fields[int(np.argmin(np.isfinite(row)))]
    raise InputError(f"expected a finite number, found {quote(wrong.decode(errors='replace'))}", path, number)


def _as_float32(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Vectors:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def _binary_blocks(stream: BinaryIO, path: Path, layout: Layout) -> Iterator[Block]:
    stream.readline()
    done, rest, total = 0, b"", layout.count or 0
    while done < total:
        chunk = stream.read(_CHUNK)
        words, values, rest = _binary_rows(rest + chunk, layout.dim, total - done)
        if words:
            yield words, _finite(values, words, done, path)
        elif len(rest) > _LONGEST_WORD + 4 * layout.dim:
            raise InputError(f"expected a word that ends in a space as number {done + 1}, found none", path)
        elif not chunk:
            raise InputError(f"{_announced(layout)}; the file ends within number {done + 1}", path)
        done += len(words)
    if (rest + stream.read(_CHUNK)).strip(b"\r\n"):
        raise InputError(f"{_announced(layout)}; found more", path)


def _binary_rows(data: bytes, dim: int, most: int) -> tuple[list[str], Vectors, bytes]:
    """The whole rows at the start of the data, at most so many, and the bytes after them. A row is a word, a
    space, and the values; word2vec ends it with a line feed, gensim does not."""
    words: list[str] = []
    values: list[bytes] = []
    start, width = 0, 4 * dim
    while len(words) < most:
        space = data.find(b" ", start)
        end = space + 1 + width
        if space < 0 or end > len(data):
            break
        words.append(data[start:space].lstrip(b"\n").decode("utf-8", "replace"))
        values.append(data[space + 1 : end])
        start = end
    rows = np.frombuffer(b"".join(values), "<f4").astype(np.float32, copy=False)
    return words, rows.reshape(len(words), dim), data[start:]


def _finite(values: Vectors, words: Sequence[str], done: int, path: Path) -> Vectors:
    finite = np.isfinite(values)
    if not finite.all():
        row, place = (int(part) for part in np.argwhere(~finite)[0])
        raise InputError(
            f"expected finite numbers, found {values[row, place]} for {quote(words[row])}, number {done + row + 1}",
            path,
        )
    return values
