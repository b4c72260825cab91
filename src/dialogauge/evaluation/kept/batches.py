"""Parquet files of a kept run a few rows at a time. A run may come from anybody, and a text that is repeated by number
takes no room on disk."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from typing import Any

from dialogauge.array_file import refuse_unpacked
from dialogauge.corpus.reading.parquet import rows_at_once

ROWS = 4096
"""Turns that are written at once, and read."""


def batches(file: Any) -> Iterator[Any]:
    """Never of two row groups. Whatever pyarrow raises where it is no such file."""
    import pyarrow.parquet as pq

    part = pq.ParquetFile(file)
    for group in range(part.num_row_groups):
        yield from part.iter_batches(rows_at_once(part, range(group, group + 1), ROWS), row_groups=[group])


def batches_of_values(file: BufferedReader, name: str) -> Iterator[Any]:
    """Those of a file of ids and numbers, which are all held together; ValueError before they are too much."""
    unpacked = 0
    for batch in batches(file):
        unpacked += batch.nbytes
        refuse_unpacked(unpacked, file, name)
        yield batch
