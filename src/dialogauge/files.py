"""Files and directories that are either whole or absent."""

from __future__ import annotations

import gzip
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from dialogauge.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves stays there
    fcntl = None  # type: ignore[assignment]

NEW, OLD, LOCK = "new", "old", "dialogauge.lock"
"""What an unfinished directory holds: what is written, what it replaces, and a lock that ends with its process."""
_UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{16}")
_under_way: set[Path] = set()
"""The unfinished directories of this process."""


def check_writable(directory: Path, overwrite: bool, files: Sequence[str], what: str) -> None:
    """Refuses a directory that is there already, before any work is done: with `overwrite`, only one that is no such
    thing (`what`: "a run"). It is one if it is empty, or holds the first of its `files` and nothing that is not among
    them."""
    _refuse_nul(directory)
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
    _refuse_nul(path)
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise InputError("is there and is not a plain file; choose another name", path)
    if path.exists() and not overwrite:
        raise InputError("is there already and was left as it is; choose another name or pass --overwrite", path)
    if path.exists() and any(given.exists() and path.samefile(given) for given in inputs):
        raise InputError("is what is read, and is not overwritten; choose another name", path)
    _check_parents(path)


def expanded(path: str | Path) -> Path:
    """The path with ~ spelled out; as it stands where ~ names someone who has no home here."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _refuse_nul(path: Path) -> None:
    if "\0" in str(path):
        raise InputError(f"no file can have this name: {str(path)!r}")


def _check_parents(path: Path) -> None:
    if not next(parent for parent in path.absolute().parents if parent.exists()).is_dir():
        raise InputError("cannot be made: a part of its path is a file", path)


@contextmanager
def whole_file(path: Path, overwrite: bool) -> Iterator[BinaryIO]:
    """A file beside the target, compressed if the name ends in .gz; it is moved into place when all went well."""
    with unfinished(path) as partial:
        new = partial / NEW
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


@contextmanager
def whole_directory(directory: Path) -> Iterator[Path]:
    """An empty directory beside the target; what is written to it is moved into place when all went well. A process
    that is killed between the two moves of an overwrite leaves the target absent; whoever writes there next restores
    it."""
    with unfinished(directory) as partial:
        new = partial / NEW
        new.mkdir()
        yield new
        for file in new.iterdir():
            with file.open("rb") as written:
                os.fsync(written.fileno())
        if directory.exists():
            directory.rename(partial / OLD)
        new.rename(directory)


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A hidden directory beside the target, gone afterwards. What killed processes left there goes first."""
    _refuse_nul(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target.parent)
    lock = None
    while lock is None:
        partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        _under_way.add(partial)  # before it is there: a signal may come at any moment
        try:
            partial.mkdir(mode=0o700)
            lock = _locked(partial)
        except OSError:
            _under_way.discard(partial)
            raise
    try:
        yield partial
    finally:
        _remove(partial)
        lock.close()
        _under_way.discard(partial)


def remove_under_way() -> None:
    """Removes what this process has begun to write, before it ends at once."""
    for partial in list(_under_way):
        _remove(partial)


def remove_abandoned(folder: Path) -> None:
    """Removes the unfinished directories in a folder whose processes are no more: nothing holds their lock."""
    for partial in folder.glob(".*.????????????????"):
        if fcntl is not None and is_unfinished(partial):
            with suppress(OSError), _opened(partial / LOCK) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(partial)
        elif _UNFINISHED.fullmatch(partial.name):
            with suppress(OSError):  # empty where a process was killed just before the lock or just after it
                partial.rmdir()


def is_unfinished(path: Path) -> bool:
    """Whether it was made by `unfinished`."""
    try:
        named = _UNFINISHED.fullmatch(path.name) and not path.is_symlink()
        return bool(named) and {LOCK} <= {inside.name for inside in path.iterdir()} <= {LOCK, NEW, OLD}
    except OSError:
        return False


def _locked(partial: Path) -> BinaryIO | None:
    """The lock of a directory just made; None where another process took it for abandoned in this very moment."""
    try:
        lock = (partial / LOCK).open("xb")
    except FileNotFoundError:
        return None
    if fcntl is not None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        except OSError:  # a file system without locks, on which nothing is ever taken for abandoned
            return lock
    if not (partial / LOCK).exists():
        lock.close()
        return None
    return lock


def _opened(lock: Path) -> BinaryIO:
    """Without waiting, should it be a pipe."""
    return os.fdopen(os.open(lock, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW), "r+b", buffering=0)


def _remove(partial: Path) -> None:
    """What was to be replaced goes back to its place if nothing else stands there."""
    if name := _UNFINISHED.fullmatch(partial.name):
        target = partial.with_name(name[1])
        with suppress(OSError):
            if not target.exists():
                (partial / OLD).rename(target)
    shutil.rmtree(partial, ignore_errors=True)


def cache_folder() -> Path:
    """$DIALOGAUGE_CACHE, else the user's cache folder. Everything in it can be deleted at any time."""
    if given := os.environ.get("DIALOGAUGE_CACHE"):
        return expanded(given)
    from platformdirs import user_cache_path

    return user_cache_path("dialogauge", appauthor=False, opinion=False)
