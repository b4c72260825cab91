"""A run that was kept is read back as the result it was."""

import json

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.evaluation import compare, compare_runs, evaluate
from dialogauge.evaluation.compare_systems import compare_result
from dialogauge.evaluation.kept.load_result import load_result

EVERYDAY = "examples/everyday.jsonl"


@pytest.fixture(scope="module")
def result():
    return evaluate(EVERYDAY, "rouge_l,distinct.1,length", resamples=50)


def test_all_of_it_comes_back(result, tmp_path):
    back = load_result(result.save(tmp_path / "run"))
    assert back.to_dict() == result.to_dict()
    assert str(back) == str(result)
    assert list(back.texts) == list(result.texts)
    for ours, theirs in zip(result.samples, back.samples, strict=True):
        assert (ours.label, ours.system, ours.turns) == (theirs.label, theirs.system, theirs.turns)
        if ours.values is not None:
            assert ours.ids == theirs.ids
            np.testing.assert_array_equal(ours.values, theirs.values)
    again = load_result(back.save(tmp_path / "again"))
    assert list(again.texts) == list(result.texts)


def test_an_answer_comes_back(tmp_path):
    result = evaluate(EVERYDAY, resamples=50)
    back = load_result(result.save(tmp_path / "run"))
    assert back.answer == result.answer
    assert back.answer is not None


def test_without_texts(result, tmp_path):
    assert load_result(result.save(tmp_path / "run", texts=False)).texts is None


def test_what_is_no_run(result, tmp_path):
    with pytest.raises(InputError, match="is not a whole run"):
        load_result(tmp_path)
    run = result.save(tmp_path / "run")
    (run / "scores.json").write_text(json.dumps({"schema": "dialogauge.scores/1", "scores": [{"odd": 1}]}))
    with pytest.raises(InputError, match="run: is not a whole run"):
        load_result(run)
    (run / "run.json").write_text(json.dumps({"schema": "other/1"}))
    with pytest.raises(InputError, match="expected a run of schema"):
        load_result(run)


@pytest.mark.parametrize(("field", "value"), [("samples", None), ("systems", {}), ("systems", 3), ("unit", 3)])
def test_a_record_that_lacks_something(result, tmp_path, field, value):
    run = result.save(tmp_path / "run")
    record = json.loads((run / "run.json").read_text()) | {field: value}
    (run / "run.json").write_text(json.dumps({name: held for name, held in record.items() if held is not None}))
    with pytest.raises(InputError, match="run: is not a whole run"):
        load_result(run)


def test_values_that_do_not_fit_the_rows(result, tmp_path):
    other = evaluate(EVERYDAY, "rouge_l,length", systems=["good", "dull"], resamples=10)
    run, small = result.save(tmp_path / "run"), other.save(tmp_path / "other")
    (small / "turns.parquet").write_bytes((run / "turns.parquet").read_bytes()[:-9])
    with pytest.raises(InputError, match="is not a whole run"):
        load_result(small)


def test_a_result_is_compared_as_its_corpus_is(result, tmp_path):
    expected = compare(EVERYDAY, "rouge_l,distinct.1,length", resamples=50)
    assert compare_result(result).pairs == expected.pairs
    assert compare_result(load_result(result.save(tmp_path / "run"))).pairs == expected.pairs


def test_pairs_of_the_answer_are_those_of_the_comparison():
    last_first = {"systems": ["offtopic", "dull", "good"], "resamples": 50}
    result = evaluate(EVERYDAY, **last_first)
    assert result.answer.systems[0] == "good"
    assert compare_result(result).pairs == compare(EVERYDAY, **last_first).pairs


def test_runs_beside_each_other_keep_their_texts(result, tmp_path):
    runs = [result.save(tmp_path / name) for name in ("monday", "tuesday")]
    comparison = compare_runs(runs, keep_texts=True)
    systems = {turn.system for turn in comparison.texts}
    assert (
        systems
        == set(comparison.systems)
        == {f"{day}/{name}" for day in ("monday", "tuesday") for name in result.systems}
    )
    assert all(sample.ids for sample in comparison.samples if sample.values is not None)
    assert any(sample.values is not None for sample in comparison.samples)
    assert compare_runs(runs).texts is None
    bare = result.save(tmp_path / "bare", texts=False)
    assert compare_runs([*runs, bare], keep_texts=True).texts is None
