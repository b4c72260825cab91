"""The numbers of a kept study of agreement, derived again from what it holds."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dialogauge
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.studies.verification import AGREEMENT, CEILINGS, CONTRASTS, JUDGED, MEASURES
from dialogauge.studies.verify_run import verify_run
from tests.serving.scripted import Scripted, chat

RATED = "examples/rated.jsonl"


@pytest.fixture(scope="module")
def kept():
    """`bleu` is no mean of its turns, `distinct` has no value for a single turn."""
    return dialogauge.correlate(RATED, "rouge_l,length,bleu,distinct", resamples=50)


@pytest.fixture
def run(kept, tmp_path):
    return kept.save(tmp_path / "run")


def wrong(found):
    return [(check.metric, check.kind, check.differ) for check in found.checks if check.differ]


def change(run, part, place, **changes):
    path = run / "agreement.json"
    document = json.loads(path.read_text())
    document[part][place] |= changes
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("field", ["systems", "whole_dialogues"])
@pytest.mark.parametrize("value", [7, True, {"rated": 7}, {"rated": [["a"]]}, [["a"]]])
def test_lists_of_another_kind(run, field, value):
    path = run / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(InputError, match="run: is not a whole run: run.json: expected lists of systems"):
        verify_run(run)


def test_what_was_just_kept_agrees(run, kept):
    found = verify_run(run)
    assert found.agrees
    assert not found.underived
    assert {check.kind for check in found.checks} == {MEASURES, AGREEMENT, CEILINGS, CONTRASTS}
    counted = [check for check in found.checks if check.kind == AGREEMENT]
    assert len(counted) == len(kept.rows) == 7  # three metrics of turns, four of systems


@pytest.mark.parametrize(
    ("part", "place", "changes", "metric", "kind"),
    [
        ("rows", 0, {"spearman": 0.99}, "rouge_l", AGREEMENT),
        ("rows", 1, {"pearson_high": 0.99}, "length", AGREEMENT),
        ("rows", 1, {"n": 79}, "length", AGREEMENT),
        ("rows", 6, {"kendall_p": 0.001}, "distinct", AGREEMENT),
        ("rows", 6, {"spearman": None}, "distinct", AGREEMENT),
        ("ceilings", 0, {"alpha": 0.99}, "people", CEILINGS),
        ("ceilings", 1, {"most_raters": 9}, "people", CEILINGS),
        ("contrasts", 0, {"p_holm": 0.0001}, "rouge_l and length", CONTRASTS),
        ("contrasts", 0, {"better": "length"}, "rouge_l and length", CONTRASTS),
    ],
)
def test_a_number_that_does_not_follow_is_named(run, part, place, changes, metric, kind):
    change(run, part, place, **changes)
    found = verify_run(run)
    assert wrong(found) == [(metric, kind, 1)]
    (name,) = changes
    assert f"{name} is " in next(check.example for check in found.checks if check.differ)


def test_a_value_of_a_turn_that_does_not_follow_from_its_text(run):
    path = run / "turns.parquet"
    table = pq.read_table(path)
    values = table["value"].to_numpy().copy()
    values[0] += 0.5
    pq.write_table(table.set_column(table.column_names.index("value"), "value", pa.array(values)), path)
    found = verify_run(run)
    # One value, and what stands on it.
    assert ("rouge_l", MEASURES, 1) in wrong(found)
    assert {metric for metric, kind, _ in wrong(found) if kind == AGREEMENT} == {"rouge_l"}


def test_a_rating_that_was_changed_afterwards(run):
    path = run / "texts.parquet"
    table = pq.read_table(path)
    ratings = table["ratings"].to_pylist()
    ratings[0] = json.dumps({name: [1.0 for _ in given] for name, given in json.loads(ratings[0]).items()})
    pq.write_table(table.set_column(table.column_names.index("ratings"), "ratings", pa.array(ratings)), path)
    assert {kind for _, kind, _ in wrong(verify_run(run))} == {AGREEMENT, CEILINGS, CONTRASTS}


def test_several_corpora_systems_in_another_order_and_each_alone(tmp_path):
    options = {"systems": ["search", "echo", "large"], "per_system": True, "resamples": 50}
    agreement = dialogauge.correlate({"one": RATED, "two": RATED}, "rouge_l,bleu,length", **options)
    found = verify_run(agreement.save(tmp_path / "run"))
    assert found.agrees
    assert {check.system for check in found.checks} >= {"one, overall, echo, turns", "mean, overall, systems"}
    assert not found.underived


def test_the_recipe_of_a_paper(tmp_path):
    found = verify_run(
        dialogauge.correlate(RATED, "bleu,meteor", compat="fbd-paper", resamples=50).save(tmp_path / "run")
    )
    assert found.agrees
    assert not found.underived


def test_a_metric_of_ones_own_has_kept_values_alone(tmp_path):
    mine = dialogauge.metric("mine", lambda turn: float(len(turn.response)), higher_is_better=False)
    found = verify_run(dialogauge.correlate(RATED, [mine, "length"], resamples=50).save(tmp_path / "run"))
    assert found.agrees
    assert [text.partition(":")[0] for text in found.underived] == [
        "values of turns by mine",
        "correlations of systems' scores by mine, and tests beside it",
    ]
    # Of turns: both metrics and their test; of systems, length alone.
    systems = {check.system for check in found.checks if check.kind in (AGREEMENT, CONTRASTS)}
    assert systems == {"rated, overall, turns", "rated, overall, systems"}
    assert not [check for check in found.checks if check.kind == CONTRASTS and "systems" in check.system]


def test_a_judge_stands_on_its_kept_answers(tmp_path):
    def by_length(asked):
        return chat(str(min(5, 1 + len(json.loads(asked.body["messages"][1]["content"])["reply"]) // 20)))

    with Scripted(by_length) as server:
        wanted = f"judge[model=scripted,url={server.url}]"
        run = dialogauge.correlate(RATED, [wanted, "length"], cache=False, resamples=50).save(tmp_path / "run")
        asked = len(server.requests)
        found = verify_run(run)
        assert len(server.requests) == asked
    assert found.agrees
    assert not found.underived
    assert [check.numbers for check in found.checks if check.kind == JUDGED] == [80]
    lines = (run / "answers.jsonl").read_text().splitlines()
    content = json.loads(lines[-1])["answer"]["choices"][0]["message"]["content"]
    (run / "answers.jsonl").write_text(
        "\n".join([*lines[:-1], lines[-1].replace(f'"{content}"', '"1"' if content != "1" else '"2"')]) + "\n"
    )
    assert ("judge[model=scripted]", JUDGED, 1) in wrong(verify_run(run))


def test_without_texts_nothing_is_derived(kept, tmp_path):
    found = verify_run(kept.save(tmp_path / "run", texts=False))
    assert not found.checks
    assert "holds no texts" in found.underived[0]


def test_dialogues_that_were_rated_as_a_whole_are_named(tmp_path):
    rng = np.random.default_rng(0)
    turns = []
    for dialogue in range(12):
        whole = {"overall": (float(dialogue % 5), float(dialogue % 4))}
        for place in range(3):
            turn = Turn(f"{dialogue}/{place}", "x " * int(rng.integers(1, 9)), ("hi",), dialogue=str(dialogue))
            turns.append(replace(turn, ratings={"overall": (place, dialogue % 3)}, extra={"dialogue_ratings": whole}))
    agreement = dialogauge.correlate({"talks": Corpus(turns)}, "length,distinct.1", level="turn,dialogue", resamples=50)
    found = verify_run(agreement.save(tmp_path / "run"))
    assert found.agrees
    assert found.underived == ["talks, dialogues: they were rated as a whole, and of that the run holds the mean"]
    assert {check.system for check in found.checks} == {"talks", "talks, overall, turns"}


def test_turns_without_a_value(tmp_path):
    """Correlations stand on the turns that all metrics have a value for."""
    turns = [Turn(str(i), "a b " * (i % 7), ("hi",), ("a b",), ratings={"overall": (i % 5, i % 3)}) for i in range(40)]
    turns[3] = replace(turns[3], references=())
    found = verify_run(dialogauge.correlate({"c": Corpus(turns)}, "rouge_l,length", resamples=50).save(tmp_path / "r"))
    assert found.agrees
    assert not found.underived
