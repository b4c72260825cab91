import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from dialogauge import sqlite_file
from dialogauge.cli.cache import _size
from dialogauge.cli.main import main
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.model_files import MPNET, MPNET_FILES
from dialogauge.encode.word_vectors.store import cached_store
from dialogauge.endpoint.answers import Answers
from dialogauge.endpoint.chat import ChatAnswer, ChatRequest
from dialogauge.files import LOCK
from tests.encode.cache.cached import made

RANDOM = "0123456789abcdef"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(folder))
    monkeypatch.delenv("DIALOGAUGE_CACHE_SIZE", raising=False)
    return folder


def fill(folder: Path) -> None:
    """A cache with something of every kind in it, the unfinished included."""
    with Cache() as cache:
        cache.put(made(100))
    words = folder.parent / "words.txt"
    words.write_text("".join(f"word{number} {number} 0.5 1\n" for number in range(50)))
    cached_store(words, folder / "vectors")
    for unfinished in (folder / "vectors" / f".0123456789abcdef.{RANDOM}", folder / "models" / f".{MPNET}.{RANDOM}"):
        (unfinished / "new").mkdir(parents=True)
        (unfinished / LOCK).touch()
    (folder / "vectors" / f".0123456789abcdef.{RANDOM}" / "new" / "vectors.npy").write_bytes(bytes(1000))
    note = folder / "vectors" / f".{'0' * 32}.json.{RANDOM}"
    note.mkdir()
    (note / "new").write_text("{")
    (note / LOCK).touch()
    model = folder / "models" / MPNET
    model.mkdir()
    for name in MPNET_FILES:
        (model / name).write_bytes(bytes(2048))


def sizes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def parts(out: str) -> dict[str, dict[str, object]]:
    return {part["what"]: part for part in json.loads(out)["parts"]}


@pytest.mark.parametrize("arguments", [[], ["--clear"]])
def test_without_a_cache(dialogauge, folder, arguments):
    done = dialogauge("cache", *arguments)
    assert (done.code, done.err) == (0, "")
    assert f"in {folder}, which is not there yet" in done.out
    assert ("0 entries deleted, 0 B freed" in done.out) == bool(arguments)
    assert not folder.exists()


def test_the_table(dialogauge, folder):
    fill(folder)
    done = dialogauge("cache")
    assert (done.code, done.err) == (0, "")
    rows = {line.split("  ")[0]: line.split() for line in done.out.splitlines() if line}
    assert rows["vectors of texts"][3] == "100"
    assert "4.0 GiB" in done.out
    assert done.out.count(" UTC") == 2
    assert rows["converted word vectors"][3] == "1"
    assert rows["unpacked models"][2:5] == ["1", "12.0", "KiB"]
    assert done.out.splitlines()[-1] == f"in {folder}"


def test_json_and_csv(dialogauge, folder, monkeypatch):
    fill(folder)
    monkeypatch.setenv("DIALOGAUGE_CACHE_SIZE", "5MB")
    out = dialogauge("cache", "--format", "json").out
    document = json.loads(out)
    assert document["schema"] == "dialogauge.cache/1"
    assert document["folder"] == str(folder)
    assert (document["unknown"], document["removed"], document["freed"]) == ([], None, None)
    texts = parts(out)["vectors of texts"]
    assert (texts["entries"], texts["limit"]) == (100, 5_000_000)
    assert 150_000 < texts["bytes_in_use"] <= texts["bytes_on_disk"]
    assert texts["oldest_use"] <= texts["newest_use"]
    assert parts(out)["unpacked models"]["bytes_on_disk"] == 2048 * len(MPNET_FILES)
    assert sum(part["bytes_on_disk"] for part in document["parts"]) == sizes(folder)
    rows = list(csv.DictReader(io.StringIO(dialogauge("cache", "--format", "csv").out)))
    assert [row["what"] for row in rows] == ["vectors of texts", "converted word vectors", "unpacked models"]
    assert (rows[0]["entries"], rows[1]["limit"]) == ("100", "")


@pytest.mark.parametrize(("form", "start"), [("markdown", "| what"), ("latex", "\\begin{tabular}")])
def test_other_formats(dialogauge, form, start):
    assert start in dialogauge("cache", "--format", form).out


def test_clear(dialogauge, folder):
    fill(folder)
    before = sizes(folder)
    done = dialogauge("cache", "--clear", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in folder.iterdir()] == ["vectors-1.sqlite"]
    assert sizes(folder) < 100_000
    document = json.loads(done.out)
    assert (document["removed"], document["freed"]) == (102, before - sizes(folder))
    assert [part["entries"] for part in document["parts"]] == [0, 0, 0]
    with Cache() as cache:
        assert cache.get(list(made(100))) == {}
        cache.put({b"a": b"1"})
    assert "1 entry deleted, 0 B freed" in dialogauge("cache", "--clear").out


