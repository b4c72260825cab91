import json

import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write


def item(**changes):
    return {
        "context": "do you cook ?\nonly eggs .\n",
        "fact": "your persona: i keep hens.\nyour persona: i am shy.\n",
        "annotators": ["ann", "bob"],
        "responses": [
            {"response": "my hens help !\n", "model": "Original Ground Truth", "Natural": [3, 2], "Overall": [5, 4]},
            {"response": "i cook cook .\n", "model": "Seq2Seq", "Natural": [1, "N/A (odd)"], "Overall": [2, None]},
        ],
        **changes,
    }


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize("indent", [None, 2])
def test_turns(tmp_path, name, indent):
    corpus = load(write(tmp_path / name, json.dumps([item(), item(fact="_nofact\n")], indent=indent)))
    assert corpus.files[0].reader == "usr"
    setting = {"context": ("do you cook ?", "only eggs ."), "extra": {"annotators": ["ann", "bob"]}}
    facts = ("i keep hens.", "i am shy.")
    assert corpus.turns[:2] == [
        Turn(
            id="0",
            response="my hens help !",
            system="Original Ground Truth",
            ratings={"Natural": (3.0, 2.0), "Overall": (5.0, 4.0)},
            facts=facts,
            **setting,
        ),
        Turn(
            id="0",
            response="i cook cook .",
            references=("my hens help !",),
            system="Seq2Seq",
            ratings={"Natural": (1.0, None), "Overall": (2.0, None)},
            facts=facts,
            **setting,
        ),
    ]
    assert [(turn.id, turn.facts) for turn in corpus.turns[2:]] == [("1", ()), ("1", ())]


def test_without_the_original_reply(tmp_path):
    responses = [{"response": "a", "model": "bot"}]
    (turn,) = load(write(tmp_path / "a", json.dumps([item(responses=responses)])))
    assert turn.references == ()
    assert turn.ratings == {}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (item(context=["a"]), "context: expected text, found a list of 1 string"),
        (item(responses={}), "responses: expected a list of objects, found an empty object"),
        (item(responses=["a"]), "responses: expected a list of objects, found a list of 1 string"),
        (item(responses=[{"response": "a"}]), "model: expected the system's name, found an object with the fields"),
        (item(responses=[{"model": "a"}]), "response: expected text, found no such field"),
        (
            item(responses=[{"response": "a", "model": "b", "Overall": ["good"]}]),
            "rating 'Overall': expected a number, null or \"N/A\", found the text 'good'",
        ),
        (item(fact=3), "fact: expected a list of strings, found the number 3"),
        ({"contexts": "a", "responses": []}, "context: expected text, found no such field"),
        (7, "expected a JSON object, found the number 7"),
    ],
)
def test_bad_items(tmp_path, bad, message):
    path = write(tmp_path / "a", "[\n" + ",\n".join(json.dumps(each) for each in (item(), bad, item())) + "\n]\n")
    assert refusal(path).startswith(f":3: item 2: {message}")
    corpus = load(path, skip_invalid=True)
    assert [turn.id for turn in corpus.by_system["Seq2Seq"]] == ["0", "2"]
    assert corpus.caveats[0].message.startswith(f"{path}: 1 line left out (line 3: item 2: {message}")


def test_a_model_twice(tmp_path):
    twice = item(responses=item()["responses"] * 2)
    path = write(tmp_path / "a", json.dumps([twice], indent=1))
    assert refusal(path).startswith(":2: id '0' of system 'Original Ground Truth' stands already at ")
