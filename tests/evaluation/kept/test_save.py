import json

import pandas as pd
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.kept.load_result import load_result
from tests.killed_saves import directories_left

FILES = ["measures.npz", "run.json", "scores.json", "texts.parquet", "turns.parquet"]


@pytest.fixture(scope="module")
def result():
    return evaluate(Corpus([Turn(str(i), f"hello {i}", (f"q{i}",)) for i in range(30)]), "length,distinct")


def test_what_is_written(result, tmp_path):
    directory = result.save(tmp_path / "deep" / "run", command=["dialogauge", "score"])
    assert sorted(path.name for path in directory.iterdir()) == FILES
    assert json.loads((directory / "scores.json").read_text()) == json.loads(result.to_json())
    run = json.loads((directory / "run.json").read_text())
    assert run["command"] == ["dialogauge", "score"]
    assert run["signatures"].keys() == {"length", "length.characters", "distinct", "distinct.1"}
    turns = pd.read_parquet(directory / "turns.parquet")
    assert list(turns.columns) == ["id", "system", "metric", "value"]
    assert len(turns) == 30
    assert [path.name for path in directory.parent.iterdir()] == ["run"]


@pytest.mark.parametrize("name", ["llama3:8b/run1", "s3:bucket/run", "file:///etc/run"])
def test_a_name_that_looks_like_an_address_is_a_name(result, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    directory = result.save(name)
    assert sorted(path.name for path in (tmp_path / name).iterdir()) == FILES
    assert load_result(directory).scores == result.scores
    assert len(list(load_result(directory).texts)) == 30


@pytest.mark.parametrize("name", ["s3://bucket/run", "gs://bucket/run", "hdfs://host:8020/run"])
def test_a_store_is_not_written_to_and_no_folder_is_named_like_it(result, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="files of a store are read alone"):
        result.save(name)
    assert not list(tmp_path.iterdir())


def test_same_input_same_bytes(result, tmp_path):
    first, second = (result.save(tmp_path / name, command=[]) for name in ("a", "b"))
    for name in FILES:
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_run_is_kept_unless_overwrite(result, tmp_path):
    directory = result.save(tmp_path / "run", command=["first"])
    before = (directory / "run.json").read_bytes()
    with pytest.raises(InputError, match="is there already"):
        result.save(directory, command=["second"])
    assert (directory / "run.json").read_bytes() == before
    result.save(directory, overwrite=True, command=["second"])
    assert "second" in (directory / "run.json").read_text()
    assert sorted(path.name for path in directory.iterdir()) == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_overwrite_never_removes_what_is_not_a_run(result, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"holds more than a run \('chapter1.tex'\)"):
        result.save(tmp_path / "thesis", overwrite=True)
    assert (tmp_path / "thesis" / "chapter1.tex").exists()
    directory = result.save(tmp_path / "run")
    (directory / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds more than a run"):
        result.save(directory, overwrite=True)
    assert (directory / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a directory"):
        result.save(tmp_path / "file", overwrite=True)
    with pytest.raises(InputError, match="a part of its path is a file"):
        result.save(tmp_path / "file" / "run")


def test_a_failed_write_leaves_nothing(result, tmp_path, monkeypatch):
    def fail(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dialogauge.evaluation.kept.save._write_turns", fail)
    with pytest.raises(OSError, match="No space"):
        result.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


RESULT = """
from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.kept.load_result import load_result
turns = [Turn(str(i), f"hello {i}", (f"q{i}",)) for i in range(20000)]
result = evaluate(Corpus(turns), "length", resamples=2)
"""


@pytest.mark.slow
def test_killed_while_writing_no_directory_is_half_there(tmp_path):
    for directory in directories_left(RESULT, tmp_path):
        assert sorted(path.name for path in directory.iterdir()) == FILES
        json.loads((directory / "scores.json").read_text())
        assert len(pd.read_parquet(directory / "turns.parquet")) == 20000
        assert len(pd.read_parquet(directory / "texts.parquet")) == 20000


def test_names_that_are_not_utf8_do_not_make_a_run_unreadable(tmp_path):
    """Linux lets file names be any bytes; Python has halves of surrogate pairs for them."""
    from dialogauge.corpus import Corpus, Turn
    from dialogauge.corpus.corpus import SourceFile
    from dialogauge.evaluation import evaluate
    from dialogauge.evaluation.kept.load_result import load_result

    corpus = Corpus([Turn("1", "yes"), Turn("2", "no")], (SourceFile("in\udcff.jsonl", "0" * 64, "jsonl"),))
    evaluate(corpus, "length", resamples=10).save(tmp_path / "run", command=["dialogauge", "a\udcff"])
    assert load_result(tmp_path / "run").files[0].path == "in\ufffd.jsonl"
