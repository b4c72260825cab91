"""Our own format: JSON lines, one turn per line."""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.corpus import record
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.corpus.strict_json import parse_object


def sniff(head: FileHead) -> bool:
    """Whatever begins like an object: if it is broken, the reader says where."""
    return head.first_line.lstrip().startswith("{")


def read(reading: Reading) -> Iterator[LocatedTurn]:
    for line, text in reading.lines():
        with reading.record(line):
            yield line, record.turn(reading.columns.record(parse_object(text)), reading)


JSONL = Reader("jsonl", "JSON lines, one turn per line", sniff, read, has_columns=True)
