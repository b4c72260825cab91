"""Answers kept for good: a checksummed SQLite file, from which nothing is ever evicted."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dialogauge.endpoint.chat import ChatAnswer, ChatRequest, EndpointError, canonical
from dialogauge.files import cache_folder
from dialogauge.sqlite_file import connect, transaction

NAME = "answers.sqlite"
VERSION = 1
SCHEMA = ("CREATE TABLE answers (key BLOB PRIMARY KEY, digest BLOB NOT NULL, value BLOB NOT NULL) WITHOUT ROWID",)
LOG = 1 << 22
BATCH = 500
"""Keys in one query."""


class Answers:
    """Every answer under the whole request it belongs to. Any number of threads and processes may use the file at once;
    of two answers to one request the first stays. An answer that was put is there after a kill -9.

    What cannot be read or written is an error, unlike with vectors: to ask again costs money, and may give another
    answer. A single damaged answer is dropped, noted, and asked for again.
    """

    def __init__(self, path: Path | None = None) -> None:
        """None: in a temporary folder, and gone afterwards."""
        self.path = path
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.problems: list[str] = []
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, ChatAnswer]:
        """Those that are there, by their keys."""
        found = {}
        for key, record in self._records(keys):
            found[key] = ChatAnswer(record["status"], record["answer"])
        return found

    def missing(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those of the keys that have no answer here; none is read for it."""
        wanted = list(dict.fromkeys(keys))
        found: set[bytes] = set()
        for start in range(0, len(wanted), BATCH):
            found |= {key for (key,) in self._selected("key", wanted[start : start + BATCH])}
        return {*wanted} - found

    def records(self, keys: Sequence[bytes]) -> Iterator[dict[str, Any]]:
        """What a kept run holds of each, in this order: url, sample, request, status and answer."""
        for start in range(0, len(keys), BATCH):
            batch = keys[start : start + BATCH]
            found = dict(self._records(batch))
            yield from (found[key] for key in batch if key in found)

    def put(self, url: str, request: ChatRequest, answer: ChatAnswer) -> ChatAnswer:
        """Keeps an answer, and gives the one that is kept: another process may have been first."""
        key = request.key(url)
        record = {
            "url": url,
            "sample": request.sample,
            "request": request.body,
            "status": answer.status,
            "answer": answer.body,
        }
        value = zlib.compress(canonical(record), 6)
        with self._lock:
            try:
                db = self._db(create=True)
                with transaction(db):
                    db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (key, _digest(key, value), value))
            except (sqlite3.Error, OSError) as error:
                raise self._failed("written", error) from error
        return self.get([key]).get(key, answer)

    def __len__(self) -> int:
        with self._lock:
            try:
                return int(self._db().execute("SELECT count(*) FROM answers").fetchone()[0])
            except FileNotFoundError:
                return 0
            except (sqlite3.Error, OSError) as error:
                raise self._failed("read", error) from error

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def __del__(self) -> None:
        if getattr(self, "_opened", None) is not None:
            self.close()

    def _records(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        wanted = list(dict.fromkeys(keys))
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            for key, digest, value in self._selected("key, digest, value", batch):
                if isinstance(value, bytes) and digest == _digest(key, value):
                    yield key, json.loads(zlib.decompress(value))
                else:
                    self._drop(key)

    def _selected(self, columns: str, keys: Sequence[bytes]) -> list[Any]:
        marks = ",".join("?" * len(keys))
        with self._lock:
            try:
                return self._db().execute(f"SELECT {columns} FROM answers WHERE key IN ({marks})", keys).fetchall()
            except FileNotFoundError:
                return []
            except (sqlite3.Error, OSError) as error:
                raise self._failed("read", error) from error

    def _drop(self, key: bytes) -> None:
        problem = f"damaged answers in {self.path} were dropped and are asked for again"
        if problem not in self.problems:
            self.problems.append(problem)
        with self._lock:
            try:
                self._db().execute("DELETE FROM answers WHERE key = ?", (key,))
            except (sqlite3.Error, OSError) as error:
                raise self._failed("written", error) from error

    def _db(self, create: bool = False) -> sqlite3.Connection:
        if self._opened is None:
            if create and self.path is None:
                self._temporary = tempfile.TemporaryDirectory(prefix="dialogauge-")
                self.path = Path(self._temporary.name) / NAME
            if self.path is None or not (create or self.path.exists()):
                raise FileNotFoundError(NAME)
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._opened = connect(self.path, SCHEMA, VERSION, LOG, create=create)
        return self._opened

    def _failed(self, how: str, error: Exception) -> EndpointError:
        return EndpointError(
            f"{self.path}: the answers kept here cannot be {how} ({error}); move the file away, or pass --no-cache to "
            "ask for all of them again and keep none"
        )


def kept_answers() -> Answers:
    """The user's own."""
    return Answers(cache_folder() / NAME)


def _digest(key: bytes, value: bytes) -> bytes:
    return blake2b(key + value, digest_size=16).digest()
