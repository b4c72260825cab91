"""One JSON array of turns, as pandas writes data frames (`to_json(orient="records")`)."""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.corpus import record
from dialogauge.corpus.columns import holds_responses
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.json_array import items, parse_item
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading


def sniff(head: FileHead) -> bool:
    return holds_responses(head.item, head.mapping)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            yield item.line, record.turn(reading.columns.record(parse_item(item.text)), reading)


JSON = Reader("json", "a JSON array of turns", sniff, read, has_columns=True)
