"""Numbered files: a damaged one is followed by the next, and no name is used twice."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.cache.store import CacheFile
from tests.encode.cache.cached import MIB, made

ENTRIES = made(50)
FILE = "vectors-1.sqlite"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def edit(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as db, db:
        db.execute(statement)


@pytest.mark.parametrize(
    "statement", ["PRAGMA user_version = 2", "DROP TABLE entries", "ALTER TABLE entries DROP digest"]
)
def test_another_layout_is_not_used(tmp_path, statement):
    with Cache(tmp_path) as cache:
        cache.put(ENTRIES)
    edit(tmp_path, statement)
    with Cache(tmp_path) as cache:
        assert cache.get(list(ENTRIES)) == {}
        cache.put(ENTRIES)
        assert cache.get(list(ENTRIES)) == ENTRIES
    assert cache.problems[0].startswith(f"{tmp_path / FILE} is damaged (")
    assert names(tmp_path) == ["vectors-2.sqlite"]


def test_every_process_moves_to_the_next_file(tmp_path):
    with Cache(tmp_path) as one, Cache(tmp_path) as other:
        one.put(ENTRIES)
        assert other.get(list(ENTRIES)) == ENTRIES
        edit(tmp_path, "DROP TABLE entries")
        assert one.get(list(ENTRIES)) == {}
        one.put(made(5))
        assert not (tmp_path / FILE).exists()
        assert other.get(list(ENTRIES)) == made(5)
        other.put(made(5, start=5))
        assert one.get(list(ENTRIES)) == made(10)
    assert names(tmp_path) == ["vectors-2.sqlite"]
    assert (len(one.problems), other.problems) == (1, [])


def test_what_a_killed_process_left_of_older_files_goes(tmp_path):
    left = [tmp_path / f"vectors-{number}.sqlite{end}" for number in (1, 2) for end in ("", "-wal", "-shm", "-journal")]
    other = [tmp_path / name for name in ("vectors-0.sqlite", "vectors-1.sqlite.bak", "my-vectors-1.sqlite", "vectors")]
    for path in [*left, *other]:
        path.touch()
    shutil.copy(tmp_path / "vectors-1.sqlite", tmp_path / "vectors-3.sqlite")
    with Cache(tmp_path) as cache:
        cache.put(ENTRIES)
    assert sorted(tmp_path.iterdir()) == sorted([*other, tmp_path / "vectors-3.sqlite"])


def test_a_log_without_its_file_is_not_taken_up(tmp_path):
    with Cache(tmp_path / "other") as other:
        other.put(ENTRIES)
        shutil.copy(tmp_path / "other" / f"{FILE}-wal", tmp_path)
    shutil.rmtree(tmp_path / "other")
    with Cache(tmp_path) as cache:
        assert cache.get(list(ENTRIES)) == {}
        cache.put(ENTRIES)
    with Cache(tmp_path) as cache:
        assert cache.get(list(ENTRIES)) == ENTRIES
    assert names(tmp_path) == ["vectors-2.sqlite"]


def test_a_folder_deleted_while_it_is_open(tmp_path):
    folder = tmp_path / "cache"
    with Cache(folder) as one:
        one.put(ENTRIES)
        shutil.rmtree(folder)
        assert one.get(list(ENTRIES)) == {}
        with Cache(folder) as other:
            other.put(made(5))
            one.put(made(5, start=5))
            assert other.get(list(ENTRIES)) == one.get(list(ENTRIES)) == made(10)
            one.close()
            assert other.get(list(ENTRIES)) == made(10)
            shutil.rmtree(folder)
            one.put(made(3))
            other.close()
        assert one.get(list(ENTRIES)) == made(3)
    assert names(folder) == [FILE]
    assert one.problems == other.problems == []


def test_a_file_that_another_process_deleted_is_not_made_again(tmp_path):
    with pytest.raises(sqlite3.OperationalError):
        CacheFile(tmp_path / FILE, MIB)
    assert not list(tmp_path.iterdir())


def test_a_folder_under_the_name(tmp_path):
    (tmp_path / FILE).mkdir()
    with Cache(tmp_path) as cache:
        assert cache.get([b"a"]) == {}
        cache.put({b"a": b"1"})
    assert [problem.partition(" (")[0].rpartition(" ")[2] for problem in cache.problems] == ["read", "written"]
    assert (tmp_path / FILE).is_dir()
