"""A SQLite file that many processes read and write at once, and that survives any of them being killed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PAGE = 16 * 1024
"""Vectors of 384 to 1024 numbers leave little of such a page empty."""
WAIT = 10.0
"""Seconds to wait for another process."""
SYNCHRONOUS = "NORMAL"
"""A power cut may cost the last entries, not the file."""


def connect(
    path: Path, schema: Sequence[str], version: int, log: int, *, create: bool = False, frozen: bool = False
) -> sqlite3.Connection:
    """Opens the file, and makes the schema where it is empty. Its log is written back beyond `log` bytes.

    `frozen` reads a file where nothing can be written, not even the locks that readers need.
    """
    mode = "immutable=1" if frozen else "mode=rwc" if create else "mode=rw"
    address = f"{path.absolute().as_uri()}?{mode}"
    db = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        for setting in (
            f"page_size = {PAGE}",
            "auto_vacuum = NONE",  # free pages are used again
            f"synchronous = {SYNCHRONOUS}",
            f"wal_autocheckpoint = {log // PAGE}",
            f"journal_size_limit = {log}",
            "cache_size = -16384",
            "cell_size_check = ON",
            "mmap_size = 0",  # a bad sector in a mapped file would kill the process
            "secure_delete = OFF",
        ):
            db.execute(f"PRAGMA {setting}").fetchall()
        if not frozen:
            _insist(db, "PRAGMA journal_mode = WAL")  # readers and a writer then do not wait for each other
        if not frozen and number(db, "PRAGMA user_version") == 0:
            with transaction(db):
                if number(db, "PRAGMA user_version") == 0:  # else another process was first
                    for statement in (*schema, f"PRAGMA user_version = {version}"):
                        db.execute(statement)
        if (found := number(db, "PRAGMA user_version")) != version:
            raise sqlite3.DatabaseError(f"version {found}, not {version}")
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk ends it by itself
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        raise


@contextmanager
def impatient(db: sqlite3.Connection) -> Iterator[None]:
    """Does not wait for other processes, and leaves undone what would have to."""
    db.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
    finally:
        db.execute(f"PRAGMA busy_timeout = {WAIT * 1000:.0f}")


def number(db: sqlite3.Connection, query: str) -> int:
    return int(db.execute(query).fetchone()[0])


def is_busy(error: Exception) -> bool:
    """Whether another process was in the way."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_BUSY


def write_back(db: sqlite3.Connection) -> None:
    """Empties the log, once no one reads from it."""
    _insist(db, "PRAGMA wal_checkpoint(TRUNCATE)")


def _insist(db: sqlite3.Connection, statement: str) -> None:
    """For what SQLite does not wait for by itself, or not always: other processes that change the mode of a new file,
    or write the log back, at the same time."""
    end = time.monotonic() + WAIT
    while _is_refused(db, statement):
        if time.monotonic() > end:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        time.sleep(0.01)


def _is_refused(db: sqlite3.Connection, statement: str) -> bool:
    try:
        return bool(db.execute(statement).fetchone()[0] == 1)  # a checkpoint says it so
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return True
        raise
