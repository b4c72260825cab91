"""A folder that cannot be written, a full disk, a lock: the cache does what it can, and says what it cannot."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from dialogauge import sqlite_file
from dialogauge.encode.cache import cache as cache_module
from dialogauge.encode.cache import store
from dialogauge.encode.cache.cache import Cache
from tests.encode.cache.cached import MIB, made, run


@contextmanager
def held(folder: Path, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Keeps the file locked against writers, as a process that is stopped in mid-write would."""
    with closing(sqlite3.connect(folder / "vectors-1.sqlite", isolation_level=None)) as db:
        db.execute(begin)
        db.execute("SELECT count(*) FROM entries").fetchone()
        yield


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with Cache(tmp_path / "file" / "cache") as cache:
        assert cache.get([b"a"]) == {}
        cache.put({b"a": b"1"})
        cache.put({b"a": b"1"})
        assert cache.status().bytes_on_disk == cache.clear() == 0
    place = f"the cache in {tmp_path / 'file' / 'cache'} cannot be"
    assert cache.problems == [
        f"{place} read (Not a directory): vectors are computed again",
        f"{place} written (Not a directory): new vectors are not kept",
    ]


NO_PRIVILEGES = "import ctypes, struct; ctypes.CDLL(None).capset(struct.pack('=2I', 0x20080522, 0), bytes(24))"
"""Root without its capabilities obeys permissions."""


@pytest.mark.skipif(sys.platform != "linux", reason="drops the privileges of root as Linux does")
@pytest.mark.parametrize("filled", [False, True])
def test_a_read_only_folder_is_read(tmp_path, filled):
    if filled:
        with Cache(tmp_path) as cache:
            cache.put({b"a": b"1"})
    program = f"""{NO_PRIVILEGES}
from pathlib import Path
from dialogauge.encode.cache import store
from dialogauge.encode.cache.cache import Cache
store.USE_GRAIN = 0.0
with Cache(Path({str(tmp_path)!r})) as cache:
    print(cache.get([b"a", b"b"]), cache.problems)
    cache.put({{b"b": b"2"}})
    print(cache.get([b"a", b"b"]), [])
print(*cache.problems, sep="\\n")"""
    tmp_path.chmod(0o555)
    try:
        printed = run(program)
    finally:
        tmp_path.chmod(0o755)
    *found, problem = printed.splitlines()
    assert found == [f"{ {b'a': b'1'} if filled else {} } []"] * 2
    assert problem.startswith(f"the cache in {tmp_path} cannot be written (")
    assert problem.endswith("): new vectors are not kept")


def test_locked_for_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "WAIT", 0.05)
    monkeypatch.setattr(store, "USE_GRAIN", 0.0)
    with Cache(tmp_path) as cache:
        cache.put({b"a": b"1"})
        with held(tmp_path):
            assert cache.get([b"a"]) == {b"a": b"1"}
            assert cache.problems == []
            cache.put({b"b": b"2"})
            cache.put({b"c": b"3"})
            assert cache.get([b"a", b"b", b"c"]) == {b"a": b"1"}
        assert len(cache.problems) == 1
        assert "another process kept it locked for" in cache.problems[0]
        cache.put({b"d": b"4"})
        assert cache.get([b"d"]) == {}, "it waits for the lock again and again"
        monkeypatch.setattr(cache_module, "PAUSE", -1.0)
        cache._paused.clear()
        cache.put({b"d": b"4"})
        assert cache.get([b"d"]) == {b"d": b"4"}


def test_the_log_is_bounded_though_a_reader_never_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "WAIT", 0.05)
    monkeypatch.setattr(cache_module, "PAUSE", 0.0)
    with Cache(tmp_path, limit=8 * MIB) as cache:
        cache.put({b"a": b"1"})
        with held(tmp_path, "BEGIN"):
            for start in range(0, 12_000, 500):
                cache.put(made(500, start=start))
            log = (tmp_path / "vectors-1.sqlite-wal").stat().st_size
            assert 4 * MIB < log < 7 * MIB
        assert "locked" in cache.problems[0]
        assert len(cache.problems) == 1
        cache.put(made(500))
        assert cache.get(list(made(500))) == made(500)
        cache.put(made(500))
        assert (tmp_path / "vectors-1.sqlite-wal").stat().st_size < 3 * MIB


def test_a_full_disk(tmp_path):
    with Cache(tmp_path) as cache:
        cache.put(made(10))
        assert cache._store is not None
        cache._store._db.execute("PRAGMA max_page_count = 20")
        cache.put(made(1000, start=10))
        cache.put(made(1000, start=10))
        assert cache.get(list(made(1010))) == made(10)
    assert cache.problems == [
        f"the cache in {tmp_path} cannot be written (database or disk is full): new vectors are not kept"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("room", [0, 10_000, 40_000, 70_000, 300_000])
def test_a_file_that_cannot_grow(tmp_path, room):
    program = f"""
import resource
from pathlib import Path
from dialogauge.encode.cache.cache import Cache
from tests.encode.cache.cached import made
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
with Cache(Path({str(tmp_path)!r})) as cache:
    cache.put(made(50)); cache._paused.clear(); cache.put(made(1000, start=50))
    found = cache.get(list(made(1050)))
    assert found.items() <= made(1050).items()
    assert len(found) < 1050
    assert 1 <= len(cache.problems) <= 2, cache.problems
    assert all("cannot be" in problem for problem in cache.problems), cache.problems"""
    run(program)
    with Cache(tmp_path) as cache:
        cache.put(made(1050))
        assert cache.get(list(made(1050))) == made(1050)
        assert cache.problems == []
