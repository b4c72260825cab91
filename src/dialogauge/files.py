"""Files and directories that are either whole or absent."""

from __future__ import annotations

import errno
import gzip
import math
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
STORES = ("s3", "gs", "hdfs")
"""What names of files in stores begin with, before ://."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""What the system says of a disk that is full or broken."""
UNPACKED, RATIO = 100_000_000, 100
"""A packed file may unpack to so many bytes, and beyond that to so many times its size: text and numbers are rarely
packed tighter."""
ANY_SIZE = "DIALOGAUGE_ANY_SIZE"
"""The variable that lifts this limit and that on lines, in this process and in those that it starts; `--any-size` sets
it."""
THERE = "is there already and was left as it is; choose another name or pass --overwrite"
_under_way: set[Path] = set()
"""The unfinished directories of this process."""


def check_writable(directory: Path, overwrite: bool, files: Sequence[str], what: str) -> None:
    """Refuses a directory that is there already, before any work is done: with `overwrite`, only one that is no such
    thing (`what`: "a run"). It is one if it is empty, or holds the first of its `files` and nothing that is not among
    them."""
    _refuse_name(directory)
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise InputError("is there and is not a directory; choose another name", directory)
    if directory.exists() and not overwrite:
        raise InputError(THERE, directory)
    found = {path.name for path in directory.iterdir()} if directory.exists() else set()
    if others := found - set(files):
        names = ", ".join(repr(name) for name in sorted(others)[:3])
        raise InputError(f"holds more than {what} ({names}) and is not overwritten", directory)
    if found and files[0] not in found:
        raise InputError(f"is not {what} (it has no {files[0]}) and is not overwritten", directory)
    _check_can_be_made(directory)


def check_writable_file(path: Path, overwrite: bool, inputs: Iterable[Path] = ()) -> None:
    """Refuses a file that is there already, before any work is done: with `overwrite`, only one of the `inputs`."""
    _refuse_name(path)
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise InputError("is there and is not a plain file; choose another name", path)
    if path.exists() and not overwrite:
        raise InputError(THERE, path)
    if path.exists() and any(given.exists() and path.samefile(given) for given in inputs):
        raise InputError("is what is read, and is not overwritten; choose another name", path)
    _check_can_be_made(path)


def expanded(path: str | Path) -> Path:
    """The path with ~ spelled out; as it stands where ~ names someone who has no home here."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def plain_file(path: Path) -> Path:
    """The path, to be read at once; an error of the system where it leads to a pipe, which would be waited for, or to a
    device, which might never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    return path


def any_size() -> bool:
    return os.environ.get(ANY_SIZE, "") not in ("", "0")


def most_unpacked(size: int) -> float:
    """How many bytes a packed file of so many may unpack to."""
    return math.inf if any_size() else max(UNPACKED, RATIO * size)


def _refuse_name(path: Path) -> None:
    """Names that no file can have, and those of a store (`s3://BUCKET/KEY`), which would become folders here."""
    if len(path.parts) > 1 and path.parts[0] in {f"{store}:" for store in STORES}:
        raise InputError("files of a store are read alone; write to this machine, and copy it from there", path)
    if "\0" in str(path):
        raise InputError(f"no file can have this name: {str(path)!r}")


def _check_can_be_made(path: Path) -> None:
    """By making something beside it: modes say nothing of a file system that is read-only, or of a quota."""
    parent = next(parent for parent in path.absolute().parents if parent.exists())
    if not parent.is_dir():
        raise InputError("cannot be made: a part of its path is a file", path)
    tried = parent / _hidden(path)
    try:
        tried.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(f"cannot be made in {parent}: {error.strerror or error}", path) from None
    with suppress(OSError):  # where another process took it for abandoned already
        tried.rmdir()


def _hidden(target: Path) -> str:
    """A name of its own for what is on its way to the target."""
    return f".{target.name}.{secrets.token_hex(8)}"


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
        _move_file(new, path, overwrite)
        _sync_folder(path.parent)


@contextmanager
def whole_directory(directory: Path, overwrite: bool = False) -> Iterator[Path]:
    """An empty directory beside the target; what is written to it is moved into place when all went well. Of several
    processes that write to one target without `overwrite`, exactly one succeeds. One that is killed between the two
    moves of an overwrite leaves the target absent; whoever writes there next restores it."""
    with unfinished(directory) as partial:
        new = partial / NEW
        new.mkdir()
        yield new
        for file in new.iterdir():
            with file.open("rb") as written:
                os.fsync(written.fileno())
        _sync_folder(new)
        _move_directory(new, directory, overwrite)
        _sync_folder(directory.parent)


def _move_file(new: Path, path: Path, overwrite: bool) -> None:
    """Unless something may be overwritten, by a link: it fails where another process was first."""
    if overwrite:
        new.replace(path)
        return
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise InputError(THERE, path) from None
    except OSError:  # a file system without links
        try:
            path.open("xb").close()
        except FileExistsError:
            raise InputError(THERE, path) from None
        new.replace(path)


def _move_directory(new: Path, directory: Path, overwrite: bool) -> None:
    """A directory takes the place of none but an empty one. What is to be overwritten is moved away first, and again
    where another process has put its own there meanwhile."""
    while True:
        try:
            new.rename(directory)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if not overwrite:
                raise InputError(THERE, directory) from None
        else:
            return
        old = new.with_name(OLD)
        shutil.rmtree(old, ignore_errors=True)
        with suppress(FileNotFoundError):
            directory.rename(old)


def _sync_folder(folder: Path) -> None:
    """So that names outlast a power failure, where the file system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A hidden directory beside the target, gone afterwards. What killed processes left there goes first."""
    _refuse_name(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target.parent)
    lock = None
    while lock is None:
        partial = target.with_name(_hidden(target))
        _under_way.add(partial)  # before it is there: a signal may come at any moment
        try:
            partial.mkdir(mode=0o700)
            lock = _locked(partial)
        except OSError:
            with suppress(OSError):
                partial.rmdir()
            _under_way.discard(partial)
            raise
    try:
        yield partial
    except OSError as error:
        if error.errno in NO_ROOM:
            error.filename, error.filename2 = str(target), None  # which the system does not say of a write
        raise
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
    """What was to be replaced goes back to its place if nothing else stands there. Where it cannot, all stays: the
    next process that writes there tries again."""
    if (name := _UNFINISHED.fullmatch(partial.name)) and (old := partial / OLD).exists():
        target = partial.with_name(name[1])
        if not target.exists():
            try:
                old.rename(target)
            except OSError:
                if not target.exists():
                    return
    for inside in (partial / NEW, partial / OLD):
        shutil.rmtree(inside, ignore_errors=True)
        with suppress(OSError):
            inside.unlink(missing_ok=True)
    if not any((partial / name).exists() for name in (NEW, OLD)):  # else the lock says whose it is
        with suppress(OSError):
            (partial / LOCK).unlink(missing_ok=True)
            partial.rmdir()


def cache_folder() -> Path:
    """$DIALOGAUGE_CACHE, else the user's cache folder. Everything in it can be deleted at any time."""
    if given := os.environ.get("DIALOGAUGE_CACHE"):
        return expanded(given)
    from platformdirs import user_cache_path

    return user_cache_path("dialogauge", appauthor=False, opinion=False)
