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

from dialogauge import __version__
from dialogauge.errors import InputError
from dialogauge.tables import to_json

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Result


def check_writable(directory: Path, overwrite: bool) -> None:
    """Refuses a directory that is there already, before any work is done."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise InputError("is there and is not a directory; choose another name", directory)
    if directory.exists() and not overwrite:
        raise InputError("is there already and was left as it is; choose another name or pass --overwrite", directory)
    if directory.exists() and any(directory.iterdir()) and not (directory / "run.json").exists():
        raise InputError("holds something other than a run (no run.json), and is not overwritten", directory)


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
    (directory / "scores.json").write_text(result.to_json() + "\n", encoding="utf-8")
    (directory / "run.json").write_text(to_json(_run_record(result, command)) + "\n", encoding="utf-8")
    result.turns_to_frame().to_parquet(directory / "turns.parquet", index=False)
    for file in directory.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())


def _run_record(result: Result, command: list[str] | None) -> dict[str, Any]:
    packages = ("numpy", "pandas", "pyarrow", "scipy")
    return {
        "schema": "dialogauge.run/1",
        "command": command or sys.argv,
        "versions": {
            "dialogauge": __version__,
            "python": platform.python_version(),
            **{package: version(package) for package in packages},
        },
        "settings": asdict(result.settings),
        "signatures": {score.metric: score.signature for score in result.scores},
        "files": [asdict(file) for file in result.files],
    }
