"""Parquet files as batches of rows, however few bytes on disk hold however many rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dialogauge import files
from dialogauge.corpus.reading.source import opened, size_of
from dialogauge.errors import InputError, quote, require_arrow

_FEWEST, _MOST = 16, 1024
"""Rows of a batch."""
_BATCH_BYTES = 1 << 28


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    require_arrow("reading Parquet")
    import pyarrow.parquet as pq

    with opened(path) as stream:
        # On a broken file pyarrow raises exceptions of many unrelated classes.
        try:
            file = pq.ParquetFile(stream)
        except Exception as error:
            raise _broken(error, path) from None
        yield file


def column_names(file: Any, path: Path) -> list[str]:
    try:
        return list(file.schema_arrow.names)
    except Exception as error:
        raise _broken(error, path) from None


def batches(
    file: Any, path: Path, groups: range | None = None, columns: list[str] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """The rows as Python values, batch by batch; of all row groups and columns unless some are named. A file that
    unpacks to far more than it is is refused: its pages may be packed, and a text may be repeated by number."""
    known = file.metadata
    chosen = range(known.num_row_groups) if groups is None else groups
    unpacked = 0
    try:
        sizes = [_column_sizes(known.row_group(group)) for group in chosen]
        refuse_bomb(sum(map(sum, sizes)), path)
        found = file.iter_batches(rows_at_once(file, chosen), row_groups=list(chosen), columns=columns)
        for batch in found:
            unpacked += batch.nbytes
            refuse_bomb(unpacked, path)
            yield batch.to_pylist()
    except (GeneratorExit, InputError, MemoryError):
        raise
    except Exception as error:
        raise _broken(error, path) from None


def rows_at_once(file: Any, groups: range, most: int = _MOST) -> int:
    """Rows of these groups that are held at a time. No cell is larger than its column on disk, once that is
    unpacked."""
    sizes = (size for group in groups for size in _column_sizes(file.metadata.row_group(group)))
    return min(most, max(_FEWEST, _BATCH_BYTES // max(1, max(sizes, default=1))))


def sha256_of_row_groups(path: Path, groups: range) -> str:
    """Of the bytes from where the first of them begins, or the file, to where the next one does, or the file ends."""
    with parquet_file(path) as file:
        known = file.metadata
        starts = [
            min(column.dictionary_page_offset or column.data_page_offset for column in _columns(known.row_group(group)))
            for group in range(known.num_row_groups)
        ]
    first = starts[groups.start] if groups.start else 0
    with opened(path) as stream:
        stream.seek(first)
        digest, left = hashlib.sha256(), (starts[groups.stop] - first if groups.stop < len(starts) else -1)
        while left and (block := stream.read(min(left, 1 << 20) if left > 0 else 1 << 20)):
            digest.update(block)
            left -= len(block) if left > 0 else 0
    return digest.hexdigest()


def _columns(group: Any) -> list[Any]:
    return [group.column(place) for place in range(group.num_columns)]


def _column_sizes(group: Any) -> list[int]:
    return [column.total_uncompressed_size for column in _columns(group)]


def refuse_bomb(unpacked: int, path: Path) -> None:
    """Refuses a file that was found to hold so many bytes, where these are far more than it has on disk."""
    if unpacked <= files.UNPACKED or unpacked <= (most := files.most_unpacked(size_of(path))):
        return
    expected = f"expected a file that unpacks to at most {files.RATIO} times its size"
    raise InputError(f"{expected}, found more than {most:,} bytes; --any-size reads it all the same", path)


def _broken(error: Exception, path: Path) -> InputError:
    return InputError(f"expected a Parquet file, found: {quote(str(error))}", path)