def test_clear_leaves_alone_what_is_not_ours(dialogauge, folder):
    fill(folder)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "about.json").touch()
    foreign = {
        "notes.txt": b"mine",
        "vectors-1.sqlite.bak": b"mine",
        "vectors/glove.txt": b"the 1 2 3",
        "vectors/fedcba9876543210/mine.txt": b"mine",
        "vectors/0123456789abcdef0123456789abcdef.json.bak": b"{}",
        "models/bert/config.json": b"{}",
        f"models/{MPNET}/README.md": b"from the hub",
        "other/vectors.npy": b"mine",
    }
    for name, content in foreign.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "vectors" / "0000000000000000").symlink_to(elsewhere)
    (folder / "vectors" / "1111111111111111").mkdir()
    (folder / "vectors" / "1111111111111111" / "about.json").symlink_to(elsewhere / "about.json")
    done = dialogauge("cache", "--clear", "--format", "json")
    assert done.code == 0
    assert {name: (folder / name).read_bytes() for name in foreign} == foreign
    assert (elsewhere / "about.json").exists()
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file()}
    assert left == {
        *foreign,
        "vectors-1.sqlite",
        "vectors/0000000000000000",
        "vectors/1111111111111111/about.json",
        *(f"models/{MPNET}/{name}" for name in MPNET_FILES),
    }
    assert json.loads(done.out)["unknown"] == [
        "notes.txt",
        "other",
        "vectors-1.sqlite.bak",
        "vectors/0000000000000000",
        "vectors/0123456789abcdef0123456789abcdef.json.bak",
        "vectors/1111111111111111",
        "vectors/fedcba9876543210",
        "vectors/glove.txt",
        f"models/{MPNET}",
        "models/bert",
    ]
    assert "not dialogauge's, left alone: notes.txt, other, vectors-1.sqlite.bak and 7 more" in dialogauge("cache").out


def test_a_subfolder_that_is_a_link_is_not_followed(dialogauge, folder):
    fill(folder)
    (folder / "vectors").rename(folder.parent / "real")
    (folder / "vectors").symlink_to(folder.parent / "real")
    before = sizes(folder.parent / "real")
    done = dialogauge("cache", "--clear", "--format", "json")
    assert json.loads(done.out)["unknown"] == ["vectors"]
    assert sizes(folder.parent / "real") == before > 0


def test_a_damaged_cache_is_reported_and_cleared(dialogauge, folder):
    fill(folder)
    file = folder / "vectors-1.sqlite"
    file.write_bytes(b"no database" + file.read_bytes()[11:])
    done = dialogauge("cache", "--clear")
    assert done.code == 0
    assert done.err.startswith(f"warning: {file} is damaged (")
    assert [path.name for path in folder.iterdir()] == ["vectors-2.sqlite"]


def test_a_cache_that_cannot_be_cleared_fails(dialogauge, folder, monkeypatch):
    monkeypatch.setattr(sqlite_file, "WAIT", 0.05)
    fill(folder)
    db = sqlite3.connect(folder / "vectors-1.sqlite", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    done = dialogauge("cache", "--clear")
    db.close()
    assert done.code == 1
    assert done.err.startswith(f"warning: the cache in {folder} cannot be written (another process kept it locked")


def test_a_wrong_size_in_the_environment(dialogauge, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE_SIZE", "much")
    done = dialogauge("cache")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("DIALOGAUGE_CACHE_SIZE is 'much'; expected a size like 4GiB")


def test_the_help_names_the_environment(dialogauge):
    help = dialogauge("cache", "--help").out
    assert "DIALOGAUGE_CACHE " in help
    assert "DIALOGAUGE_CACHE_SIZE " in help


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (1536, "1.5 KiB"), (4 << 30, "4.0 GiB"), (5 << 50, "5120.0 TiB")],
)
def test_sizes_are_readable(size, text):
    assert _size(size) == text


def test_answers_of_endpoints_are_shown_and_not_cleared(folder, capsys):
    answers = Answers(folder / "answers.sqlite")
    answers.put("http://localhost/v1", ChatRequest({}), ChatAnswer(200, {"choices": []}))
    answers.close()
    assert main(["cache", "--clear", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parts"][-1]["what"] == "answers of endpoints"
    assert (document["parts"][-1]["entries"], document["unknown"]) == (1, [])
    assert main(["cache"]) == 0
    assert "kept for good: --clear leaves them" in capsys.readouterr().out
    assert len(answers) == 1
