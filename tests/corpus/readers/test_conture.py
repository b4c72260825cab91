import json

import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write


def dialogue(number=4, **changes):
    return {
        "dialog_id": number,
        "turns": [
            {"user": "User: Any news? ", "chatbot": "Chatbot: none", "overall impression": 1},
            {"user": "User:", "chatbot": "Chatbot:", "overall impression": "N/A"},
        ],
        "dialog_ratings": [{"diverse": 3, "coherent": "N/A"}, {"diverse": 1}],
        **changes,
    }


@pytest.mark.parametrize("name", ["logs.json", "logs.json.gz"])
def test_turns(tmp_path, name):
    corpus = load(write(tmp_path / name, json.dumps([dialogue(), dialogue(5, dialog_ratings=None)], indent=4)))
    assert corpus.files[0].reader == "conture"
    extra = {"dialogue_ratings": {"diverse": [3.0, 1.0]}}
    said = ("Any news?", "none", "")
    assert corpus.turns == [
        Turn("4:0", "none", said[:1], (), "logs", {"overall impression": (1.0,)}, "4", extra=extra),
        Turn("4:1", "", said, (), "logs", {}, "4", extra=extra),
        Turn("5:0", "none", said[:1], (), "logs", {"overall impression": (1.0,)}, "5"),
        Turn("5:1", "", said, (), "logs", {}, "5"),
    ]


def test_a_system_that_is_named(tmp_path):
    corpus = load(write(tmp_path / "a", json.dumps([dialogue(system="bot"), dialogue(5)])))
    assert corpus.systems == ("bot", "a")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (dialogue(turns=None), "turns: expected a list of objects, found null"),
        (dialogue(turns=["a"]), "turns: expected a list of objects, found a list of 1 string"),
        (dialogue(turns=[{"user": "a"}]), "chatbot: expected text, found no such field"),
        (dialogue(turns=[{"user": "a", "chatbot": "b", "mood": "ok"}]), "rating 'mood': expected a number"),
        (dialogue(dialog_ratings={"diverse": 1}), "dialog_ratings: expected a list of objects, found an object"),
        (dialogue(dialog_ratings=[{"diverse": "very"}]), "rating 'diverse': expected a number"),
        (dialogue(True), "dialog_id: expected text or a whole number, found true"),
    ],
)
def test_bad_items(tmp_path, bad, message):
    path = write(tmp_path / "a", "[" + ",\n".join(json.dumps(each) for each in (dialogue(1), bad, dialogue(2))) + "]")
    assert refusal(path).startswith(f":2: item 2: {message}")
    assert {turn.dialogue for turn in load(path, skip_invalid=True)} == {"1", "2"}
