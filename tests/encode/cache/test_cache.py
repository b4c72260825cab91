import os
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dialogauge.encode.cache import store
from dialogauge.encode.cache.cache import Cache
from dialogauge.files import cache_folder
from tests.encode.cache.cached import MIB, made, on_disk


@pytest.mark.skipif(sys.platform != "linux", reason="folders of Linux")
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "/home/u/.cache/dialogauge"),
        ({"XDG_CACHE_HOME": ""}, "/home/u/.cache/dialogauge"),
        ({"XDG_CACHE_HOME": "/x/y"}, "/x/y/dialogauge"),
        ({"XDG_CACHE_HOME": "x/y"}, "/home/u/.cache/dialogauge"),  # by the specification only absolute paths count
        ({"XDG_CACHE_HOME": "/x/y", "DIALOGAUGE_CACHE": "/z"}, "/z"),
        ({"DIALOGAUGE_CACHE": "~/z"}, "/home/u/z"),
    ],
)
def test_where_the_cache_is(monkeypatch, variables, expected):
    for name in ("XDG_CACHE_HOME", "DIALOGAUGE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/u", **variables}.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


def test_nothing_is_made_before_the_first_put(tmp_path):
    folder = tmp_path / "cache"
    with Cache(folder) as cache:
        assert cache.get([b"a"]) == {}
        assert cache.clear() == 0
        assert cache.status().entries == 0
        cache.put({})
        assert not folder.exists()
        cache.put({b"a": b"1"})
        assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == ["vectors-1.sqlite"]
    assert cache.problems == []


@pytest.mark.parametrize("size", [0, 1, 1536, 16_384, 300_000])
def test_what_was_put_comes_back(tmp_path, size):
    entries = made(5, size)
    with Cache(tmp_path) as cache:
        cache.put(entries)
        assert cache.get([b"none", *entries, *entries]) == entries
    with Cache(tmp_path) as cache:
        assert cache.get(list(entries)) == entries


def test_more_keys_than_fit_in_one_query(tmp_path):
    entries = made(3 * store.BATCH + 1, 10)
    with Cache(tmp_path) as cache:
        cache.put(entries)
        assert cache.get(list(entries)) == entries
        assert cache.status().entries == len(entries)


def test_a_key_that_is_there_is_replaced(tmp_path):
    with Cache(tmp_path) as cache:
        cache.put({b"a": b"old", b"b": b"kept"})
        cache.put({b"a": b"new"})
        assert cache.get([b"a", b"b"]) == {b"a": b"new", b"b": b"kept"}
        assert cache.status().entries == 2


def test_a_closed_cache_opens_again(tmp_path):
    cache = Cache(tmp_path)
    cache.put({b"a": b"1"})
    cache.close()
    cache.close()
    assert cache.get([b"a"]) == {b"a": b"1"}
    del cache
    assert not list(tmp_path.glob("*-wal")), "the file was not closed"


def test_two_keys_with_one_tag_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_tag", lambda _: 7)
    with Cache(tmp_path) as cache:
        cache.put({b"a": b"1"})
        assert cache.get([b"b"]) == {}
        cache.put({b"b": b"2"})
        assert cache.get([b"b"]) == {b"b": b"2"}
        assert cache.get([b"a"]) == {}


def test_clear_gives_the_space_back(tmp_path):
    with Cache(tmp_path) as cache, Cache(tmp_path) as other:
        cache.put(made(1000))
        other.get([b"key 1"])
        assert cache.clear() == 1000
        assert cache.get(list(made(1000))) == other.get(list(made(1000))) == {}
        assert cache.status().bytes_in_use == 0
        assert on_disk(tmp_path) < 150_000
        other.put({b"a": b"1"})
        assert cache.get([b"a"]) == {b"a": b"1"}


def test_status(tmp_path):
    before = datetime.now(UTC)
    with Cache(tmp_path, limit=MIB) as cache:
        cache.put(made(100))
        status = cache.status()
    assert (status.folder, status.entries, status.limit) == (tmp_path, 100, MIB)
    assert 100 * 1536 < status.bytes_in_use < 1.4 * 100 * 1536
    assert before <= status.oldest_use <= status.newest_use <= datetime.now(UTC)


def test_the_folder_is_that_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "here"))
    with Cache() as cache:
        cache.put({b"a": b"1"})
    assert (tmp_path / "here" / "vectors-1.sqlite").is_file()


@pytest.mark.parametrize("name", ["a b", "?mode=memory", "#", "100%25", "é", "'", os.fsdecode(b"\xff")])
def test_any_folder_name_will_do(tmp_path, name):
    with Cache(tmp_path / name / "below") as cache:
        cache.put({b"a": b"1"})
        assert cache.problems == []
    assert (tmp_path / name / "below" / "vectors-1.sqlite").is_file()


def test_two_threads(tmp_path):
    entries = made(2000)
    keys = list(entries)
    wrong = []

    def work(cache: Cache, mine: list[bytes]) -> None:
        for start in range(0, len(mine), 50):
            cache.put({key: entries[key] for key in mine[start : start + 50]})
            found = cache.get(keys)
            if any(entries[key] != value for key, value in found.items()) or not found.keys() >= set(mine[:start]):
                wrong.append(start)

    with Cache(tmp_path) as cache:
        threads = [threading.Thread(target=work, args=(cache, keys[part::2])) for part in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert cache.get(keys) == entries
    assert (wrong, cache.problems) == ([], [])


def test_wrong_use_is_not_taken_for_damage(tmp_path):
    with Cache(tmp_path) as cache:
        cache.put({b"a": b"1"})
        with pytest.raises(TypeError):
            cache.put({b"b": None})  # type: ignore[dict-item]
        assert cache.get([b"a"]) == {b"a": b"1"}
    assert cache.problems == []


USE = """
import sys
from dialogauge.encode.cache.cache import Cache
with Cache() as cache:
    cache.put({b"k" * 16: b"v"})
    print(cache.get([b"k" * 16]), cache.status().entries, cache.problems)
"""


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555])
def test_a_folder_that_may_not_be_used(tmp_path, mode):
    """By a process without root's right to write anywhere: it goes on without a cache, and says so."""
    (tmp_path / "cache").mkdir(mode=mode)
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    environment = {**os.environ, "DIALOGAUGE_CACHE": str(tmp_path / "cache")}
    command = [*drop, sys.executable, "-c", USE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    (tmp_path / "cache").chmod(0o700)
    assert done.stdout.startswith("{} 0 ['the cache in "), done.stderr
    assert not list((tmp_path / "cache").iterdir())
