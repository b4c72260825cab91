"""Vectors kept between runs, on disk. Whatever happens to the files, no run fails for it and no value is wrong."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self, TypeVar

from dialogauge import sqlite_file
from dialogauge.encode.cache.parts import Generations
from dialogauge.encode.cache.store import CacheFile, CacheHits, Use
from dialogauge.errors import InputError
from dialogauge.files import cache_folder
from dialogauge.sqlite_file import is_busy

LIMIT = 4 << 30
PAUSE = 60.0
"""Seconds without another attempt after one that failed: each may have to wait for a lock."""

SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(?:([KMGT]?)(I?)B)?", re.IGNORECASE)

# What passes, or what a new file would not help with. Any other error of SQLite says that the file is damaged.
PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_NOLFS,
}
UNREADABLE = {sqlite3.SQLITE_IOERR | kind << 8 for kind in (1, 32, 33)}
"""SQLITE_IOERR_READ, _DATA and _CORRUPTFS, the last two of which not every Python has names for."""

Access = Literal["read", "written"]
CONSEQUENCE: dict[Access, str] = {"read": "vectors are computed again", "written": "new vectors are not kept"}
T = TypeVar("T")


@dataclass(frozen=True)
class CacheStatus:
    """What the cache takes. On disk there are also free pages, to be used again, and what is yet to be written back."""

    folder: Path
    entries: int
    bytes_in_use: int
    bytes_on_disk: int
    limit: int
    oldest_use: datetime | None
    """To about an hour, as is the newest."""
    newest_use: datetime | None


class Cache:
    """Values under keys that say all that a value depends on, so that no value is ever out of date.

    Any number of processes on one machine, and of threads, may use it at once. Several machines that share the folder
    over a network can damage it, as SQLite's log needs shared memory; then it begins anew.
    """

    problems: list[str]
    """What went wrong and was worked around, each said once."""

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        self._store: CacheFile | None = None
        self._number = 0
        self.problems = []
        self.folder = cache_folder() if folder is None else folder
        self.limit = default_limit() if limit is None else limit
        self._generations = Generations(self.folder)
        self._lock = threading.RLock()
        self._paused: dict[Access, float] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there, whole and as they were put."""
        if not keys:
            return {}
        with self._lock:
            found = self._attempt("read", lambda opened: opened.get(keys)) or CacheHits({}, [], [])
            if found.damaged:
                self._note(f"damaged vectors in the cache in {self.folder} were dropped and are computed again")
                self._attempt("written", lambda opened: opened.drop(found.damaged))
            if found.stale and not (self._store and self._store.frozen):
                self._attempt("written", lambda opened: opened.touch(found.stale))
        return found.values

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keeps the values. Past the limit the least recently used go; a value above the limit is not kept at all."""
        if entries and self.limit:
            self._attempt("written", lambda opened: opened.put(entries), create=True)

    def status(self) -> CacheStatus:
        with self._lock:
            disk = 0
            with suppress(OSError):
                disk = self._generations.bytes_on_disk()
            use = self._attempt("read", CacheFile.use) or Use(0, 0, None, None)
        return CacheStatus(self.folder, use.entries, use.bytes, disk, self.limit, _date(use.oldest), _date(use.newest))

    def clear(self) -> int:
        """Removes everything and gives the space back to the disk. How many entries there were."""
        return self._attempt("written", CacheFile.clear) or 0

    def close(self) -> None:
        """Lets the file go; the next call opens it again."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if opened := getattr(self, "_store", None):
            opened.close()

    def _attempt(self, kind: Access, work: Callable[[CacheFile], T], *, create: bool = False) -> T | None:
        """The work's result; None where there is no file, or where what went wrong is noted instead."""
        with self._lock:
            if time.monotonic() < self._paused.get(kind, 0.0):
                return None
            for last in (False, True):
                number = None
                try:
                    number, there = self._current()
                    return work(self._open(number, there)) if there or create else None
                except (sqlite3.ProgrammingError, sqlite3.InterfaceError):  # a defect of ours
                    raise
                except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
                    if number is None or last or not self._move_on(number, error):
                        self._give_up(kind, error)
                        return None
        return None

    def _current(self) -> tuple[int, bool]:
        if self._store is not None:
            if not self._store.moved and not self._generations.path(self._number + 1).exists():
                return self._number, True
            self.close()
        return self._generations.current()

    def _open(self, number: int, there: bool) -> CacheFile:
        if self._store is None:
            path = self._generations.path(number)
            if not there:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._store = CacheFile(path, self.limit, create=not there, frozen=there and not _writable(path))
            self._number = number
        return self._store

    def _move_on(self, number: int, error: Exception) -> bool:
        """Whether there is another file to try: one that another process began, or the next, begun here. All that find
        a file damaged at once make the same next one, together."""
        path = self._generations.path(number)
        try:
            if _is_damage(error, path):
                self._note(f"{path} is damaged ({error}): the cache begins anew, and vectors are computed again")
            elif path.exists():
                return False
        except OSError:  # a folder in which nothing may be looked for
            return False
        self.close()
        try:
            if self._generations.current() == (number, True):
                CacheFile(self._generations.path(number + 1), self.limit, create=True).close()
        except (sqlite3.Error, OSError):
            return False
        return True

    def _give_up(self, kind: Access, error: Exception) -> None:
        self._paused[kind] = time.monotonic() + PAUSE
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        if is_busy(error):
            reason = f"another process kept it locked for {sqlite_file.WAIT:.0f} seconds"
        self._note(f"the cache in {self.folder} cannot be {kind} ({reason}): {CONSEQUENCE[kind]}")

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def default_limit() -> int:
    """$DIALOGAUGE_CACHE_SIZE, such as 4GiB, 500 MB, 1.5gb or 100000; else 4 GiB. A kB is 1000 bytes, a KiB 1024."""
    given = os.environ.get("DIALOGAUGE_CACHE_SIZE", "").strip()
    if not given:
        return LIMIT
    match = SIZE.fullmatch(given)
    if match is None or (match[3] and not match[2]):
        raise InputError(f"DIALOGAUGE_CACHE_SIZE is {given!r}; expected a size like 4GiB, 500MB or a number of bytes")
    power = " KMGT".index((match[2] or " ").upper())
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def _is_damage(error: Exception, path: Path) -> bool:
    if isinstance(error, OSError) or not _writable(path):
        return False
    code = getattr(error, "sqlite_errorcode", None) or 0
    return code in UNREADABLE or code & 0xFF not in PASSING


def _writable(path: Path) -> bool:
    return os.access(path.parent, os.W_OK | os.X_OK) and os.access(path, os.W_OK)


def _date(nanoseconds: int | None) -> datetime | None:
    return None if nanoseconds is None else datetime.fromtimestamp(nanoseconds / 1e9, UTC)
