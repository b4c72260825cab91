"""Directories that are either whole or absent."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dialogauge.errors import InputError


def check_writable(directory: Path, overwrite: bool, files: Sequence[str], what: str) -> None:
    """Refuses a directory that is there already, before any work is done: with `overwrite`, only one that is no such
    thing (`what`: "a run"). It is one if it is empty, or holds the first of its `files` and nothing that is not among
    them."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise InputError("is there and is not a directory; choose another name", directory)
    if directory.exists() and not overwrite:
        raise InputError("is there already and was left as it is; choose another name or pass --overwrite", directory)
    found = {path.name for path in directory.iterdir()} if directory.exists() else set()
    if others := found - set(files):
        names = ", ".join(repr(name) for name in sorted(others)[:3])
        raise InputError(f"holds more than {what} ({names}) and is not overwritten", directory)
    if found and files[0] not in found:
        raise InputError(f"is not {what} (it has no {files[0]}) and is not overwritten", directory)
    if not directory.exists() and _first_parent(directory).is_file():
        raise InputError("cannot be made: a part of its path is a file", directory)


def _first_parent(directory: Path) -> Path:
    return next(parent for parent in directory.absolute().parents if parent.exists())


@contextmanager
def whole_directory(directory: Path) -> Iterator[Path]:
    """An empty directory beside the target; what is written to it is moved into place when all went well. A process
    that is killed leaves the target as it was; between the two moves of an overwrite it can be absent, never half."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        new, old = partial / "new", partial / "old"
        new.mkdir()
        yield new
        for file in new.iterdir():
            with file.open("rb") as written:
                os.fsync(written.fileno())
        if directory.exists():
            directory.rename(old)
        new.rename(directory)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
