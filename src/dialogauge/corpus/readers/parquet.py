"""Parquet tables with the columns of our JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialogauge.corpus.reading.columns import FIELDS, gather_ratings, refuse_names
from dialogauge.corpus.reading.json import plain
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.corpus.reading.source import opened
from dialogauge.errors import InputError
from dialogauge.text.quote import quote

_BATCH = 1024


def sniff(head: FileHead) -> bool:
    return head.start.startswith(b"PAR1")


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """NaN is absent, as in pandas; times become text; binary columns that are not ours are left out."""
    for number, row in enumerate(_rows(reading), start=1):
        with reading.record(number):
            cells = {
                column: plain(value)
                for column, value in row.items()
                if column in FIELDS or not isinstance(value, bytes)
            }
            yield number, turn(gather_ratings(reading.columns.rename(cells)), reading)


def _rows(reading: Reading) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    with opened(reading.path) as stream:
        # On a broken file pyarrow raises exceptions of many unrelated classes.
        try:
            file = pq.ParquetFile(stream)
            columns = list(file.schema_arrow.names)
            batches = file.iter_batches(_BATCH)
        except Exception as error:
            raise _broken(error, reading) from None
        refuse_names(columns, reading.columns.mapping, reading.path)
        while True:
            try:
                rows = next(batches).to_pylist()
            except StopIteration:
                return
            except Exception as error:
                raise _broken(error, reading) from None
            yield from rows


def _broken(error: Exception, reading: Reading) -> InputError:
    return InputError(f"expected a Parquet file, found: {quote(str(error))}", reading.path)


PARQUET = Reader("parquet", "a Parquet table", sniff, read, has_columns=True)
