"""Metrics of level "dialogue": whole dialogues, whatever the batches and however long the stream."""

import json

import numpy as np
import pytest

from dialogauge import Turn, evaluate, stream
from dialogauge.errors import InputError
from dialogauge.evaluation.measuring import whole_dialogues
from dialogauge.evaluation.measuring.whole_dialogues import stream_batches

WORDS = "the cat dog runs home and then sleeps".split()
METRICS = "self_repetition,echo[history=all],turns,length"


def corpus():
    """Twenty dialogues of two systems, of one to six turns with a context of one utterance, so that what was said
    earlier is known from other turns alone."""
    draw = np.random.default_rng(3)
    return [
        {
            "id": f"{dialogue}.{number}",
            "dialogue": str(dialogue),
            "system": system,
            "context": [" ".join(draw.choice(WORDS, 4))],
            "response": " ".join(draw.choice(WORDS, 5)),
        }
        for dialogue in range(20)
        for number in range(1 + dialogue % 6)
        for system in "ab"
    ]


def values(turns):
    return {(score.system, score.metric): (score.value, score.n) for score in evaluate(turns, METRICS).scores}


def given(turns):
    return [Turn(**{**turn, "context": tuple(turn["context"])}) for turn in turns]


@pytest.mark.parametrize("size", [1, 7])
def test_batches_hold_whole_dialogues(monkeypatch, size):
    expected = values(given(corpus()))
    monkeypatch.setattr("dialogauge.evaluation.sample.BATCH", size)
    assert values(given(corpus())) == expected


def test_rows_stay_with_their_turns(monkeypatch):
    """Dialogues that are mixed together turn by turn: each turn keeps its own value."""
    monkeypatch.setattr("dialogauge.evaluation.sample.BATCH", 3)
    turns = [
        Turn("0", "one two", dialogue="d"),
        Turn("1", "three four", dialogue="e"),
        Turn("2", "one two", dialogue="d"),  # as turn 0: 1
        Turn("3", "four five", dialogue="e"),  # nothing of turn 1's bigram: 0
        Turn("4", "one two", dialogue="e"),  # said in d, not in e: 0
    ]
    (sample,) = evaluate(turns, "self_repetition").samples
    assert sample.ids == ["2", "3", "4"]
    assert sample.values.tolist() == [1, 0, 0]


@pytest.fixture
def streamed(monkeypatch, tmp_path):
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 30)
    monkeypatch.setattr("dialogauge.evaluation.measuring.stream.STREAM_BATCH", 5)

    def load(turns):
        file = tmp_path / "turns.jsonl"
        file.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
        return stream(file)

    return load


def test_a_stream_is_parted_between_dialogues(streamed):
    expected = values(given(corpus()))
    found = values(streamed(corpus()))
    assert found.keys() == expected.keys()
    for key, (value, n) in found.items():
        assert n == expected[key][1]
        assert value == pytest.approx(expected[key][0], rel=1e-12)


def test_scattered_dialogues_of_a_stream_are_refused_before_any_work(streamed, monkeypatch):
    turns = sorted(corpus(), key=lambda turn: turn["id"].partition(".")[2])
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 60)
    monkeypatch.setattr("dialogauge.evaluation.measure.prepare", None)
    with pytest.raises(InputError, match=r"turns looks at whole dialogues.* sort the turns by dialogue"):
        evaluate(streamed(turns), "turns,length")


def test_a_dialogue_that_comes_again_late_is_refused(streamed):
    turns = corpus()
    with pytest.raises(InputError, match=r"those of '0' of 'a' do not: sort"):
        evaluate(streamed([*turns, {**turns[0], "id": "late"}]), "turns")


def test_without_such_metrics_scattered_dialogues_stream_as_before(streamed):
    turns = sorted(corpus(), key=lambda turn: turn["id"].partition(".")[2])
    assert evaluate(streamed(turns), "length").scores[0].n == len(turns) / 2


def test_a_dialogue_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(whole_dialogues, "LONGEST", 4)
    turns = [Turn(str(number), "", dialogue="d") for number in range(9)]
    with pytest.raises(InputError, match="at most 4 turns, found a longer one: 'd'"):
        list(stream_batches(turns, 3, ["turns"]))
    assert [len(batch) for batch in stream_batches(turns, 3)] == [3, 3, 3]
    alone = [Turn(str(number), "") for number in range(9)]
    assert [len(batch) for batch in stream_batches(alone, 4, ["turns"])] == [4, 4, 1]


def test_whole_dialogues_are_resampled():
    scores = evaluate(given(corpus()), "self_repetition,turns")
    assert scores.unit == "dialogues"
    for score in (scores.score(system, metric) for system in "ab" for metric in ("self_repetition", "turns")):
        assert score.low < score.value < score.high
