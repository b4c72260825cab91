import json

import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write
from tests.corpus.samples_of_forms import texts

RATED = {"Fluent": [1, 2, "N/A (I cannot say)"], "Overall": [4, None, 0]}


def turn(context, response, system="Bot", **changes):
    return {"context": context, "response": response, "system": system, "annotations": RATED, **changes}


def dialogue(context, system="Bot", **annotations):
    return {"context": context, "system": system, "annotations": annotations}


def read(tmp_path, *records, name="a.json", **options):
    return load(write(tmp_path / name, json.dumps(records, indent=1)), **options)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_turns_of_a_dialogue(tmp_path, name):
    corpus = read(
        tmp_path,
        turn("User: Hi!", "System: Hello."),
        turn("User: Hi!\nSystem: Hello.\nUser: Rain?", "System: Some: yes"),
        turn("User: Hi!", "System: Hey", "Human"),
        dialogue("User: Hi!\nSystem: Hello.\nUser: Rain?", Coherent=[1, "N/A (short)", 2], Depth=["N/A"]),
        name=name,
    )
    assert corpus.files[0].reader == "fed"
    ratings = {"Fluent": (1.0, 2.0, None), "Overall": (4.0, None, 0.0)}
    whole = {"dialogue_ratings": {"Coherent": [1.0, None, 2.0]}}
    assert corpus.turns == [
        Turn("0", "Hello.", ("Hi!",), (), "Bot", ratings, "3", extra=whole),
        Turn("1", "Some: yes", ("Hi!", "Hello.", "Rain?"), (), "Bot", ratings, "3", extra=whole),
        Turn("2", "Hey", ("Hi!",), (), "Human", ratings),
    ]
    assert corpus.caveats == ()


def test_the_response_tells_dialogues_with_one_beginning_apart(tmp_path):
    corpus = read(
        tmp_path,
        dialogue("User: Hi!\nSystem: Hello.", Depth=[1]),
        dialogue("User: Hi!\nSystem: Hey.", Depth=[2]),
        turn("User: Hi!", "System: Hey."),
        turn("User: Hi!", "System: Yo."),
    )
    assert [each.dialogue for each in corpus] == ["1", None]
    (caveat,) = corpus.caveats
    assert caveat.code == "dialogues_left_out"
    assert caveat.message.endswith("1 dialogue rated as a whole, of which no turn was rated, left out")


def test_only_dialogues(tmp_path):
    path = write(tmp_path / "a", json.dumps([dialogue("User: Hi!", Depth=[1])]))
    left_out = "dialogue rated as a whole, of which no turn was rated, left out"
    assert refusal(path) == f": expected turns, found none: 1 {left_out}"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (turn(["a"], "b"), "context: expected text, found a list of 1 string"),
        (turn("a", None), "response: expected text, found null"),
        (turn("a", "b", annotations=[1]), "ratings: expected an object"),
        (turn("a", "b", annotations={"Fluent": ["fine"]}), "rating 'Fluent': expected a number, null or \"N/A\""),
        (turn("a", "b", system=["x"]), "system: expected text or a whole number, found a list of 1 string"),
        ({"context": "a", "responce": "b", "annotations": {}}, "unknown field 'responce'; did you mean 'response'?"),
        (dialogue("a", Depth=["deep"]), "rating 'Depth': expected a number, null or \"N/A\", found the text 'deep'"),
    ],
)
def test_bad_items(tmp_path, bad, message):
    path = write(tmp_path / "a", "[" + ",\n".join(json.dumps(each) for each in (turn("a", "b"), bad)) + "]")
    assert refusal(path).startswith(f":2: item 2: {message}")
    assert [each.id for each in load(path, skip_invalid=True)] == ["0"]


def test_evaluation_data_of_dstc10(tmp_path):
    corpus = load(write(tmp_path / "dstc7_eval.json", texts()["fed of dstc10"]))
    system = "dstc7_eval"
    first = {"relevance": (1.0, 2.0, 3.0), "overall": (4.0, 5.0, 4.0)}
    second = {"relevance": (3.0, 3.0, 2.0), "overall": (4.0, 2.0, 3.0)}
    assert corpus.files[0].reader == "fed"
    assert corpus.turns == [
        Turn("0", "fine é", ("hi", "how are you ?"), ("very well",), system, first),
        Turn("1", "there", ("where is it ?",), ("over there", "here"), system, second),
    ]
