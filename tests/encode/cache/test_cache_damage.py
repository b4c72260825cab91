"""Whatever happens to the bytes on disk, a value comes back as it was put or not at all, and new ones can be put."""

import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from dialogauge import sqlite_file
from dialogauge.encode.cache.cache import Cache
from dialogauge.sqlite_file import PAGE
from tests.encode.cache.cached import MIB, made, on_disk

ENTRIES = {**made(60, 1536), **made(20, 100, start=100), **made(4, 40_000, start=200)}
FILE, LOG = "vectors-1.sqlite", "vectors-1.sqlite-wal"


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that no process has open."""
    folder = tmp_path_factory.mktemp("closed")
    with Cache(folder) as cache:
        cache.put(ENTRIES)
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache as a process that was killed leaves it: half in the file, half in its log."""
    folder, copy = tmp_path_factory.mktemp("open"), tmp_path_factory.mktemp("killed")
    items = list(ENTRIES.items())
    with Cache(folder) as cache:
        cache.put(dict(items[::2]))
    with Cache(folder) as cache:
        cache.put(dict(items[1::2]))
        for name in (FILE, LOG):
            shutil.copy(folder / name, copy / name)
    return copy


def check(folder: Path) -> tuple[int, list[str]]:
    """How many values are left, and what was said about it."""
    with Cache(folder, limit=64 * MIB) as cache:
        found = cache.get(list(ENTRIES))
        assert found.items() <= ENTRIES.items()
        cache.status()
        cache.put({key: value for key, value in ENTRIES.items() if key not in found})
        with Cache(folder, limit=64 * MIB) as other:
            again = other.get(list(ENTRIES))
            assert again.items() <= ENTRIES.items()
            other.put({**ENTRIES, b"new": b"1"})
            assert other.get([*ENTRIES, b"new"]) == {**ENTRIES, b"new": b"1"}
        return len(found), cache.problems + other.problems


def damaged_copies(whole: Path, folder: Path, name: str, change: Callable[[bytearray], None], times: int) -> list[int]:
    """How many values each of so many damaged copies has left."""
    left = []
    for number in range(times):
        copy = folder / str(number)
        shutil.copytree(whole, copy)
        content = bytearray((copy / name).read_bytes())
        change(content)
        (copy / name).write_bytes(content)
        left.append(check(copy)[0])
        shutil.rmtree(copy)
    return left


def test_a_killed_process_costs_nothing(killed, tmp_path):
    shutil.copytree(killed, tmp_path / "copy")
    assert check(tmp_path / "copy") == (len(ENTRIES), [])


@pytest.mark.parametrize("bit", [0, 7])
def test_a_flipped_bit_in_any_byte_of_the_header(closed, tmp_path, bit):
    places = iter(range(100))

    def flip(content: bytearray) -> None:
        content[next(places)] ^= 1 << bit

    left = damaged_copies(closed, tmp_path, FILE, flip, 100)
    assert left.count(0) > 20, "too little was damaged for a test"


@pytest.mark.parametrize(
    ("state", "name", "start", "stop", "times"),
    [
        ("closed", FILE, 100, 116, 30),
        ("closed", FILE, PAGE - 400, PAGE, 80),
        ("closed", FILE, PAGE, None, 200),
        ("killed", FILE, 0, None, 50),
        ("killed", LOG, 0, 56, 40),
        ("killed", LOG, 56, None, 100),
    ],
    ids=["first_page", "schema", "file", "file_with_log", "log_header", "log"],
)
def test_a_flipped_bit_is_harmless_or_found(request, tmp_path, state, name, start, stop, times):
    whole = request.getfixturevalue(state)
    random = Random(f"{state} {name} {start}")

    def flip(content: bytearray) -> None:
        content[random.randrange(start, stop or len(content))] ^= 1 << random.randrange(8)

    left = damaged_copies(whole, tmp_path, name, flip, times)
    assert min(left) < len(ENTRIES), "too little was damaged for a test"


def zeros(content: bytearray, random: Random) -> None:
    place = random.randrange(len(content) - 512)
    content[place : place + 512] = bytes(512)


def noise(content: bytearray, random: Random) -> None:
    place = random.randrange(0, len(content) - PAGE, 512)
    content[place : place + PAGE] = random.randbytes(PAGE)


def cut(content: bytearray, random: Random) -> None:
    del content[random.randrange(len(content)) :]


