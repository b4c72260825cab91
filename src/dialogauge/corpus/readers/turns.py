"""Our own format, a turn per record: JSON lines, or a JSON array as pandas writes data frames; CSV and TSV, quoted as
spreadsheets and pandas do; Parquet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from dialogauge.corpus.reading.columns import FIELDS, RATINGS, gather_ratings, holds_responses, refuse_names
from dialogauge.corpus.reading.json import items, parse, parse_item, parse_object, plain
from dialogauge.corpus.reading.parquet import batches, column_names, parquet_file
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, quote

_STRUCTURED = {"context", "messages", "references", "facts", "ratings", "extra"}
_OTHER_LIST = re.compile(r"""\s*\[\s*['"].*['"]\s*\]\s*""", re.DOTALL)
# JSON's own spelling of numbers: "007" stays text.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")

OLD_MAC = "if lines end in carriage returns alone, as on old Macs, convert them: tr '\\r' '\\n' < FILE > NEW"
LONGEST_CELL = 100_000_000
"""Characters."""


def sniff_lines(head: FileHead) -> bool:
    """Whatever begins like an object: if it is broken, the reader says where. Not one object over several lines."""
    return head.first_line.lstrip().startswith("{") and not head.document


def read_lines(reading: Reading) -> Iterator[LocatedTurn]:
    for line, text in reading.lines():
        with reading.record(line):
            yield line, turn(reading.columns.record(parse_object(text)), reading)


def sniff_array(head: FileHead) -> bool:
    return holds_responses(head.item, head.mapping)


def read_array(reading: Reading) -> Iterator[LocatedTurn]:
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            yield item.line, turn(reading.columns.record(parse_item(item.text)), reading)


def sniff_delimited(head: FileHead, delimiters: str) -> bool:
    """A header with a column for the responses, or one that is spelled almost like it."""
    if head.delimiter not in delimiters:
        return False
    try:
        columns = next(csv.reader([head.first_line], delimiter=head.delimiter))
    except csv.Error:
        return False
    return holds_responses(columns, head.mapping)


def header_of(head: FileHead) -> list[str]:
    """The first line's cells, where lines after it have as many, or the file is called a table; else nothing."""
    if len(head.lines) < 2:
        return []  # the first line may be longer than what was read of it
    try:
        first, *others = csv.reader((line for _, line in head.lines), delimiter=head.delimiter)
    except (csv.Error, ValueError):
        return []
    called = {".csv", ".tsv"} & set(head.path.suffixes)
    even = len(others) > 1 and all(len(row) == len(first) for row in others[:-1])
    return first if len(first) > 1 and (called or even) else []


def read_delimited(reading: Reading, delimiters: str) -> Iterator[LocatedTurn]:
    """An empty cell is absent, but for `response`. A column without a name, such as pandas writes for its
    index, is left out."""
    found = FileHead.read(reading.path).delimiter
    delimiter = found if found in delimiters else delimiters[0]
    columns: list[str] | None = None
    for line, row in rows(reading, delimiter):
        if columns is None:
            columns = _header(reading, row, line)
            continue
        with reading.record(line):
            if len(row) != len(columns):
                raise InputError(f"expected {len(columns)} columns, found {len(row)}")
            texts = {column: text for column, text in zip(columns, row, strict=True) if column}
            fields = reading.columns.rename(texts, looks=number)
            cells = {field: _cell(field, text) for field, text in fields.items()}
            yield line, turn(gather_ratings(cells), reading)


def rows(reading: Reading, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of the line where it begins."""
    line = 0

    def texts() -> Iterator[str]:
        nonlocal line
        for number, text in reading.lines(keep_ends=True):
            line = line or number
            yield text

    csv.field_size_limit(LONGEST_CELL)  # of the whole process, and 128 KiB by default
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
                if problem.startswith("new-line character"):
                    found = "a carriage return stands outside quotation marks"
                    raise InputError(f"not a valid table: {found}; {OLD_MAC}") from None
                raise InputError(f"not a valid table: {problem}; is a quotation mark missing?") from None
            continue
        if row:
            yield line, row


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


def sniff_parquet(head: FileHead) -> bool:
    return head.start.startswith(b"PAR1")


def read_parquet(reading: Reading) -> Iterator[LocatedTurn]:
    """NaN is absent, as in pandas; times become text; binary columns that are not ours are left out."""
    for number, row in _parquet_rows(reading):
        with reading.record(number):
            yield number, turn(_typed_cells(row, reading), reading)


def _typed_cells(row: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The row of a table that has types, under our names."""
    cells = {column: plain(value) for column, value in row.items() if column in FIELDS or not isinstance(value, bytes)}
    return gather_ratings(spelled_out(reading.columns.rename(cells)))


def _header(reading: Reading, columns: list[str], line: int) -> list[str]:
    # What is left out before the header is the header itself: without it no row can be read.
    if reading.problems:
        raise reading.problems[0]
    refuse_names([column for column in columns if column], reading.columns.mapping, reading.path, line)
    return columns


def _cell(column: str, text: str) -> Any:
    if column == "response":
        return text
    if not text:
        return None
    if column in _STRUCTURED or column.startswith(RATINGS):
        value = _json(column, text)
        return number(value) if isinstance(value, str) and column not in FIELDS else value
    return text if column in FIELDS else number(text)


def spelled_out(cells: dict[str, Any]) -> dict[str, Any]:
    """The cells of a table that has types, with the lists (of ratings and extra the objects) that texts spell as JSON:
    pandas makes such texts of a CSV file's lists."""
    found = {name: _json(name, cells[name]) for name in _STRUCTURED & cells.keys() if isinstance(cells[name], str)}
    kinds = {"ratings": dict, "extra": dict}
    return cells | {name: value for name, value in found.items() if isinstance(value, kinds.get(name, list))}


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


def _delimited(name: str, title: str, delimiters: str) -> Reader:
    return Reader(
        name,
        title,
        partial(sniff_delimited, delimiters=delimiters),
        partial(read_delimited, delimiters=delimiters),
        has_columns=True,
    )


def _parquet_rows(reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """With their numbers from 1 in the whole file."""
    with parquet_file(reading.path) as file:
        groups = range(file.num_row_groups) if reading.row_groups is None else reading.row_groups
        refuse_names(column_names(file, reading.path), reading.columns.mapping, reading.path)
        number = 1 + sum(file.metadata.row_group(group).num_rows for group in range(groups.start))
        for rows in batches(file, reading.path, groups):
            yield from enumerate(rows, start=number)
            number += len(rows)


JSONL = Reader("jsonl", "JSON lines, one turn per line", sniff_lines, read_lines, has_columns=True, line="turn")
JSON = Reader("json", "a JSON array of turns", sniff_array, read_array, has_columns=True)
CSV = _delimited("csv", "a table with commas or semicolons and a header", ",;")
TSV = _delimited("tsv", "a table with tabs and a header", "\t")


def sniff_dataset(head: FileHead) -> bool:
    return head.is_directory and holds_responses(head.first, head.mapping)


def read_dataset(reading: Reading) -> Iterator[LocatedTurn]:
    """As Parquet is read; the number of a row counts through all splits."""
    from dialogauge.corpus.readers.arrow import dataset_rows

    for number, row in enumerate(dataset_rows(reading), start=1):
        with reading.record(number):
            yield number, turn(_typed_cells(row, reading), reading)


PARQUET = Reader("parquet", "a Parquet table", sniff_parquet, read_parquet, has_columns=True)
DATASET = Reader("dataset", "a Hugging Face dataset on disk", sniff_dataset, read_dataset, has_columns=True)
