"""Parquet tables with the columns of our JSON lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from dialogauge.corpus.columns import FIELDS, gather_ratings, refuse_names
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.quote import quote
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.corpus.record import turn
from dialogauge.corpus.source import opened
from dialogauge.errors import InputError

_BATCH = 1024


def sniff(head: FileHead) -> bool:
    return head.start.startswith(b"PAR1")


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """NaN is absent, as in pandas; times become text; binary columns that are not ours are left out."""
    for number, row in enumerate(_rows(reading), start=1):
        with reading.record(number):
            cells = {
                column: _plain(value)
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


def _plain(value: Any) -> Any:
    """The value as JSON would hold it."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        if math.isinf(value):
            raise InputError("expected finite numbers, found an infinite one")
        return None if math.isnan(value) else value
    if isinstance(value, list):
        # A column of type map comes as a list of pairs.
        if value and all(isinstance(item, tuple) for item in value):
            value = dict(value)
        else:
            return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | int | str | bytes) else str(value)


PARQUET = Reader("parquet", "a Parquet table", sniff, read, has_columns=True)
