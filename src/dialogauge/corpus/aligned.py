"""Parallel text files: line i of each belongs together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from dialogauge.corpus.quote import quote
from dialogauge.corpus.reading import Reading
from dialogauge.corpus.source import decode, raw_lines
from dialogauge.errors import InputError


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


def utterances(text: str) -> tuple[str, ...]:
    """The utterances of a context that stands in one line, split at `|||` or, without one, at tabs. A blank
    line has none."""
    if not text.strip():
        return ()
    return tuple(part.strip() for part in text.split("|||" if "|||" in text else "\t"))
