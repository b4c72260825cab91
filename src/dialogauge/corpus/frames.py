"""What Python programs have in memory, as a corpus: records, data frames, Arrow tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import IOBase
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import Loading, stream
from dialogauge.corpus.readers.turns import spelled_out
from dialogauge.corpus.reading.columns import FIELDS, ColumnMap, gather_ratings, refuse_names
from dialogauge.corpus.reading.json import plain, refuse_surrogates
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.corpus.reading.remote import input_path
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, describe, quote, require_arrow

TAKEN = (
    "a Corpus, a path or several, a list of dicts or Turns, a pandas DataFrame, or what gives Arrow tables (a polars "
    "DataFrame, a Hugging Face Dataset)"
)
_BATCH = 1024


class ArrowStream(Protocol):
    """What holds an Arrow table: frames of polars and pandas, `pyarrow.Table`, and many others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


CorpusLike: TypeAlias = (
    Corpus
    | Loading
    | str
    | PathLike[str]
    | Iterable[str | PathLike[str]]
    | Iterable[Mapping[str, Any] | Turn]
    | ArrowStream
)
"""What turns can be read from."""


def as_corpus(given: CorpusLike) -> Corpus:
    """All turns of whatever holds turns."""
    return collected(as_source(given))


def as_source(given: CorpusLike) -> Corpus | Loading:
    """The turns of whatever holds turns, files and tables as a stream."""
    if isinstance(given, Corpus | Loading):
        return given
    if isinstance(given, str | PathLike):
        return stream(input_path(given))
    if _is_frame(given):
        return read_frame(given)
    refused = InputError(f"expected {TAKEN}; found {type(given).__name__}")
    if isinstance(given, Mapping | bytes | IOBase) or not isinstance(given, Iterable):
        raise refused
    try:
        items: Iterator[Any] = iter(given)
    except TypeError:
        raise refused from None
    for first in items:
        if isinstance(first, str | PathLike):
            return stream([input_path(path) for path in _only_paths(chain([first], items))])
        if not isinstance(first, Mapping | Turn):
            raise InputError(f"expected {TAKEN}; found {type(given).__name__} of {type(first).__name__}")
        return read_records(chain([first], items))
    raise InputError("expected turns, found none")


def collected(source: Corpus | Loading) -> Corpus:
    if isinstance(source, Corpus):
        return source
    turns = list(source.turns())
    return Corpus(turns, tuple(source.files), tuple(source.caveats), frozenset(source.users))


def read_records(
    records: Iterable[Mapping[str, Any] | Turn],
    *,
    system: str = "system",
    mapping: ColumnMap = NOTHING,
    skip_invalid: bool = False,
) -> Loading:
    if _is_frame(records) or isinstance(records, Mapping | str) or not isinstance(records, Iterable):
        raise InputError(f"expected a list of dicts or Turns, found {type(records).__name__}")
    return _InMemory(_Rows(records, None), system, mapping, skip_invalid)


def read_frame(
    frame: Any, *, system: str = "system", mapping: ColumnMap = NOTHING, skip_invalid: bool = False
) -> Loading:
    if not _is_frame(frame):
        wanted = "a data frame of pandas or polars, a Hugging Face Dataset or another table of Arrow"
        raise InputError(f"expected {wanted}, found {type(frame).__name__}")
    return _InMemory(_rows_of(frame), system, mapping, skip_invalid)


@dataclass(frozen=True)
class _Rows:
    rows: Iterable[Any]
    columns: list[str] | None
    """None where each row has names of its own."""


class _InMemory(Loading):
    """Rows that a program has, on their way to turns: read, checked and counted as those of files are."""

    def __init__(self, rows: _Rows, system: str, mapping: ColumnMap, skip_invalid: bool) -> None:
        if isinstance(mapping, Mapping):  # frames may number their columns
            mapping = {field: str(column) if isinstance(column, int) else column for field, column in mapping.items()}
        super().__init__([], None, skip_invalid, mapping)
        if not isinstance(system, str) or not system.strip():
            raise InputError(f"system: expected a name, found {describe(system)}")
        self._rows = rows
        self._system = system

    def turns(self) -> Iterator[Turn]:
        self._begin()
        reading = _RowReading(Path("records"), self._how.skip_invalid, self._positions, self._how.mapping, self._system)
        try:
            if self._rows.columns is not None:
                refuse_names(self._rows.columns, self._how.mapping, None)
            yield from self._accepted(_turns(self._rows, reading), 0, reading)
        except InputError as error:
            raise InputError(_in_python(error.message), None, error.line) from None
        self.caveats = [Caveat(each.code, _in_python(each.message)) for each in self.caveats]