def exchange(content: bytearray, random: Random) -> None:
    one, other = (slice(page * PAGE, page * PAGE + PAGE) for page in random.sample(range(len(content) // PAGE), 2))
    content[one], content[other] = content[other], content[one]


@pytest.mark.parametrize(("state", "name"), [("closed", FILE), ("killed", FILE), ("killed", LOG)])
@pytest.mark.parametrize("change", [zeros, noise, cut, exchange])
def test_worse_damage(request, tmp_path, state, name, change):
    random = Random(f"{state} {name} {change.__name__}")
    left = damaged_copies(request.getfixturevalue(state), tmp_path, name, lambda content: change(content, random), 15)
    assert min(left) < len(ENTRIES)


@pytest.mark.parametrize("content", [b"", b"x", b"hello\n" * 10_000, bytes(100_000)])
def test_something_else_under_the_name(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    assert check(tmp_path)[0] == 0


def test_a_text_that_is_no_text_in_the_schema(tmp_path):
    """sqlite3 then cannot even say what is wrong: it raises UnicodeDecodeError."""
    with Cache(tmp_path) as cache:
        cache.put(ENTRIES)
    content = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content.replace(b"CREATE TABLE entries", b"CREATE TABLE \xffntries"))
    left, problems = check(tmp_path)
    assert left == 0
    assert problems[0].startswith(f"{tmp_path / FILE} is damaged (")


@pytest.mark.parametrize("place", ["table", "index"])
def test_an_index_that_leads_to_another_entry(tmp_path, place):
    with Cache(tmp_path) as cache:
        cache.put(ENTRIES)
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        rows = db.execute("SELECT tag, used FROM entries WHERE id IN (5, 6)").fetchall()
    content = bytearray((tmp_path / FILE).read_bytes())
    if place == "table":  # the tag is followed by the use there
        spots = [content.index(struct.pack(">2q", tag, used)) + 7 for tag, used in rows]
    else:  # and by the entry's number here
        spots = [
            content.index(struct.pack(">qB", tag, entry)) + 8 for (tag, _), entry in zip(rows, (5, 6), strict=True)
        ]
    content[spots[0]], content[spots[1]] = content[spots[1]], content[spots[0]]
    (tmp_path / FILE).write_bytes(content)
    check(tmp_path)


def test_pages_that_belong_to_no_entry_do_not_fill_the_cache(tmp_path):
    with Cache(tmp_path, limit=2 * MIB) as cache:
        cache.put(made(100))
    edit(
        tmp_path,
        "CREATE TABLE lost (value)",
        "INSERT INTO lost VALUES (zeroblob(3000000))",
        "PRAGMA writable_schema = ON",
        "DELETE FROM sqlite_master WHERE name = 'lost'",
    )
    with Cache(tmp_path, limit=2 * MIB) as cache:
        cache.put(made(200))
        assert cache.get(list(made(200))) == made(200)
    assert len(cache.problems) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["vectors-2.sqlite"]
    assert on_disk(tmp_path) < MIB


def edit(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as db, db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET value = 'text' WHERE id = 5",
        "UPDATE entries SET value = 17 WHERE id = 5",
        "UPDATE entries SET value = substr(value, 2) WHERE id = 5",
        "UPDATE entries SET value = zeroblob(length(value)) WHERE id = 5",
        "UPDATE entries SET digest = 'text' WHERE id = 5",
        "UPDATE entries SET digest = zeroblob(8) WHERE id = 5",
        "UPDATE entries SET (value, digest) = (SELECT value, digest FROM entries WHERE id = 6) WHERE id = 5",
    ],
)
def test_a_damaged_entry_is_dropped_and_put_again(tmp_path, statement):
    with Cache(tmp_path) as cache:
        cache.put(ENTRIES)
        edit(tmp_path, statement)
        key = list(ENTRIES)[4]
        for _ in range(2):
            assert cache.get(list(ENTRIES)) == {other: ENTRIES[other] for other in ENTRIES if other != key}
        assert cache.status().entries == len(ENTRIES) - 1
        cache.put({key: ENTRIES[key]})
        assert cache.get(list(ENTRIES)) == ENTRIES
        edit(tmp_path, statement)
        cache.get(list(ENTRIES))
    assert cache.problems == [f"damaged vectors in the cache in {tmp_path} were dropped and are computed again"]
    assert (tmp_path / FILE).is_file()


@pytest.mark.parametrize("used", ["-1", "9223372036854775807", "'text'", "1.5", "zeroblob(8)"])
def test_a_damaged_use_is_put_right(tmp_path, used):
    with Cache(tmp_path) as cache:
        cache.put(ENTRIES)
        edit(tmp_path, f"UPDATE entries SET used = {used}")
        cache.status()
        assert cache.get(list(ENTRIES)) == ENTRIES
        assert cache.status().oldest_use == cache.status().newest_use is not None
    assert cache.problems == []
