"""Studies that are kept: what people and metrics said, turn by turn."""

import json

import numpy as np
import pandas as pd
import pytest

from dialogauge.agreement import correlate
from dialogauge.corpus import Corpus
from dialogauge.errors import InputError
from dialogauge.evaluation import compare_runs, evaluate
from dialogauge.evaluation.kept.saved import kept_texts
from tests.agreement.corpora import COST, GOOD, column, people, quick, rated, shuffled, turn
from tests.killed_saves import directories_left

FILES = ["agreement.json", "run.json", "texts.parquet", "turns.parquet"]
COLUMNS = ["corpus", "id", "system", "dimension", "rating", "metric", "value"]


def test_what_is_written(tmp_path):
    first, second = shuffled(rated(systems=("a", "b", "c"), raters=2)), rated(n=9, seed=1)
    result = quick({"first": first, "second": second}, f"{GOOD},{COST},distinct")
    run = result.save(tmp_path / "run", command=["dialogauge", "correlate"])
    assert sorted(path.name for path in run.iterdir()) == FILES
    assert json.loads((run / "agreement.json").read_text()) == json.loads(result.to_json())
    record = json.loads((run / "run.json").read_text())
    assert record["command"] == ["dialogauge", "correlate"]
    assert record["corpora"] == {"first": 90, "second": 9}
    assert record["texts"] is True
    turns = pd.read_parquet(run / "turns.parquet")
    assert list(turns) == COLUMNS
    # Single turns have no value of `distinct`.
    assert set(turns["metric"]) == {GOOD, COST}
    for name, corpus in (("first", first), ("second", second)):
        for metric, field in ((GOOD, "good"), (COST, "cost")):
            own = turns[(turns["corpus"] == name) & (turns["metric"] == metric)]
            assert list(own["id"]) == [each.id for each in corpus]
            assert list(own["system"]) == [each.system for each in corpus]
            np.testing.assert_array_equal(own["value"], column(corpus, field))
            np.testing.assert_allclose(own["rating"], people(corpus), rtol=1e-12)


def test_a_name_that_looks_like_an_address_is_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick({"first": rated(n=5)}).save("s3:bucket/run")
    assert sorted(path.name for path in (tmp_path / "s3:bucket" / "run").iterdir()) == FILES


def test_texts_come_back_with_their_corpora(tmp_path):
    corpora = {"first": rated(n=5), "second": rated(n=5, seed=1)}
    run = quick(corpora).save(tmp_path / "run")
    given = [(name, each.id, each.response, each.ratings) for name, corpus in corpora.items() for each in corpus]
    assert [(each.extra["corpus"], each.id, each.response, each.ratings) for each in kept_texts(run)] == given
    without = quick(corpora).save(tmp_path / "without", texts=False)
    assert sorted(path.name for path in without.iterdir()) == ["agreement.json", "run.json", "turns.parquet"]
    assert kept_texts(without) is None


def test_rated_turns_that_could_not_be_correlated_are_there(tmp_path):
    """The second has no references, the third no fun, the last no rating at all."""
    turns = [turn(i, {"fun": (i, None), "sense": (5 - i,)}, references=(f"answer {i}",)) for i in range(6)]
    turns[1] = turn(1, {"fun": (1,), "sense": (4,)})
    turns[2] = turn(2, {"sense": (3,)}, references=("answer 2",))
    turns[5] = turn(5, {}, references=("answer 5",))
    run = correlate(Corpus(turns), "rouge_l.precision,length", level="turn", resamples=10).save(tmp_path / "run")
    kept = pd.read_parquet(run / "turns.parquet")
    fun = kept[(kept["dimension"] == "fun") & (kept["metric"] == "rouge_l.precision")]
    # "answer 0 of s" has two of its four words in "answer 0".
    expected = [("0", 0, 0.5), ("1", 1, None), ("3", 3, 0.5), ("4", 4, 0.5)]
    assert list(fun["id"]) == [name for name, _, _ in expected]
    assert list(fun["rating"]) == [rating for _, rating, _ in expected]
    assert [None if np.isnan(value) else value for value in fun["value"]] == [value for _, _, value in expected]
    assert list(kept[(kept["dimension"] == "sense") & (kept["metric"] == "length")]["id"]) == list("01234")
    assert len(pd.read_parquet(run / "texts.parquet")) == 5


def test_a_system_that_is_not_asked_for_is_left_out(tmp_path):
    run = quick(rated(systems=("a", "b")), systems=["b"]).save(tmp_path / "run")
    assert {each.system for each in kept_texts(run)} == {"b"}
    assert set(pd.read_parquet(run / "turns.parquet")["system"]) == {"b"}


def test_at_system_level_turns_are_kept_too(tmp_path):
    corpus = rated(n=4, systems=("a", "b", "c"))
    run = quick(corpus, level="system").save(tmp_path / "run")
    np.testing.assert_array_equal(pd.read_parquet(run / "turns.parquet")["value"], column(corpus, "good"))


def test_dialogues_that_were_rated_as_a_whole(tmp_path):
    turns = [
        turn(i, {}, dialogue=f"d{i // 2}", dialogue_ratings={"overall": (float(i // 2),)}, good=float(i))
        for i in range(8)
    ]
    run = quick(Corpus(turns), level="dialogue").save(tmp_path / "run")
    assert list(pd.read_parquet(run / "turns.parquet")["rating"]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_runs_are_not_mixed_up(tmp_path):
    result = quick(rated(n=5))
    run = result.save(tmp_path / "run", command=["first"])
    before = (run / "run.json").read_bytes()
    with pytest.raises(InputError, match="is there already and was left as it is"):
        result.save(run)
    assert (run / "run.json").read_bytes() == before
    result.save(run, overwrite=True, command=["second"])
    assert json.loads((run / "run.json").read_text())["command"] == ["second"]
    scored = evaluate(rated(n=5), "length")
    with pytest.raises(InputError, match=r"holds more than a run \('agreement.json'\)"):
        scored.save(run, overwrite=True)
    scores = scored.save(tmp_path / "scores")
    with pytest.raises(InputError, match="holds more than a run"):
        result.save(scores, overwrite=True)
    with pytest.raises(InputError, match=r"expected a run of schema dialogauge\.run/1, found"):
        compare_runs([run, scores])


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dialogauge.agreement.save._write_turns", fail)
    with pytest.raises(OSError, match="No space"):
        quick(rated(n=5)).save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


RESULT = """
from dialogauge.agreement import correlate
from dialogauge.corpus import Corpus, Turn
turns = [Turn(str(i), f"hello {i}" * (i % 5), (f"q{i}",), ratings={"overall": i % 7}) for i in range(2000)]
result = correlate(Corpus(turns), "length", resamples=2, level="turn")
"""


@pytest.mark.slow
def test_killed_while_writing_no_directory_is_half_there(tmp_path):
    for directory in directories_left(RESULT, tmp_path):
        assert sorted(path.name for path in directory.iterdir()) == FILES
        json.loads((directory / "agreement.json").read_text())
        assert len(pd.read_parquet(directory / "turns.parquet")) == 2000


def test_same_input_same_bytes(tmp_path):
    first, second = (quick(rated(n=5)).save(tmp_path / name, command=["again"]) for name in ("a", "b"))
    for name in FILES:
        assert (first / name).read_bytes() == (second / name).read_bytes()
