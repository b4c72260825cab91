"""Our own format: one JSON object per line and turn, or one JSON array of turns as pandas writes data frames."""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.corpus.reading import records
from dialogauge.corpus.reading.columns import holds_responses
from dialogauge.corpus.reading.json import items, parse_item, parse_object
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading


def sniff_lines(head: FileHead) -> bool:
    """Whatever begins like an object: if it is broken, the reader says where."""
    return head.first_line.lstrip().startswith("{")


def read_lines(reading: Reading) -> Iterator[LocatedTurn]:
    for line, text in reading.lines():
        with reading.record(line):
            yield line, records.turn(reading.columns.record(parse_object(text)), reading)


def sniff_array(head: FileHead) -> bool:
    return holds_responses(head.item, head.mapping)


def read_array(reading: Reading) -> Iterator[LocatedTurn]:
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            yield item.line, records.turn(reading.columns.record(parse_item(item.text)), reading)


JSONL = Reader("jsonl", "JSON lines, one turn per line", sniff_lines, read_lines, has_columns=True)

JSON = Reader("json", "a JSON array of turns", sniff_array, read_array, has_columns=True)
