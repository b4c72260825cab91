"""The cache takes no more than its limit, and what was not used for longest goes first."""

import itertools
import time
from datetime import UTC, datetime, timedelta

import pytest

from dialogauge.encode.cache import store
from dialogauge.encode.cache.cache import Cache
from dialogauge.errors import InputError
from tests.encode.cache.cached import MIB, made, on_disk


def test_the_least_recently_used_go_first(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "USE_GRAIN", 0.0)
    entries, new = made(40, 20_000), made(25, 20_000, start=100)  # 0.8 and 0.5 MB
    used = list(entries)[::4]
    unused = [key for key in entries if key not in used]
    with Cache(tmp_path, limit=MIB) as cache:
        cache.put(entries)
        assert cache.get(used) == {key: entries[key] for key in used}
        for key, value in new.items():
            cache.put({key: value})
        found = cache.get([*entries, *new])
    assert found.keys() >= {*used, *new}
    left = [key for key in unused if key in found]
    assert 5 <= len(left) <= 20
    assert left == unused[-len(left) :]


def test_an_eviction_leaves_nine_tenths(tmp_path):
    with Cache(tmp_path, limit=10 * MIB) as cache:
        counts = []
        for start in range(0, 12_000, 500):
            cache.put(made(500, start=start))
            counts.append(cache.status().bytes_in_use)
        assert max(counts) <= 10 * MIB
        drops = [after for before, after in itertools.pairwise(counts) if after < before]
        assert drops
        assert all(8.5 * MIB < after <= 9 * MIB for after in drops)


def test_a_hit_is_not_written_down_every_time(tmp_path, monkeypatch):
    with Cache(tmp_path) as cache:
        cache.put(made(10))
        first = cache.status()
        assert cache.get(list(made(10)))
        assert cache.status() == first
        hours = 2 * 3600 * 10**9
        now = time.time_ns()
        monkeypatch.setattr(time, "time_ns", lambda: now + hours)
        cache.get(list(made(5, start=5)))
        later = cache.status()
        assert later.oldest_use == first.oldest_use
        assert later.newest_use == pytest.approx(first.newest_use + timedelta(hours=2), abs=timedelta(minutes=1))


def test_a_use_in_the_future_is_put_right(tmp_path, monkeypatch):
    now = time.time_ns()
    with Cache(tmp_path) as cache:
        monkeypatch.setattr(time, "time_ns", lambda: now + 10**18)
        cache.put({b"a": b"1"})
        monkeypatch.setattr(time, "time_ns", lambda: now)
        assert cache.status().newest_use is None
        cache.get([b"a"])
        assert cache.status().newest_use == datetime.fromtimestamp(now / 1e9, UTC)


@pytest.mark.parametrize("size", [400, 1536, 100_000])
def test_the_bound_holds_over_many_puts(tmp_path, size):
    limit = 4 * MIB
    with Cache(tmp_path, limit=limit) as cache:
        for round in range(8):
            new = made(2 * MIB // size, size, start=round * 100_000)
            cache.put(new)
            assert cache.status().bytes_in_use <= limit
            assert cache.status().bytes_on_disk == on_disk(tmp_path) - 32_768
            assert on_disk(tmp_path) < 2.5 * limit
        assert cache.get(list(new)) == new
    assert on_disk(tmp_path) < 1.5 * limit


def test_the_bound_holds_where_what_is_used_lies_scattered(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "USE_GRAIN", 0.0)
    with Cache(tmp_path, limit=4 * MIB) as cache:
        for start in range(0, 20_000, 1000):
            new = made(1000, start=start)
            cache.put(new)
            cache.get([key for entry in range(0, start, 1000) for key in list(made(1000, 0, entry))[::3]])
        assert cache.get(list(new)) == new
    assert on_disk(tmp_path) < 1.5 * 4 * MIB


def test_one_put_of_more_than_the_limit(tmp_path):
    entries = made(5000)
    with Cache(tmp_path, limit=2 * MIB) as cache:
        cache.put(entries)
        found = cache.get(list(entries))
        assert list(entries)[-500:] == [key for key in entries if key in found][-500:]
        assert cache.status().bytes_in_use <= 2 * MIB
    assert on_disk(tmp_path) < 5 * MIB


def test_the_log_of_a_large_put_shrinks_again(tmp_path):
    with Cache(tmp_path, limit=64 * MIB) as cache:
        cache.put(made(1, 10 * MIB))
        for start in range(1, 4):
            cache.put(made(1, start=start))
        assert (tmp_path / "vectors-1.sqlite-wal").stat().st_size <= 4 * MIB


def test_a_value_above_the_limit_is_not_stored(tmp_path):
    with Cache(tmp_path, limit=100_000) as cache:
        cache.put({b"small": b"1", b"large": bytes(100_001), b"other": b"2"})
        assert cache.get([b"small", b"large", b"other"]) == {b"small": b"1", b"other": b"2"}


def test_a_limit_of_nothing_keeps_nothing(tmp_path):
    with Cache(tmp_path / "cache", limit=0) as cache:
        cache.put(made(3, 0))
    assert not (tmp_path / "cache").exists()


def test_a_lower_limit_shrinks_the_file(tmp_path):
    with Cache(tmp_path, limit=40 * MIB) as cache:
        cache.put(made(15_000))
        assert on_disk(tmp_path) > 20 * MIB
    with Cache(tmp_path, limit=5 * MIB) as cache:
        cache.put({b"last": b"1"})
        assert cache.get([b"last", b"key 14999", b"key 0"]).keys() == {b"last", b"key 14999"}
        assert on_disk(tmp_path) < 6 * MIB
        assert cache.problems == []


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ("", 4 << 30),
        ("0", 0),
        ("123456", 123_456),
        ("4GiB", 4 << 30),
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        ("1.5kib", 1536),
        ("7B", 7),
        (" 1 TB ", 10**12),
    ],
)
def test_the_limit_in_words(monkeypatch, given, limit):
    monkeypatch.setenv("DIALOGAUGE_CACHE_SIZE", given)
    assert Cache().limit == limit


@pytest.mark.parametrize(
    "given", ["lots", "-1", "4 G", "4iB", "GiB", "1e9", "nan", "1.2.3MB", "4GiB5", "٤", "9" * 5000]
)
def test_a_limit_that_is_none(monkeypatch, given):
    monkeypatch.setenv("DIALOGAUGE_CACHE_SIZE", given)
    with pytest.raises(InputError, match="DIALOGAUGE_CACHE_SIZE is .*; expected a size like 4GiB"):
        Cache()
