"""The value of every turn by every metric: turns.parquet, and on its way there."""

from __future__ import annotations

import io
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import require_arrow
from dialogauge.metrics.base import AnyMetric, Floats


class TurnValuesWriter:
    """A Parquet file with a row group for each system, metric and batch: no table of all of them is ever in memory. The
    file is given open: pyarrow would take a path such as `s3:runs/1` for an address."""

    def __init__(self, target: IO[bytes]) -> None:
        require_arrow("keeping values of turns (keep_values=False does without)")
        import pyarrow as pa
        import pyarrow.parquet as pq

        text = pa.dictionary(pa.int32(), pa.string())
        self._schema = pa.schema([("id", pa.string()), ("system", text), ("metric", text), ("value", pa.float64())])
        self._writer = pq.ParquetWriter(target, self._schema)

    def write(self, system: str, label: str, metric: AnyMetric, turns: Sequence[Turn], places: Any, rows: Any) -> None:
        """Of the turns at these places, whose rows these are; nothing where single turns have no value."""
        defined = np.flatnonzero(metric.defined(rows))
        values = metric.per_turn(rows[defined])
        if values is not None:
            self.add(system, label, [turns[place].id for place in places[defined]], values)

    def add(self, system: str, label: str, ids: Sequence[str], values: Floats) -> None:
        import pyarrow as pa

        same = pa.array(np.zeros(len(ids), dtype=np.int32))
        columns = [
            pa.array(ids, pa.string()),
            pa.DictionaryArray.from_arrays(same, [system]),
            pa.DictionaryArray.from_arrays(same, [label]),
            pa.array(values),
        ]
        self._writer.write_table(pa.table(columns, schema=self._schema))

    def copy(self, file: Any) -> None:
        """Everything that another such file holds."""
        import pyarrow.parquet as pq

        part = pq.ParquetFile(file)
        for group in range(part.num_row_groups):
            self._writer.write_table(part.read_row_group(group).cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class SpooledFiles(Protocol):
    """Files that were written for parts of a corpus, of turns' values or of their texts."""

    def files(self, name: str) -> Iterator[Any]:
        """Those of one name, in the order of parts, open for as long as they are used."""
        ...


class SpooledParts:
    """Files that were written for parts of a corpus, values of turns and their texts: all in one temporary file that
    goes with its process, however that ends."""

    def __init__(self) -> None:
        self._file = temporary_file(self)
        self._places: dict[str, list[tuple[int, int, int]]] = {}

    def put(self, name: str, part: int, content: bytes) -> None:
        """One file of a part; several of the same part keep their order."""
        start = self._file.seek(0, io.SEEK_END)
        with _temporary_folder_named():
            self._file.write(content)
            self._file.flush()
        self._places.setdefault(name, []).append((part, start, len(content)))

    def clear(self) -> None:
        self._places.clear()
        self._file.seek(0)
        self._file.truncate()

    def files(self, name: str) -> Iterator[io.BytesIO]:
        """In the order of parts, each in memory while it is used."""
        for _, start, size in sorted(self._places.get(name, ())):
            self._file.seek(start)
            yield io.BytesIO(self._file.read(size))


VALUES, TEXTS = "values", "texts"


def temporary_file(owner: object) -> IO[bytes]:
    """One without a name, that goes with its owner, or with the process, however that ends."""
    file = tempfile.TemporaryFile(prefix="dialogauge")  # noqa: SIM115
    weakref.finalize(owner, _closed, file)
    return file


def _closed(file: IO[bytes]) -> None:
    with suppress(OSError):  # of a full disk, where it was told before
        file.close()


@contextmanager
def _temporary_folder_named() -> Iterator[None]:
    """A file without a name could not tell where there is no room."""
    try:
        yield
    except OSError as error:
        error.filename = tempfile.gettempdir()
        raise


class SpooledValues:
    """Values of turns, of which those of one system and metric are read at a time."""

    def __init__(self, spooled: SpooledFiles) -> None:
        self._spooled = spooled

    def read(self, label: str, system: str) -> tuple[list[str], Floats | None]:
        ids: list[str] = []
        values: list[Floats] = []
        for table in self._tables():
            if table["metric"][0].as_py() == label and table["system"][0].as_py() == system:
                ids += table["id"].to_pylist()
                values.append(table["value"].to_numpy())
        return ids, np.concatenate(values) if values else None

    def _tables(self) -> Iterator[Any]:
        import pyarrow.parquet as pq

        for file in self._spooled.files(VALUES):
            part = pq.ParquetFile(file)
            for group in range(part.num_row_groups):
                table = part.read_row_group(group)
                if len(table):
                    yield table

    def save(self, path: Path) -> None:
        with path.open("wb") as target:
            writer = TurnValuesWriter(target)
            for file in self._spooled.files(VALUES):
                writer.copy(file)
            writer.close()


class Buffer(io.BytesIO):
    """A file in memory whose content can be taken after a writer closed it."""

    def close(self) -> None:
        pass
