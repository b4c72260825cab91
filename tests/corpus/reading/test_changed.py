"""A run never records the hash of another content than it read: a file that changes meanwhile is refused."""

import gzip
import hashlib
import json
import os

import pytest

from dialogauge import InputError, load, stream
from dialogauge.corpus.chunks.plan import plan_chunks
from dialogauge.corpus.chunks.read import ChunkReading
from dialogauge.corpus.how import HowToRead

LINES = "".join(json.dumps({"response": f"reply {number}"}) + "\n" for number in range(5))
OTHER = LINES.replace("reply", "other")


def replace(path, content):
    """As editors and programs do that write beside a file and rename."""
    beside = path.with_name("beside")
    beside.write_bytes(content)
    beside.replace(path)


def append(path, content):
    with path.open("ab") as file:
        file.write(content)


def rewrite(path, content):
    before = path.stat().st_mtime_ns
    path.write_bytes(content)
    os.utime(path, ns=(before + 1, before + 1))  # clocks of file systems are coarse


@pytest.mark.parametrize(("packed", "change"), [(False, replace), (False, append), (False, rewrite), (True, replace)])
def test_a_file_that_changes_while_it_is_read(tmp_path, change, packed):
    path = tmp_path / ("a.jsonl.gz" if packed else "a.jsonl")
    pack = gzip.compress if packed else bytes
    path.write_bytes(pack(LINES.encode()))
    loading = stream(path)
    turns = loading.turns()
    next(turns)
    change(path, pack(OTHER.encode()))
    with pytest.raises(InputError, match=r"a.jsonl(.gz)?: was changed while it was read; try again"):
        list(turns)
    assert not loading.files


def test_what_does_not_change_has_its_hash(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINES)
    loading = stream(path)
    turns = loading.turns()
    next(turns)
    path.chmod(0o600)
    list(turns)
    assert [file.sha256 for file in loading.files] == [hashlib.sha256(LINES.encode()).hexdigest()]


@pytest.mark.parametrize("name", ["contexts.txt", "responses.txt"])
def test_any_one_of_several_files(tmp_path, name):
    for each in ("contexts.txt", "responses.txt"):
        (tmp_path / each).write_text("one\ntwo\n")
    turns = stream(tmp_path).turns()
    next(turns)
    replace(tmp_path / name, b"three\nfour\n")
    with pytest.raises(InputError, match=f"{name}: was changed while it was read"):
        list(turns)


def test_a_chunk_that_is_a_whole_file(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(LINES.encode()))
    how = HowToRead(None, False, {})
    (chunk,) = plan_chunks([path], how).chunks
    turns = ChunkReading(chunk, how, {}).turns()
    next(turns)
    replace(path, gzip.compress(OTHER.encode()))
    with pytest.raises(InputError, match="was changed while it was read"):
        list(turns)


def test_ratings_that_change(tmp_path, monkeypatch):
    from dialogauge.corpus import ratings

    turns, rated = tmp_path / "a.jsonl", tmp_path / "ratings.csv"
    turns.write_text(LINES)
    rated.write_text("id,value\n0,3\n")
    read = ratings.read_ratings

    def changed_after(path):
        found = read(path)
        replace(rated, b"id,value\n0,4\n")
        return found

    monkeypatch.setattr(ratings, "read_ratings", changed_after)
    with pytest.raises(InputError, match=r"ratings.csv: was changed while it was read"):
        ratings.join_ratings(load(turns), [rated])
