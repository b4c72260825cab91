"""Readers of records of one shape, whatever holds the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.reading.reader import FileHead, Line, LocatedTurn, Reader, Reading

Fits: TypeAlias = Callable[[Mapping[str, Any]], bool]
MakeTurns: TypeAlias = Callable[[dict[str, Any], int, Reading], Iterator[LocatedTurn]]


def shaped(
    name: str,
    title: str,
    fits: Fits,
    turns: MakeTurns,
    has_columns: bool = False,
    line: Line = None,
    with_nan: bool = False,
) -> Reader:
    """The reader of records that `fits` recognises by the first of them; `turns` is given a record, its line, and the
    reading. Where the user names the column of the responses the records are no longer of this shape."""

    def sniff(head: FileHead) -> bool:
        return head.mapping.get("response") is None and bool(head.first) and fits(head.first)

    def read(reading: Reading) -> Iterator[LocatedTurn]:
        return each_record(reading, lambda record, line: turns(record, line, reading), with_nan)

    return Reader(name, title, sniff, read, has_columns, line)
