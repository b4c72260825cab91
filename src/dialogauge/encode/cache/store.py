"""One file of checksummed values, and how tokens and vectors become values."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dialogauge.encode.base import Coverage, Pool, Text, Tokens, Vectors
from dialogauge.sqlite_file import PAGE, connect, impatient, number, transaction, write_back

LAYOUT = 2
"""Of packed entries; goes into their keys, so that entries of another layout are never found."""
HEAD = 5

VERSION = 1
SCHEMA = (
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, tag INTEGER NOT NULL UNIQUE, used INTEGER NOT NULL,"
    " digest BLOB NOT NULL, value BLOB NOT NULL)",
    "CREATE INDEX by_use ON entries (used)",
)
EMPTY = 4
"""Pages of a file without entries: the schema, the table and its two indexes."""
OVERHEAD = 100
"""Roughly the bytes an entry takes besides its value."""
KEPT = 0.9
"""What an eviction leaves, as a share of the limit, so that not every put evicts."""
USE_GRAIN = 3600.0
"""Seconds by which the recorded use may lag behind: most hits then write nothing."""
BATCH = 500
"""Tags in one query; old versions of SQLite take no more than 999."""
LARGEST = 1 << 29
"""Bytes of the largest value that is stored; SQLite's own bound is 10⁹ for a row."""

CacheRow = tuple[int, int, bytes, bytes]


class Output(NamedTuple):
    """What is wanted of a text: its tokens with their states, or one vector; after which layer."""

    kind: Pool | str
    layer: int


class Vector(NamedTuple):
    """One text's vector, how many of its tokens were cut off, and how many the vocabulary knows."""

    vector: Vectors
    dropped: int
    coverage: Coverage = Coverage()


Entry = Tokens | Vector


class CacheHits(NamedTuple):
    values: dict[bytes, bytes]
    damaged: list[bytes]
    stale: list[bytes]
    """Keys among the values whose recorded use is out of date."""


class Use(NamedTuple):
    entries: int
    bytes: int
    oldest: int | None
    """Nanoseconds since 1970, as is the newest."""
    newest: int | None


