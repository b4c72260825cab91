"""CSV and TSV with a header, quoted as spreadsheets and pandas do."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from dialogauge.corpus import table
from dialogauge.corpus.fields import resembles
from dialogauge.corpus.head import Head
from dialogauge.corpus.quote import quote
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.corpus.record import FIELDS, turn
from dialogauge.corpus.strict_json import parse
from dialogauge.errors import InputError

_STRUCTURED = {"context", "messages", "references", "facts", "ratings", "extra"}
_OTHER_LIST = re.compile(r"""\s*\[\s*['"].*['"]\s*\]\s*""", re.DOTALL)
# JSON's own spelling of numbers: "007" stays text.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def sniff(head: Head, delimiter: str) -> bool:
    """A header with a column `response`, or one that resembles it."""
    if ("\t" in head.first_line) != (delimiter == "\t"):
        return False
    try:
        columns = next(csv.reader([head.first_line], delimiter=delimiter))
    except csv.Error:
        return False
    return any(resembles(column, "response") for column in columns)


def read(reading: Reading, delimiter: str) -> Iterator[LocatedTurn]:
    """An empty cell is absent, but for `response`. A column without a name, such as pandas writes for its
    index, is left out."""
    columns: list[str] | None = None
    for line, row in rows(reading, delimiter):
        if columns is None:
            columns = _header(reading, row, line)
            continue
        with reading.record(line):
            if len(row) != len(columns):
                raise InputError(f"expected {len(columns)} columns, found {len(row)}")
            cells = {column: _cell(column, text) for column, text in zip(columns, row, strict=True) if column}
            yield line, turn(table.record(cells), reading)


def _header(reading: Reading, columns: list[str], line: int) -> list[str]:
    # What is left out before the header is the header itself: without it no row can be read.
    if reading.problems:
        raise reading.problems[0]
    try:
        table.check_columns([column for column in columns if column])
    except InputError as error:
        raise InputError(error.message, reading.path, line) from None
    return columns


def rows(reading: Reading, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of the line where it begins."""
    line = 0

    def texts() -> Iterator[str]:
        nonlocal line
        for number, text in reading.lines(keep_ends=True):
            line = line or number
            yield text

    table_rows = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        line = 0
        try:
            row = next(table_rows)
        except StopIteration:
            return
        except csv.Error as error:
            with reading.record(line):
                problem = str(error).replace("\t", "tab")
                raise InputError(f"not a valid table: {problem}; is a quotation mark missing?") from None
            continue
        if row:
            yield line, row


def _cell(column: str, text: str) -> Any:
    if column == "response":
        return text
    if not text:
        return None
    if column in _STRUCTURED or column.startswith(table.RATINGS):
        value = _json(column, text)
        return number(value) if isinstance(value, str) and column not in FIELDS else value
    return text if column in FIELDS else number(text)


def _json(column: str, text: str) -> Any:
    """The list or object that the cell spells; the text itself if it spells none."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return parse(text)
    except InputError:
        # pandas writes lists the way Python prints them: taken as one text, they would pass unnoticed.
        if _OTHER_LIST.fullmatch(text):
            raise InputError(f"{column}: expected text or JSON, found a list that is not JSON: {quote(text)}") from None
        return text


def number(text: str) -> int | float | str:
    """The number that the cell spells; the text itself if it spells none."""
    match = _NUMBER.fullmatch(text.strip())
    if not match:
        return text
    try:
        value: int | float = parse(match[0])
    except InputError:
        return text
    return value


CSV = Reader("csv", "a table with commas and a header", partial(sniff, delimiter=","), partial(read, delimiter=","))
TSV = Reader("tsv", "a table with tabs and a header", partial(sniff, delimiter="\t"), partial(read, delimiter="\t"))
