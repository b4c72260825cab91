"""Files and directories that are either whole or absent."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

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
    if not directory.exists():
        _check_parents(directory)


def check_writable_file(path: Path, overwrite: bool, inputs: Iterable[Path] = ()) -> None:
    """Refuses a file that is there already, before any work is done: with `overwrite`, only one of the `inputs`."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise InputError("is there and is not a plain file; choose another name", path)
    if path.exists() and not overwrite:
        raise InputError("is there already and was left as it is; choose another name or pass --overwrite", path)
    if path.exists() and any(given.exists() and path.samefile(given) for given in inputs):
        raise InputError("is what is read, and is not overwritten; choose another name", path)
    _check_parents(path)


def _check_parents(path: Path) -> None:
    if not next(parent for parent in path.absolute().parents if parent.exists()).is_dir():
        raise InputError("cannot be made: a part of its path is a file", path)


@contextmanager
def whole_file(path: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """A file beside the target, compressed if the name ends in .gz; it is moved into place when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        new = partial / "new"
        with new.open("wb") as file:
            if path.suffix.lower() == ".gz":
                # Neither name nor time: same content, same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
                    yield cast(BinaryIO, packed)
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        check_writable_file(path, overwrite)
        new.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