class CacheFile:
    """Holds the file open, for any number of threads that take turns."""

    def __init__(self, path: Path, limit: int, *, create: bool = False, frozen: bool = False) -> None:
        self.path = path
        self.limit = limit
        self.frozen = frozen
        self._log = min(max(limit // 16, 1 << 20), 1 << 25)
        self._db = connect(path, SCHEMA, VERSION, self._log, create=create, frozen=frozen)
        self._file = _identity(path)

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._db.close()

    @property
    def moved(self) -> bool:
        """Whether the file was deleted or replaced since it was opened."""
        return _identity(self.path) != self._file

    def get(self, keys: Sequence[bytes]) -> CacheHits:
        now = time.time_ns()
        found = CacheHits({}, [], [])
        wanted = {_tag(key): key for key in keys}
        tags = list(wanted)
        for start in range(0, len(tags), BATCH):
            batch = tags[start : start + BATCH]
            marks = ",".join("?" * len(batch))
            rows = self._db.execute(f"SELECT tag, used, digest, value FROM entries WHERE tag IN ({marks})", batch)
            for tag, used, digest, value in rows:
                key = wanted.get(tag)
                if key is None:
                    raise sqlite3.DatabaseError("an index leads to another entry")
                if not isinstance(value, bytes) or digest != _digest(key, value):
                    found.damaged.append(key)
                    continue
                found.values[key] = value
                if not isinstance(used, int) or not now - USE_GRAIN * 1e9 <= used <= now:
                    found.stale.append(key)
        return found

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Stores the entries and evicts what is then too much. Many megabytes become several transactions: other
        processes wait less long, and the log stays small."""
        self._bound_log()
        rows: list[CacheRow] = []
        size = 0
        for key, value in entries.items():
            if len(value) > min(self.limit, LARGEST):
                continue
            rows.append((_tag(key), time.time_ns(), _digest(key, value), value))
            size += len(value)
            if size > self._log:
                self._insert(rows)
                rows, size = [], 0
        if rows:
            self._insert(rows)

    def touch(self, keys: Sequence[bytes]) -> None:
        """Records a use. Where another process writes just now, the next hit will do."""
        now = time.time_ns()
        rows = [(now, _tag(key)) for key in keys]
        with impatient(self._db), transaction(self._db):
            self._db.executemany("UPDATE entries SET used = ? WHERE tag = ?", rows)

    def drop(self, keys: Sequence[bytes]) -> None:
        with transaction(self._db):
            self._db.executemany("DELETE FROM entries WHERE tag = ?", [(_tag(key),) for key in keys])

    def clear(self) -> int:
        """How many entries there were."""
        with transaction(self._db):
            removed = self._db.execute("DELETE FROM entries").rowcount
        self._shrink()
        return removed

    def use(self) -> Use:
        entries = number(self._db, "SELECT count(*) FROM entries")
        sane = f"FROM entries WHERE used BETWEEN 0 AND {time.time_ns()}"  # a flipped bit can put it anywhere
        oldest, newest = (self._db.execute(f"SELECT {end}(used) {sane}").fetchone()[0] for end in ("min", "max"))
        return Use(entries, self._in_use(), oldest and int(oldest), newest and int(newest))

    def _insert(self, rows: Sequence[CacheRow]) -> None:
        with transaction(self._db):
            self._db.executemany("INSERT OR REPLACE INTO entries (tag, used, digest, value) VALUES (?, ?, ?, ?)", rows)
        if self._in_use() > self.limit:
            while self._evict():
                pass
            if number(self._db, "PRAGMA page_count") * PAGE > self.limit + 4 * self._log:  # the limit was higher once
                self._shrink()

    def _evict(self) -> bool:
        """Deletes some of the least recently used entries; whether any had to go. Counted are whole pages, and a page
        that still holds another entry is not free: half of what is too much goes, then half of the rest."""
        with transaction(self._db):
            excess = self._in_use() - int(self.limit * KEPT)
            if excess <= 0:
                return False
            excess = min(excess // 2, self._log)
            oldest = []
            rows = self._db.execute("SELECT id, length(value) FROM entries ORDER BY used, id")
            for entry, size in rows:
                oldest.append((entry,))
                excess -= (size or 0) + OVERHEAD
                if excess <= 0:
                    break
            rows.close()
            if self._db.executemany("DELETE FROM entries WHERE id = ?", oldest).rowcount < 1:
                raise sqlite3.DatabaseError("pages are in use that belong to no entry")
        return True

    def _in_use(self) -> int:
        pages = number(self._db, "PRAGMA page_count") - number(self._db, "PRAGMA freelist_count")
        return max(0, pages - EMPTY) * PAGE

    def _shrink(self) -> None:
        """Gives free pages back to the disk, unless another process is in the way or there is no room for a copy."""
        with suppress(sqlite3.OperationalError):
            self._db.execute("VACUUM")
            write_back(self._db)

    def _bound_log(self) -> None:
        """The log is written back and used again whenever no one reads from it. With a reader that never ends (a
        stopped process) it would grow for ever: then nothing more is written."""
        log = Path(f"{self.path}-wal")
        if log.exists() and log.stat().st_size > 4 * self._log:
            write_back(self._db)


def keys(encoder: str, output: Output, texts: Iterable[Text]) -> list[bytes]:
    """128 bits for each text that name its vectors under an encoder. No text reads like a pair, and no two pairs
    alike, since the length of a pair's first text goes in."""
    start = hashlib.blake2b(f"{LAYOUT} {encoder} {output.kind} {output.layer}\n".encode(), digest_size=16)
    found = []
    for text in texts:
        hashed = start.copy()
        spelled = f"text {text}" if isinstance(text, str) else f"pair {len(text[0])} {text[0]}{text[1]}"
        hashed.update(spelled.encode("utf-8", "surrogatepass"))
        found.append(hashed.digest())
    return found


def size(entry: Entry) -> int:
    """Bytes in memory, with something for the objects themselves."""
    if isinstance(entry, Vector):
        return entry.vector.nbytes + 300
    return entry.states.nbytes + 13 * len(entry.ids) + 900


def pack(entry: Entry) -> bytes:
    """Numbers of 4 bytes, little-endian: how many tokens were cut, how many there are (-1 for a vector), the coverage,
    then ids, offsets, marks of special tokens, and the states."""
    if isinstance(entry, Vector):
        head = np.array([entry.dropped, -1, *entry.coverage], dtype="<i4")
        return head.tobytes() + entry.vector.astype("<f4").tobytes()
    whole = [[entry.dropped, len(entry.ids), *entry.coverage], entry.ids, entry.offsets.ravel(), entry.special]
    head = np.concatenate([np.asarray(part, dtype="<i4") for part in whole])
    return head.tobytes() + entry.states.astype("<f4").tobytes()


def unpack(data: bytes) -> Entry:
    numbers = np.frombuffer(data, dtype="<i4")
    dropped, count, tokens, unknown, illegible = numbers[:HEAD].tolist()
    coverage = Coverage(tokens, unknown, bool(illegible))
    values = np.frombuffer(data, dtype="<f4")
    if count < 0:
        return Vector(values[HEAD:], dropped, coverage)
    ids, offsets, special = np.split(numbers[HEAD : HEAD + 4 * count], [count, 3 * count])
    return Tokens(
        ids=ids,
        offsets=offsets.reshape(-1, 2),
        special=special.astype(np.bool_),
        states=values[HEAD + 4 * count :].reshape(count, -1) if count else np.zeros((0, 0), dtype=np.float32),
        dropped=dropped,
        coverage=coverage,
    )


def _digest(key: bytes, value: bytes) -> bytes:
    """Over key and value, so that a value under another's key is found too. A CRC-32 would miss one damaged value in
    4·10⁹, these 64 bits one in 10¹⁹, at nearly the speed of memory."""
    digest = blake2b(len(key).to_bytes(8, "big") + key, digest_size=8)
    digest.update(value)
    return digest.digest()


def _tag(key: bytes) -> int:
    """By which an entry is found. The index is touched all over by every put: with whole keys it would be three times
    as large. Two keys with the same tag are told apart by the checksum, and take turns in the cache."""
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big", signed=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
