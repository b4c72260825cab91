"""A kept run's numbers, derived again from what it holds."""

import json
from contextlib import closing

import numpy as np
import pytest

import dialogauge
from dialogauge.errors import InputError
from dialogauge.evaluation.kept.saved import ANSWERS, MEASURES
from dialogauge.evaluation.kept.texts import TEXTS, TextsWriter
from dialogauge.studies.verify_run import JUDGED, SCORES, TURNS, verify_run
from dialogauge.studies.verify_run import MEASURES as NOTED
from tests.serving.scripted import Scripted, chat

METRICS = "bleu,rouge_l,distinct,length"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return dialogauge.evaluate("examples/everyday.jsonl", METRICS, resamples=50)


@pytest.fixture
def run(kept, tmp_path):
    return kept.save(tmp_path / "run")


def change_scores(run, **changes):
    path = run / "scores.json"
    document = json.loads(path.read_text())
    document["scores"][0] |= changes
    path.write_text(json.dumps(document))


def wrong(found):
    return [(check.metric, check.system, check.kind, check.differ) for check in found.checks if check.differ]


def test_what_was_just_kept_agrees(run):
    found = verify_run(run)
    assert found.agrees
    assert not found.underived
    assert {check.kind for check in found.checks} == {NOTED, TURNS, SCORES}
    # bleu: value, low, high, n and units of three systems
    assert sum(check.numbers for check in found.checks if (check.metric, check.kind) == ("bleu", SCORES)) == 15


@pytest.mark.parametrize("changes", [{"value": 99.0}, {"low": None}, {"high": 18.0}, {"n": 63}])
def test_a_score_that_does_not_follow_is_named(run, changes):
    first = json.loads((run / "scores.json").read_text())["scores"][0]
    change_scores(run, **changes)
    found = verify_run(run)
    assert wrong(found) == [(first["metric"], first["system"], SCORES, 1)]
    (name,) = changes
    assert f"{name} is " in next(check.example for check in found.checks if check.differ)


def test_rounding_is_no_difference(run):
    value = json.loads((run / "scores.json").read_text())["scores"][0]["value"]
    change_scores(run, value=value * (1 + 1e-12))
    assert verify_run(run).agrees
    change_scores(run, value=value * (1 + 1e-6))
    assert not verify_run(run).agrees


def test_a_value_of_a_turn_that_does_not_follow_is_named(run):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = run / "turns.parquet"
    with pq.ParquetFile(path) as file:
        groups = [file.read_row_group(number) for number in range(file.num_row_groups)]
    values = groups[0]["value"].to_numpy().copy()
    values[3] += 1
    groups[0] = groups[0].set_column(3, "value", pa.array(values))
    with pq.ParquetWriter(path, groups[0].schema) as writer:
        for group in groups:
            writer.write_table(group)
    assert [(kind, differ) for _, _, kind, differ in wrong(verify_run(run))] == [(TURNS, 1)]


def test_measures_that_do_not_follow_from_the_texts_are_named_with_all_that_came_of_them(run):
    with np.load(run / MEASURES) as file:
        arrays = dict(file)
    record = json.loads((run / "run.json").read_text())
    place = next(place for place, said in enumerate(record["samples"]) if said["metric"] == "length")
    name = next(name for name in arrays if name.startswith(f"{place}.") and arrays[name].dtype == np.float64)
    arrays[name] = arrays[name] + 1.0
    np.savez_compressed(run / MEASURES, **arrays)
    assert {kind for metric, _, kind, _ in wrong(verify_run(run)) if metric == "length"} == {NOTED, TURNS, SCORES}


def test_other_texts_show(kept, run):
    turns = list(kept.texts)
    turns[0] = turns[0].__class__(turns[0].id, "another reply", turns[0].context, system=turns[0].system)
    (run / TEXTS).unlink()
    writer = TextsWriter(run / TEXTS)
    writer.write(turns)
    writer.close()
    assert {kind for _, _, kind, _ in wrong(verify_run(run))} == {NOTED}


def test_texts_that_lack_a_system_are_refused(kept, run):
    (run / TEXTS).unlink()
    with (run / TEXTS).open("wb") as file, closing(TextsWriter(file)) as writer:
        writer.write(turn for turn in kept.texts if turn.system != "dull")
    with pytest.raises(InputError, match=r"run: is not a whole run: texts.parquet: holds no turn of 'dull'"):
        verify_run(run)


def test_without_texts_the_measures_are_taken_as_they_are_and_that_is_said(kept, tmp_path):
    found = verify_run(kept.save(tmp_path / "run", texts=False))
    assert found.agrees
    assert NOTED not in {check.kind for check in found.checks}
    assert found.underived == ["what metrics noted of each turn: the run holds no texts"]


def test_metrics_of_other_code_are_not_run(tmp_path):
    shouts = dialogauge.metric("shouts", lambda turn: turn.response.isupper())
    result = dialogauge.evaluate("examples/everyday.jsonl", shouts, resamples=20)
    found = verify_run(result.save(tmp_path / "run"))
    assert found.agrees
    assert [text.partition(": ")[2] for text in found.underived] == ["that takes code of yours, which is not run here"]


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a directory that `score --out` or `correlate --out` wrote"):
        verify_run(tmp_path)


def test_a_judges_numbers_follow_from_its_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(tmp_path / "cache"))
    with Scripted(lambda asked: chat(str(1 + asked.number % 5))) as server:
        metric = f"judge[prompt=coherence,model=scripted,url={server.url}]"
        result = dialogauge.evaluate("examples/everyday.jsonl", metric, systems=["good"], resamples=20)
        run = result.save(tmp_path / "run")
        sent = len(server.requests)
        found = verify_run(run)
        assert len(server.requests) == sent
    assert found.agrees
    assert JUDGED in {check.kind for check in found.checks}
    assert not found.underived
    answers = (run / ANSWERS).read_text().splitlines()
    assert len(answers) >= 64
    changed = [line.replace('"content":"1"', '"content":"5"') for line in answers]
    (run / ANSWERS).write_text("".join(f"{line}\n" for line in changed))
    assert {kind for _, _, kind, _ in wrong(verify_run(run))} == {JUDGED}
    (run / ANSWERS).write_text("".join(f"{line}\n" for line in answers[:-3]))
    assert "3 answers are not kept" in verify_run(run).underived[0]
    for damaged in (
        '{"url": ',
        '{"url": 1}\n',
        answers[0].replace('"choices"', '"chosen"'),
        answers[0].replace("200", "[]"),
    ):
        (run / ANSWERS).write_text(damaged)
        assert "answers.jsonl cannot be read" in verify_run(run).underived[0]


def test_a_run_that_was_too_large_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    run = dialogauge.evaluate("examples/everyday.jsonl", "length", workers=1).save(tmp_path / "run")
    said = "was too large to keep what it measured (more than 200,000 turns)"
    found = verify_run(run)
    assert found.underived == [f"every number: the run {said}"]
    assert found.sentence() == "no number could be derived again"
    assert not found.agrees  # nothing was checked
