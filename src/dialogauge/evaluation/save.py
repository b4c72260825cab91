"""A run on disk: a directory that is either whole or absent."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge import __version__
from dialogauge.errors import InputError
from dialogauge.evaluation.saved import MEASURES, RUN, SCHEMA, pack_samples
from dialogauge.tables import to_json

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Result

SCORES, TURNS = "scores.json", "turns.parquet"
FILES = {SCORES, TURNS, RUN, MEASURES}


def check_writable(directory: Path, overwrite: bool) -> None:
    """Refuses a directory that is there already, before any work is done."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise InputError("is there and is not a directory; choose another name", directory)
    if directory.exists() and not overwrite:
        raise InputError("is there already and was left as it is; choose another name or pass --overwrite", directory)
    others = {path.name for path in directory.iterdir()} - FILES if directory.exists() else set()
    if others:
        names = ", ".join(repr(name) for name in sorted(others)[:3])
        raise InputError(f"holds more than a run ({names}) and is not overwritten", directory)
    if not directory.exists() and _first_parent(directory).is_file():
        raise InputError("cannot be made: a part of its path is a file", directory)


def _first_parent(directory: Path) -> Path:
    return next(parent for parent in directory.absolute().parents if parent.exists())


def save_result(result: Result, directory: Path, *, overwrite: bool, command: list[str] | None) -> Path:
    """Writes beside the target under a temporary name, then moves into place. A run that is killed leaves
    the target as it was; between the two moves of an overwrite it can be absent, never half."""
    check_writable(directory, overwrite)
    directory.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        new, old = partial / "new", partial / "old"
        new.mkdir()
        _write_files(result, new, command)
        if directory.exists():
            directory.rename(old)
        new.rename(directory)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return directory


def _write_files(result: Result, directory: Path, command: list[str] | None) -> None:
    kept = [sample for sample in result.samples if not sample.groups]
    described, arrays = pack_samples(kept)
    if arrays:
        np.savez_compressed(directory / MEASURES, **arrays)
    (directory / SCORES).write_text(result.to_json() + "\n", encoding="utf-8")
    record = {**_run_record(result, command), "samples": described}
    (directory / RUN).write_text(to_json(record) + "\n", encoding="utf-8")
    _write_turns(result, directory / TURNS)
    for file in directory.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())


def _write_turns(result: Result, path: Path) -> None:
    """One row group for each system and metric: no table of all of them is ever in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("id", pa.string()), ("system", text), ("metric", text), ("value", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for sample in result.samples:
            if sample.values is None:
                continue
            same = pa.array(np.zeros(len(sample.ids), dtype=np.int32))
            columns = [
                pa.array(sample.ids, pa.string()),
                pa.DictionaryArray.from_arrays(same, [sample.system]),
                pa.DictionaryArray.from_arrays(same, [sample.label]),
                pa.array(sample.values),
            ]
            writer.write_table(pa.table(columns, schema=schema))


def _run_record(result: Result, command: list[str] | None) -> dict[str, Any]:
    packages = ("numpy", "pandas", "pyarrow", "scipy")
    return {
        "schema": SCHEMA,
        "command": command or sys.argv,
        "versions": {
            "dialogauge": __version__,
            "python": platform.python_version(),
            **{package: version(package) for package in packages},
        },
        "settings": asdict(result.settings),
        "compat": result.compat,
        "unit": result.unit,
        "systems": result.systems,
        "signatures": {score.metric: score.signature for score in result.scores},
        "files": [asdict(file) for file in result.files],
        "warnings": [asdict(caveat) for caveat in result.caveats],
    }
