"""The SQLite file of a rating study: its tables, and connections to it for any number of threads and processes."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dialogauge.errors import InputError
from dialogauge.files import NEW, unfinished
from dialogauge.sqlite_file import connect, transaction, write_back

FILE = "study.sqlite"
VERSION = 1
LOG = 1 << 22
PATIENCE = 5.0
"""Seconds that answers under way get before a study is closed."""
SCHEMA = (
    "CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # What came in, as it came, in order: the export gives every turn back.
    "CREATE TABLE turn (id INTEGER PRIMARY KEY, record TEXT NOT NULL)",
    # What can be put on a screen. `turns`: the one that is rated, the two that are compared, or those of a dialogue.
    # `expected`: of an attention check, what an attentive rater answers.
    """CREATE TABLE item (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('rated', 'check', 'practice')),
        form TEXT NOT NULL CHECK (form IN ('turn', 'pair', 'dialogue')),
        turns TEXT NOT NULL, shown TEXT NOT NULL, expected TEXT, feedback TEXT NOT NULL DEFAULT '')""",
    # A person, or the place of one who has not come yet. `external` is the marketplace's id.
    """CREATE TABLE rater (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, external TEXT UNIQUE, parameters TEXT NOT NULL DEFAULT '{}',
        joined REAL, consented REAL, finished REAL, code TEXT, released REAL, excluded TEXT)""",
    # Only hashes: who reads the file learns no link.
    """CREATE TABLE token (
        hash BLOB PRIMARY KEY, role TEXT NOT NULL CHECK (role IN ('rater', 'organiser', 'join')),
        rater INTEGER REFERENCES rater) WITHOUT ROWID""",
    # `flip`: whether the second of two replies stands first on this rater's screen. `repeat`: meant to come again.
    """CREATE TABLE assignment (
        id INTEGER PRIMARY KEY, public_id TEXT NOT NULL UNIQUE, rater INTEGER NOT NULL REFERENCES rater,
        item INTEGER NOT NULL REFERENCES item, position INTEGER NOT NULL, repeat INTEGER NOT NULL DEFAULT 0,
        flip INTEGER NOT NULL DEFAULT 0, shown REAL, done REAL, seconds REAL, released REAL,
        UNIQUE (rater, position), UNIQUE (rater, item, repeat))""",
    "CREATE INDEX assignment_item ON assignment (item)",
    # A value is a number, a side of a pair, or null where the rater says that the question does not apply.
    """CREATE TABLE rating (
        assignment INTEGER NOT NULL REFERENCES assignment, dimension TEXT NOT NULL, value,
        PRIMARY KEY (assignment, dimension)) WITHOUT ROWID""",
    """CREATE TABLE event (
        id INTEGER PRIMARY KEY, at REAL NOT NULL, what TEXT NOT NULL, rater INTEGER, assignment INTEGER,
        detail TEXT NOT NULL DEFAULT '{}')""",
    *(
        f"CREATE TRIGGER event_no_{verb.lower()} BEFORE {verb} ON event BEGIN SELECT RAISE(ABORT, 'events stay'); END"
        for verb in ("UPDATE", "DELETE")
    ),
)


class Store:
    """Connections to one study's file: one for each operation under way, kept for the next. Every write is a
    transaction that is on the disk when it returns, after a power cut too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._under_way = 0
        self._changed = threading.Condition()
        self._writer = threading.Lock()
        self._closed = False

    @classmethod
    def create(cls, path: Path) -> Store:
        """A new file that no one else can read; SQLite gives its log the same mode."""
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Refuses what is no study, or one of another version."""
        if not path.is_file():
            raise InputError(f"is not a rating study (it has no {FILE})", path.parent)
        if not path.stat().st_size:
            raise InputError("is empty, and not a rating study", path)
        store = cls(path)
        try:
            with store.reading() as db:
                if not setting(db, "settings"):
                    raise sqlite3.DatabaseError("it has no settings")
        except sqlite3.Error as error:
            store.close()
            raise InputError(f"cannot be read as a rating study: {error}", path) from None
        return store

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading; what is read in one statement is of one moment."""
        db = self._take()
        try:
            yield db
        except BaseException as error:
            broken = isinstance(error, sqlite3.Error) or db.in_transaction
            if broken:
                db.close()  # whatever state it is in, no one meets it again
            self._give(None if broken else db)
            raise
        self._give(db)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; kept when it ends, or else undone whole. Threads wait for each other here, in turn: SQLite
        would let them sleep and try again, some of them for long."""
        with self._writer, self.reading() as db, transaction(db):
            yield db

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """All that is read is of one moment, whatever others write meanwhile."""
        with self.reading() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    def backup(self, target: Path) -> None:
        """A whole copy in one file, of one moment, also while raters answer. A plain copy of the file would lack what
        still stands in its log."""
        with unfinished(target) as partial:
            new = partial / NEW
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            copy = sqlite3.connect(new)
            try:
                with self.reading() as db:
                    db.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
            finally:
                copy.close()
            new.replace(target)

    def close(self) -> None:
        """Lets what is under way come to its end, refuses what comes later, and writes the log back, so that one file
        holds everything."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._under_way, PATIENCE)
            idle, self._idle = self._idle, []
        for place, db in enumerate(idle):
            if place == 0:
                with suppress(sqlite3.Error):  # another process reads: the log is whole, and is written back later
                    write_back(db)
            db.close()

    def _take(self) -> sqlite3.Connection:
        with self._changed:
            if self._closed:
                raise sqlite3.OperationalError("the study is closed")
            self._under_way += 1
            if self._idle:
                return self._idle.pop()
        try:
            db = connect(self.path, SCHEMA, VERSION, LOG)
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            self._give(None)
            raise
        return db

    def _give(self, db: sqlite3.Connection | None) -> None:
        with self._changed:
            self._under_way -= 1
            if db is not None:
                self._idle.append(db)
            self._changed.notify_all()


def note(
    db: sqlite3.Connection,
    at: float,
    what: str,
    rater: int | None = None,
    assignment: int | None = None,
    **detail: Any,
) -> None:
    """Adds an event. Events are never changed."""
    db.execute(
        "INSERT INTO event (at, what, rater, assignment, detail) VALUES (?, ?, ?, ?, ?)",
        (at, what, rater, assignment, json.dumps(detail)),
    )


def setting(db: sqlite3.Connection, key: str, default: str = "") -> str:
    row = db.execute("SELECT value FROM study WHERE key = ?", (key,)).fetchone()
    return default if row is None else str(row[0])


def put_setting(db: sqlite3.Connection, key: str, value: str) -> None:
    db.execute("INSERT INTO study VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))
