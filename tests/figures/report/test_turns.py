"""The turns behind a report: their numbers, and the JSON in which they stand in the page."""

import base64
import gzip
import json
import re
import time
from dataclasses import replace

import numpy as np
import pytest

from dialogauge import correlate, evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.figures.report import data_block as block
from dialogauge.figures.report import turns as report_turns
from dialogauge.figures.report.turns import ReportTurns, TurnMetric, data_block, turns_of_agreement, turns_of_result

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "\u2028",
    "\ud800",
    "\x00\x1b[31m",
    "__proto__",
    '"]}',
    "\\u003c",
]


def answers(system: str, replies: list[str], **more) -> list[Turn]:
    return [Turn(str(i), text, (f"question {i}",), (f"answer {i}",), system, **more) for i, text in enumerate(replies)]


def read(turns: ReportTurns) -> dict:
    """What the page's script is given."""
    found = re.fullmatch(
        r'<script type="([a-z/]+)" id="turns"( data-packed="gzip")?>(.*)</script>', data_block(turns), re.S
    )
    text = gzip.decompress(base64.b64decode(found[3])).decode() if found[2] else found[3]
    return json.loads(text)


def texts_of(data: dict, column: str, turn: int) -> list[str]:
    return [data["texts"][text] for text in data["groups"][data[column][turn]]]


def test_values_and_parts_stand_beside_their_turns():
    """Turns are given system by turn about, samples stand system by system."""
    both = zip(answers("a", ["one", "one two three"]), answers("b", ["one two", ""]), strict=True)
    found = turns_of_result(evaluate(Corpus([turn for pair in both for turn in pair]), "length,bleu"))
    assert [(turn.system, turn.id) for turn in found.turns] == [("a", "0"), ("b", "0"), ("a", "1"), ("b", "1")]
    assert found.values["length"].tolist() == [1, 2, 3, 0]
    assert found.values["length.characters"].tolist() == [3, 7, 13, 0]
    names = [(metric.name, metric.part_of, metric.higher_is_better) for metric in found.metrics]
    assert names == [("length", None, None), ("length.characters", "length", None), ("bleu", None, True)]


def test_ratings_are_means_and_each_rater_is_kept():
    turns = [Turn("1", "a", ratings={"overall": [4, None, 5]}), Turn("2", "b", ratings={"fun": 1}), Turn("3", "c")]
    found = turns_of_result(evaluate(turns, "length"))
    np.testing.assert_array_equal(found.ratings["overall"], [4.5, np.nan, np.nan])
    overall, fun = read(found)["ratings"]
    assert overall["lists"] == [[4, None, 5]]
    assert overall["given"] == [0, -1, -1]
    assert fun["values"] == [None, 1, None]
    assert found.flags["not rated"] == [2]


def test_a_system_may_have_no_value_of_a_metric():
    turns = [Turn("1", "a", system="a", extra={"x": 1}), Turn("1", "b", system="b"), Turn("2", "c", system="b")]
    found = turns_of_result(evaluate(turns, "length,column[name=x]"))
    np.testing.assert_array_equal(found.values["column[name=x]"], [1, np.nan, np.nan])
    assert found.flags == {"no column[name=x]": [1, 2]}


def test_flags_are_of_some_turns_and_never_of_all():
    turns = [Turn("1", "a", ("q",), ("r",)), Turn("2", "\u200b ", ("q",)), Turn("3", "c", ("q",), ("r",))]
    found = turns_of_result(evaluate(turns, "length,bleu"))
    assert found.flags == {"empty reply": [1], "no reference": [1], "no bleu": [1]}
    assert turns_of_result(evaluate([Turn("1", "a"), Turn("2", "b")], "length")).flags == {}


def test_pushes_of_a_distance_are_its_influences(fbd_result):
    found = turns_of_result(fbd_result)
    for sample in fbd_result.samples:
        pushes = sample.metric.influences(sample.summary, sample.rows)
        own = [place for place, turn in enumerate(found.turns) if turn.system == sample.system]
        np.testing.assert_allclose(found.pushes["fbd"][own], pushes)


def test_pushes_are_known_of_a_kept_run_that_names_no_rows(fbd_result):
    """Where no turn was left out, rows are in the order of the turns; else nothing says whose they are."""
    whole = turns_of_result(fbd_result)
    unnamed = replace(fbd_result, samples=[replace(sample, ids=[]) for sample in fbd_result.samples])
    np.testing.assert_array_equal(turns_of_result(unnamed).pushes["fbd"], whole.pushes["fbd"])
    longer = replace(unnamed.texts, turns=[*unnamed.texts.turns, Turn("more", "more", system=whole.turns[0].system)])
    pushes = turns_of_result(replace(unnamed, texts=longer)).pushes["fbd"]
    first = [turn.system == whole.turns[0].system for turn in longer]
    assert np.isnan(pushes[first]).all()
    assert not np.isnan(pushes[~np.array(first)]).any()


@pytest.fixture
def fbd_result():
    rng = np.random.default_rng(0)
    words = ["tea", "rain", "train", "music", "dinner", "garden"]
    turns = [
        Turn(str(i), " ".join(rng.choice(words, 3)), (f"about {i}",), (" ".join(rng.choice(words, 3)),), system)
        for system in ("a", "b")
        for i in range(8)
    ]
    return evaluate(Corpus(turns), "fbd")


def test_without_texts_there_are_names_and_values():
    result = replace(evaluate(answers("a", ["one", "one two"]), "length"), texts=None)
    found = turns_of_result(result)
    assert not found.texts
    data = read(found)
    assert (data["kept"], data["ids"], data["systems"]) == (False, ["0", "1"], ["a"])
    assert data["metrics"][0]["values"] == [1, 2]
    assert "empty reply" not in found.flags


