"""Rows of Parquet files and of Hugging Face datasets saved to disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.parquet import batches, parquet_file, refuse_bomb
from dialogauge.corpus.reading.reader import Reading
from dialogauge.corpus.reading.source import opened
from dialogauge.errors import InputError, describe, quote

_BATCH = 1024
_STATE = "state.json"
_SPLITS = "dataset_dict.json"
_SHARDS = "*-[0-9]*-of-[0-9]*.parquet"


def parquet_rows(reading: Reading) -> Iterator[dict[str, Any]]:
    """The rows as Python values."""
    with parquet_file(reading.path) as file:
        for rows in batches(file, reading.path):
            yield from rows


def dataset_files(folder: Path) -> list[Path]:
    """The data files of a dataset, or of all splits of several, that `datasets` saved with `save_to_disk`, or of a
    repository of the hub; none where the folder is no such thing. Names that lead out of the folder are refused."""
    if (folder / _SPLITS).is_file():
        splits = _read(folder / _SPLITS).get("splits")
        if not isinstance(splits, list):
            raise InputError(f"splits: expected a list of names, found {describe(splits)}", folder / _SPLITS)
        return [file for split in splits for file in _files_of(_inside(folder, split, _SPLITS))]
    if (folder / _STATE).is_file():
        return _files_of(folder)
    return sorted(folder.glob(_SHARDS)) or sorted(folder.glob(f"data/{_SHARDS}"))


def dataset_rows(reading: Reading) -> Iterator[dict[str, Any]]:
    """The rows of a saved dataset, as Python values. Only Arrow and Parquet are read: nothing is run, nothing
    unpickled."""
    import pyarrow as pa

    files = dataset_files(reading.path)
    if not files:
        wanted = (
            "a dataset saved with save_to_disk (dataset_dict.json or state.json) or one of the hub (data/*.parquet)"
        )
        raise InputError(f"expected {wanted}, found none", reading.path)
    reading.files = files
    for file in files:
        if file.suffix == ".parquet":
            with parquet_file(file) as table:
                for rows in batches(table, file):
                    yield from rows
            continue
        try:
            with pa.memory_map(str(file)) as source, pa.ipc.open_stream(source) as found:
                unpacked = 0
                for batch in found:
                    unpacked += batch.nbytes
                    refuse_bomb(unpacked, file)
                    for start in range(0, len(batch), _BATCH):
                        yield from batch.slice(start, _BATCH).to_pylist()
        except (GeneratorExit, InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(f"expected Arrow's stream format, found: {quote(str(error))}", file) from None


def _files_of(folder: Path) -> list[Path]:
    state = _read(folder / _STATE)
    given = state.get("_data_files")
    if not isinstance(given, list):
        raise InputError(f"_data_files: expected a list of files, found {describe(given)}", folder / _STATE)
    if state.get("_indices_files"):
        why = "the dataset was filtered or shuffled without writing it anew; flatten_indices() before save_to_disk does"
        raise InputError(f"_indices_files: expected none, found some: {why}", folder / _STATE)
    names = [each.get("filename") if isinstance(each, dict) else each for each in given]
    return [_inside(folder, name, _STATE) for name in names]


def _inside(folder: Path, name: Any, told_by: str) -> Path:
    if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name or "\0" in name:
        raise InputError(f"expected names of files in this folder, found {describe(name)}", folder / told_by)
    if not (folder / name).exists():
        raise InputError(f"expected {quote(name)} beside it, found no such file", folder / told_by)
    return folder / name


def _read(path: Path) -> dict[str, Any]:
    with opened(path) as stream:
        raw = stream.read(1 << 24)
    try:
        return parse_object(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 text, found other bytes", path) from None
    except InputError as error:
        raise InputError(error.message, path) from None
