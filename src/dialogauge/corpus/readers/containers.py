"""Records, whatever holds them: JSON lines, a JSON array or document, CSV and TSV, Parquet, a saved Hugging Face
dataset.

What a record means is another question: readers of one shape of record read it from all of these.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from dialogauge.corpus.readers.arrow import dataset_files, dataset_rows, parquet_rows
from dialogauge.corpus.readers.turns import rows
from dialogauge.corpus.reading.json import items, parse, parse_item, parse_object, plain
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reading
from dialogauge.corpus.reading.source import opened
from dialogauge.errors import InputError

_LONGEST_DOCUMENT = 1 << 30
"""Bytes of a file that is one JSON object."""


class HeldRecord(NamedTuple):
    """A record that is not yet parsed; `item` is its number where several stand in one line."""

    line: int
    item: int | None
    parse: Callable[[], dict[str, Any]]


def each_record(
    reading: Reading, turns: Callable[[dict[str, Any], int], Iterator[LocatedTurn]], with_nan: bool = False
) -> Iterator[LocatedTurn]:
    """The turns that the function makes of each record, given its line. A record that cannot be read is an error, or
    left out and counted, as everywhere. `with_nan`: JSON may have NaN, which is null."""
    for held in held_records(reading, with_nan):
        with reading.record(held.line, item=held.item):
            yield from turns(held.parse(), held.line)


def held_records(reading: Reading, with_nan: bool = False) -> Iterator[HeldRecord]:
    head = FileHead.read(reading.path)
    if head.is_directory:
        yield from _rows(dataset_rows(reading))
    elif head.start.startswith(b"PAR1"):
        yield from _rows(parquet_rows(reading))
    elif head.first_line.lstrip().startswith("["):
        for item in items(reading.path):
            yield HeldRecord(item.line, item.number, partial(parse_item, item.text, with_nan))
    elif head.document:
        yield HeldRecord(head.lines[0][0], None, partial(document, reading.path, with_nan))
    elif head.first_line.lstrip().startswith("{"):
        yield from (HeldRecord(line, None, partial(parse_object, text, with_nan)) for line, text in reading.lines())
    else:
        yield from _cells(reading, head.delimiter)


def document(path: Path, with_nan: bool = False) -> dict[str, Any]:
    """The one JSON object that a file is."""
    with opened(path) as stream:
        raw = stream.read(_LONGEST_DOCUMENT + 1)
    if len(raw) > _LONGEST_DOCUMENT:
        raise InputError(f"expected a JSON object of at most {_LONGEST_DOCUMENT:,} bytes, found a larger one", path)
    return parse_item(raw.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff"), with_nan)


def first_record(head: FileHead) -> dict[str, Any]:
    """The first record of a file, to tell its shape by; empty where none can be read."""
    try:
        if head.is_directory:
            return next(dataset_rows(Reading(head.path)), {}) if dataset_files(head.path) else {}
        if head.start.startswith(b"PAR1"):
            return next(parquet_rows(Reading(head.path)), {})
        start = head.first_line.lstrip()
        if start.startswith("["):
            return head.item
        if start.startswith("{"):
            return head.document or head.record or {}
        return _first_row(head)
    except InputError:
        return {}


def _rows(rows: Iterator[dict[str, Any]]) -> Iterator[HeldRecord]:
    for number, row in enumerate(rows, start=1):
        yield HeldRecord(number, None, partial(_plain_row, row))


def _plain_row(row: dict[str, Any]) -> dict[str, Any]:
    """Without binary columns, which hold no text; what is null is absent."""
    cells = {name: plain(value) for name, value in row.items() if not isinstance(value, bytes)}
    return {name: value for name, value in cells.items() if value is not None}


def _cells(reading: Reading, delimiter: str) -> Iterator[HeldRecord]:
    columns: list[str] | None = None
    for line, row in rows(reading, delimiter):
        if columns is None:
            columns = row
        else:
            yield HeldRecord(line, None, partial(_record_of, columns, row))


def _record_of(columns: list[str], row: list[str]) -> dict[str, Any]:
    if len(row) != len(columns):
        raise InputError(f"expected {len(columns)} columns, found {len(row)}")
    return {column: _cell(text) for column, text in zip(columns, row, strict=True) if column and text}


def _cell(text: str) -> Any:
    """The list or object that a cell spells as JSON; else its text."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return parse(text)
    except InputError:
        return text


def _first_row(head: FileHead) -> dict[str, Any]:
    try:
        rows = list(islice(csv.reader((line for _, line in head.lines), delimiter=head.delimiter), 2))
    except (csv.Error, ValueError):
        return {}
    if not rows or len(rows[0]) < 2:
        return {}
    names, values = rows[0], rows[1] if len(rows) > 1 else []
    return dict.fromkeys(names, "") | {name: _cell(text) for name, text in zip(names, values, strict=False)}