def test_texts_that_lack_a_turn_are_refused():
    """As those of a kept run may that somebody changed."""
    result = evaluate(Corpus(answers("a", ["one", "two"])), "length", keep_texts=True)
    with pytest.raises(InputError, match="found none of the turn '0' of 'a'"):
        turns_of_result(replace(result, texts=answers("a", ["one", "two"])[1:]))


def test_only_systems_of_the_result(everyday_like):
    result = evaluate(everyday_like, "length")
    one = replace(result, systems={"b": 3}, samples=[s for s in result.samples if s.system == "b"])
    assert {turn.system for turn in turns_of_result(one).turns} == {"b"}


@pytest.fixture
def everyday_like():
    return Corpus(answers("a", ["x", "y", "z"]) + answers("b", ["u", "v", "w"]))


def test_past_the_most_turns_a_page_has_none(everyday_like, monkeypatch):
    result = evaluate(everyday_like, "length")
    monkeypatch.setattr(report_turns, "MOST_TURNS", 6)
    assert turns_of_result(result) is not None
    monkeypatch.setattr(report_turns, "MOST_TURNS", 5)
    assert turns_of_result(result) is None


def rated(corpus: str, dimension: str, count: int = 6) -> list[Turn]:
    return [
        Turn(f"{corpus}{i}", "word " * i, ("q",), ratings={dimension: [i % 5, 3]}, system=f"s{i % 2}")
        for i in range(count)
    ]


def test_an_agreement_brings_its_corpora():
    agreement = correlate({"x": rated("x", "overall"), "y": rated("y", "fluency", 8)}, "length.characters,length")
    found = turns_of_agreement(agreement)
    assert found.corpora == ["x"] * 6 + ["y"] * 8
    assert np.isnan(found.ratings["overall"]).tolist() == [False] * 6 + [True] * 8
    assert [(metric.name, metric.part_of) for metric in found.metrics] == [
        ("length", None),
        ("length.characters", "length"),
    ]
    data = read(found)
    assert data["corpora"] == ["x", "y"]
    assert data["metrics"][0]["values"] == [*range(6), *range(8)]
    assert data["metrics"][1]["whole"] == 0


def test_an_agreement_without_rated_turns_has_none():
    agreement = correlate({"x": rated("x", "overall")}, "length")
    assert turns_of_agreement(agreement).corpora == []
    assert turns_of_agreement(replace(agreement, rated=[])) is None


@pytest.mark.parametrize("largest", [block.LARGEST_PLAIN, 10], ids=["plain", "packed"])
def test_hostile_texts_come_back_and_close_nothing(largest, monkeypatch):
    monkeypatch.setattr(block, "LARGEST_PLAIN", largest)
    turns = [Turn(text, text, (text, "same"), (text,), text, {text: 1}, facts=(text,)) for text in HOSTILE]
    metrics = [TurnMetric(text, True, 2) for text in HOSTILE]
    values = {text: np.arange(len(HOSTILE)) / 7 for text in HOSTILE}
    given = ReportTurns(turns, metrics, values, {text: np.ones(len(HOSTILE)) for text in HOSTILE}, values, {"<": [1]})
    assert data_block(given).count("<") == 2
    assert not set(data_block(given)) & {"\u2028", "\u2029", "\ud800"}
    data = read(given)
    assert data["ids"] == data["systems"] == HOSTILE
    for place, text in enumerate(HOSTILE):
        assert data["texts"][data["response"][place]] == text
        assert texts_of(data, "context", place) == [text, "same"]
        assert texts_of(data, "references", place) == texts_of(data, "facts", place) == [text]
        assert data["metrics"][place]["name"] == data["ratings"][place]["name"] == data["pushes"][place]["name"] == text


def test_a_text_and_a_context_stand_in_the_block_once():
    replies = [Turn("1", "fine", ("how are you?", "tell me"), system=system) for system in ("a", "b", "c")]
    data = read(turns_of_result(evaluate(Corpus(replies), "length")))
    assert sorted(data["texts"]) == ["fine", "how are you?", "tell me"]
    assert len(data["groups"]) == 2  # the empty one, which stands first, and the context
    assert data["groups"][0] == []
    assert len(set(data["context"])) == 1


def test_large_blocks_are_packed_the_same_every_time(monkeypatch):
    monkeypatch.setattr(block, "LARGEST_PLAIN", 100)
    found = turns_of_result(evaluate(answers("a", ["one", "two"]), "length"))
    packed = data_block(found)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert 'data-packed="gzip"' in packed
    assert packed == data_block(found)
    assert (
        gzip.decompress(base64.b64decode(packed.partition(">")[2].partition("<")[0])) == block.to_json(found).encode()
    )


def test_numbers_have_six_digits_and_sort_as_before():
    values = np.array([np.nan, 1 / 3, 12345.678, -1e-9, np.inf, 2.0])
    turns = ReportTurns([Turn(str(i), "") for i in range(6)], [TurnMetric("m", True, 3)], {"m": values})
    assert read(turns)["metrics"][0]["values"] == [None, 0.333333, 12345.7, -1e-9, None, 2]


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([1, 50, np.nan], 0),
        ([0.5, 99.1], 1),
        ([0.123, 0.9], 3),
        ([4.5, 5], 2),
        ([1e-5, 2e-5], 8),
        ([], 0),
        ([1e-12], 9),
    ],
)
def test_decimals(values, decimals):
    assert block.decimals_of(np.array(values, dtype=float)) == decimals
