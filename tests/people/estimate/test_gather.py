"""Ratings and pairs from several files, joined to the turns."""

import json

import pytest

import dialogauge
from dialogauge import InputError
from dialogauge.people.estimate.gather import gather
from tests.corpus.files import write_lines

IDS = [str(i) for i in range(40)]


def line(i, system, **more):
    return {"id": i, "context": [f"q{i}"], "response": f"{system} {i}", "system": system, **more}


@pytest.fixture
def turns(tmp_path):
    return write_lines(tmp_path / "turns.jsonl", *[line(i, system) for i in IDS for system in "ab"])


def pairs(path):
    """Half of the contexts, where b wins, were chosen with .1, the others with .9: b is preferred in nine of ten."""
    rows = []
    for i in IDS:
        won = int(i) % 2
        a, b = ({"system": system, "response": f"{system} {i}"} for system in "ab")
        shared = {"id": i, "context": [f"q{i}"], "a": a, "b": b, "probability": 0.1 if won else 0.9}
        rows.append({**shared, "preferences": {"overall": ["b" if won else "a"]}})
    return write_lines(path, *rows)


def test_pairs_are_weighted_alike_wherever_they_stand(turns, tmp_path):
    path = pairs(tmp_path / "pairs.jsonl")
    alone, joined = dialogauge.estimate(path, "length"), dialogauge.estimate(turns, "length", ratings=path)
    assert joined.pair("a", "b").classical == pytest.approx(0.1)
    assert alone.pair("a", "b").classical == pytest.approx(0.1)


def test_marks_of_two_studies_stand_side_by_side(turns, tmp_path):
    def study(dimension, trusted):
        marks = {"ratings": {dimension: [5, 1]}, "trusted": {dimension: trusted}, "raters": {dimension: ["r1", "r2"]}}
        return write_lines(tmp_path / f"{dimension}.jsonl", *[line(i, "a", **marks) for i in IDS])

    studies = [study("overall", [True, False]), study("coherence", [False, True])]
    corpus, _ = gather(turns, studies, trusted=True)
    rated = next(turn for turn in corpus if turn.system == "a")
    assert [value for value in rated.ratings["overall"] if value is not None] == [5]
    assert [value for value in rated.ratings["coherence"] if value is not None] == [1]
    assert rated.extra["raters"].keys() == {"overall", "coherence"}


def test_two_chances_of_one_turn_are_refused(turns, tmp_path):
    files = [
        write_lines(tmp_path / f"{name}.jsonl", line("1", "a", ratings={name: 3}, probability=chance))
        for name, chance in (("x", 0.2), ("y", 0.4))
    ]
    with pytest.raises(InputError, match=r"turn '1' of 'a' was chosen with probability 0\.4, elsewhere with 0\.2"):
        gather(turns, files)


@pytest.mark.parametrize("anytime", [None, 50])
def test_where_all_is_rated_these_turns_leave_nothing_to_chance(tmp_path, anytime):
    given = {"a": lambda i: 2 + i % 4, "b": lambda i: 1 + i // 2 % 4}
    rated = [line(i, system, ratings={"overall": given[system](int(i))}) for i in IDS for system in "ab"]
    found = dialogauge.estimate(
        write_lines(tmp_path / "rated.jsonl", *rated), "length", these_turns=True, anytime=anytime
    )
    pair = found.pair("a", "b")
    assert (pair.value, pair.low, pair.high) == pytest.approx((1, 1, 1))
    assert (pair.p, pair.better) == (0, "a")
    assert found.sentences()[0].startswith("People would prefer a")
    json.dumps(found.to_dict(), allow_nan=False)
