import json

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.rated_pairs import holds_rated_pairs, read_rated_pairs
from dialogauge.errors import InputError
from tests.corpus.files import refusal, write

FIRST = {
    "id": 17,
    "context": ["hi"],
    "dialogue": "d",
    "a": {"system": "s0", "response": "x", "references": ["r"]},
    "b": {"system": "s1", "response": "y"},
    "preferences": {"overall": ["a", "tie", None], "fun": [None]},
    "raters": {"overall": ["p", "q", "r"]},
    "trusted": {"overall": [True, False, True]},
    "probability": 0.2,
}
SECOND = {
    "id": "17",
    "context": ["hi"],
    "dialogue": "d",
    "a": {"system": "s2", "response": "z"},
    "b": {"system": "s0", "response": "x"},
    "preferences": {"overall": "b"},
}


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_other_verbs_see_each_reply_once(tmp_path):
    corpus = load(write(tmp_path / "pairs.jsonl", lines(FIRST, SECOND)))
    assert [(turn.system, turn.id, turn.response) for turn in corpus] == [
        ("s0", "17", "x"),
        ("s1", "17", "y"),
        ("s2", "17", "z"),
    ]
    assert corpus.turns[0].references == ("r",)
    assert {turn.dialogue for turn in corpus} == {"d"}
    assert corpus.turns[1].extra == {"probability": 0.2}
    assert not any(turn.ratings for turn in corpus)


def test_what_people_said(tmp_path):
    path = write(tmp_path / "pairs.jsonl", lines(FIRST, SECOND))
    assert holds_rated_pairs(path)
    (first, second), caveats = read_rated_pairs(path)
    assert first.preferences == {"overall": ("a", "tie", None)}  # nobody said anything about fun
    assert first.extra["probability"] == 0.2
    assert second.preferences == {"overall": ("b",)}
    assert (second.a.system, second.b.system) == ("s2", "s0")
    assert caveats == []


def test_only_what_is_trusted(tmp_path):
    (first, second), caveats = read_rated_pairs(write(tmp_path / "p.jsonl", lines(FIRST, SECOND)), trusted=True)
    assert first.preferences["overall"] == ("a", None, None)
    assert second.preferences["overall"] == ("b",)
    assert [caveat.message for caveat in caveats] == ["1 preference left out that failed the study's checks"]
    with pytest.raises(InputError, match="--trusted: expected pairs with the field `trusted`"):
        read_rated_pairs(write(tmp_path / "q.jsonl", lines(SECOND)), trusted=True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": None}, ":1: id: expected text or a whole number, found none"),
        ({"b": {"system": "s0", "response": "y"}}, ":1: expected replies of two systems, found 's0' twice"),
        ({"b": {"response": "y"}}, ":1: b: expected an object such as"),
        ({"a": {"system": "s0"}}, ":1: a: response: expected text, found no such field"),
        ({"preferences": ["a"]}, ":1: preferences: expected an object such as"),
        ({"preferences": {"overall": ["c"]}}, """:1: preference 'overall': expected "a", "b", "tie" or null, found"""),
        ({"preferences": {"overall": 1}}, """:1: preference 'overall': expected "a", "b", "tie" or null, found"""),
        ({"preference": {}}, ":1: unknown field"),
    ],
)
def test_what_is_refused(tmp_path, changed, message):
    record = {**FIRST, **changed}
    if "preference" in record:
        del record["preferences"]
    assert refusal(write(tmp_path / "a", lines(record))).startswith(message)


def test_another_reply_under_the_same_name(tmp_path):
    other = {**SECOND, "b": {"system": "s0", "response": "other"}}
    expected = ":2: id '17' of system 's0': expected the reply 'x', found 'other'"
    assert refusal(write(tmp_path / "a", lines(FIRST, other))) == expected
