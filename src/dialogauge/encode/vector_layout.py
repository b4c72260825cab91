"""Which form a file of word vectors has, and how many values a word: told by its content, never by its name."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dialogauge.corpus.quote import quote
from dialogauge.corpus.source import opened
from dialogauge.errors import InputError

VectorFormat = Literal["glove", "word2vec-text", "word2vec-binary"]
BOM = b"\xef\xbb\xbf"
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
    first, _, rest = head.removeprefix(BOM).partition(b"\n")
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
    return any(character < " " and character not in "\t\r\n" for character in text)