class _RowReading(Reading):
    """An error names the row; there is no file."""

    record_name = "row"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.place = None


def _turns(rows: _Rows, reading: Reading) -> Iterator[LocatedTurn]:
    for number, row in enumerate(rows.rows, start=1):
        with reading.record(number):
            yield number, row if isinstance(row, Turn) else turn(_fields(row, rows, reading), reading)


def _fields(row: Any, rows: _Rows, reading: Reading) -> dict[str, Any]:
    """The row under our names; binary columns that are not ours are left out."""
    if not isinstance(row, Mapping):
        raise InputError(f"expected a dict or a Turn, found {type(row).__name__}")
    cells = {str(name): value for name, value in row.items() if name in FIELDS or not isinstance(value, bytes)}
    try:
        cells = plain(cells)
        refuse_surrogates(cells)
    except RecursionError:
        raise InputError("nested too deeply") from None
    fields = reading.columns.rename(cells)
    return gather_ratings(fields if rows.columns is None else spelled_out(fields))


def _in_python(message: str) -> str:
    """The command line's --map is the keyword `mapping`."""
    return message.replace("--map ", "mapping ")


def _only_paths(items: Iterable[Any]) -> Iterator[str | PathLike[str]]:
    for item in items:
        if not isinstance(item, str | PathLike):
            raise InputError(f"expected paths alone, found {type(item).__name__} among them")
        yield item


def _is_frame(given: Any) -> bool:
    if isinstance(given, type):
        return False
    return _is_pandas(given) or _is_dataset(given) or hasattr(given, "__arrow_c_stream__") or hasattr(given, "to_arrow")


def _is_dataset(given: Any) -> bool:
    """Of Hugging Face, in memory or streamed; a dict of splits has no `iter`."""
    return hasattr(given, "with_format") and hasattr(given, "iter")


def _is_pandas(given: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(given, pandas.DataFrame)


def _rows_of(frame: Any) -> _Rows:
    if _is_pandas(frame):
        return _rows_of_pandas(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        require_arrow(f"a table that is no pandas frame ({type(frame).__name__})")
        import pyarrow as pa

        try:
            batches = pa.RecordBatchReader.from_stream(frame)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"expected a table, found {type(frame).__name__}: {quote(str(error))}") from None
        return _Rows(_rows_of_batches(batches), list(batches.schema.names))
    if _is_dataset(frame) and (getattr(frame, "format", None) or {}).get("type") == "custom":
        return _Rows(frame, None)  # it has a transform, which Arrow would not see
    if _is_dataset(frame):
        # A Hugging Face dataset that was filtered or shuffled holds the whole table and a list of places in it.
        tables = frame.with_format("arrow").iter(_BATCH)
        return _Rows(_rows_of_batches(tables), list(frame.column_names or ()) or None)
    return _rows_of(frame.to_arrow())


def _rows_of_batches(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for start in range(0, len(batch), _BATCH):
            try:
                rows = batch.slice(start, _BATCH).to_pylist()
            except Exception as error:  # of many unrelated classes: times that Python has not, bytes that are no text
                raise InputError(f"expected values that Python can hold, found: {quote(str(error))}") from None
            yield from rows


def _rows_of_pandas(frame: Any) -> _Rows:
    """An index that has a name is a column; one without, as pandas numbers rows, is left out."""
    levels = [place for place, name in enumerate(frame.index.names) if name is not None]
    columns = [frame.index.get_level_values(place) for place in levels]
    columns += [frame.iloc[:, place] for place in range(len(frame.columns))]
    names = [str(name) for name in (*(frame.index.names[place] for place in levels), *frame.columns)]
    return _Rows((dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)), names)
