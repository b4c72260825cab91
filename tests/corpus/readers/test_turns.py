import json

import pandas as pd
import pytest

from dialogauge.corpus import Turn, load
from dialogauge.corpus.reading.reader import system_name
from tests.corpus.files import refusal, write, write_lines


def array(*items):
    """One item per line, from line 2 on."""
    return "[\n" + ",\n".join(item if isinstance(item, str) else json.dumps(item) for item in items) + "\n]\n"


@pytest.mark.parametrize("name", ["bot.json", "bot.json.gz"])
def test_plain_and_compressed(tmp_path, name):
    record = {
        "id": 7,
        "context": ["hi", "hello"],
        "response": "fine",
        "references": ["great"],
        "system": "s0",
        "ratings": {"overall": [4, None]},
        "speed": 0.5,
    }
    corpus = load(write(tmp_path / name, json.dumps([{"response": "a"}, record, {"response": "b"}], indent=1)))
    assert [file.reader for file in corpus.files] == ["json"]
    assert corpus.turns == [
        Turn("0", "a", system="bot"),
        Turn("7", "fine", ("hi", "hello"), ("great",), "s0", {"overall": (4.0, None)}, extra={"speed": 0.5}),
        Turn("1", "b", system="bot"),
    ]
    assert corpus.caveats == ()


def test_as_pandas_writes_it(tmp_path):
    frame = pd.DataFrame(
        {
            "response": ["a/b", "caf\xe9"],
            "context": [["hi", "you?"], None],
            "system": ["x", "y"],
            "score": [0.5, float("nan")],
        }
    )
    for options in ({}, {"indent": 2}, {"force_ascii": False}):
        frame.to_json(tmp_path / "a.json", orient="records", **options)
        assert load(tmp_path / "a.json").turns == [
            Turn("0", "a/b", ("hi", "you?"), system="x", extra={"score": 0.5}),
            Turn("0", "caf\xe9", system="y"),
        ]


def test_the_same_turns_as_json_lines(tmp_path):
    said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    records = [
        {"messages": said, "response": "a"},
        {"dialogue": 3, "facts": "f", "response": {"role": "b", "content": ""}},
    ]
    array_of = load(write(tmp_path / "a.json", json.dumps(records)))
    lines = load(write(tmp_path / "a.jsonl", "".join(json.dumps(record) + "\n" for record in records)))
    assert array_of.turns == lines.turns


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"text": "a"}, "response: expected text, found no such field (the fields are 'text')"),
        ({"response": None}, "response: expected text, found null"),
        ({"response": "a", "ratings": {"d": "good"}}, "rating 'd': expected a number, null or \"N/A\", found the text"),
        ({"response": "a", "refrences": ["b"]}, "unknown field 'refrences'; did you mean 'references'?"),
        ({"Response": "a"}, "unknown field 'Response'; did you mean 'response'?"),
        ([1, 2], "expected a JSON object, found a list of 2 numbers"),
        ("null", "expected a JSON object, found null"),
        ('{"response": "a", "x": NaN}', "not valid JSON: NaN is not a JSON number"),
    ],
)
def test_bad_items(tmp_path, bad, message):
    path = write(tmp_path / "a.json", array({"response": "a"}, bad, {"response": "c"}))
    assert refusal(path).startswith(f":3: item 2: {message}")
    corpus = load(path, skip_invalid=True)
    assert [(turn.id, turn.response) for turn in corpus] == [("0", "a"), ("2", "c")]
    (caveat,) = corpus.caveats
    assert caveat.code == "skipped_lines"
    assert caveat.message.startswith(f"{path}: 1 line left out (line 3: item 2: {message}")


def test_a_first_item_that_nearly_has_a_response(tmp_path):
    path = write(tmp_path / "a.json", array({"Responses": "a"}, {"response": "b"}))
    assert refusal(path) == ":2: item 1: unknown field 'Responses'; did you mean 'response'?"
    assert [(turn.id, turn.response) for turn in load(path, skip_invalid=True)] == [("1", "b")]


def test_an_id_given_twice(tmp_path):
    path = write(tmp_path / "a.json", array({"response": "a", "id": "x"}, {"response": "b", "id": "x"}))
    assert refusal(path) == f":3: id 'x' of system 'a' stands already at {path}:2; ids must differ"


def test_a_broken_array_is_refused_in_any_case(tmp_path):
    path = write(tmp_path / "a.json", '[\n{"response": "a"}\n{"response": "b"}]\n')
    for skip in (False, True):
        assert refusal(path, skip_invalid=skip).startswith(":3: expected a JSON array that goes on with")


def test_an_array_without_items(tmp_path):
    path = write(tmp_path / "a.json", "[]\n")
    assert refusal(path).startswith(":1: no reader recognises a file that begins '[]'")
    assert refusal(path, reader="json") == ": expected turns, found none"


@pytest.mark.parametrize("name", ["bot.jsonl", "bot.json.gz"])
def test_plain_and_compressed_lines(tmp_path, name):
    corpus = load(write_lines(tmp_path / name, {"response": "a"}, {"response": "b"}))
    assert [(turn.id, turn.response, turn.system) for turn in corpus] == [
        ("0", "a", "bot"),
        ("1", "b", "bot"),
    ]
    assert [file.reader for file in corpus.files] == ["jsonl"]


def test_blank_lines_and_line_ends_of_windows(tmp_path):
    path = write(tmp_path / "a.jsonl", '\ufeff\n{"response": "a"}\r\n\r\n  \n{"response": "b"}')
    assert [(turn.id, turn.response) for turn in load(path)] == [("0", "a"), ("1", "b")]


def test_line_separators_of_unicode_stay_in_the_text(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"response": "a\u2028b\x85c"}\n')
    assert [turn.response for turn in load(path)] == ["a\u2028b\x85c"]


@pytest.mark.parametrize(
    ("file", "system"),
    [
        ("bot.jsonl", "bot"),
        ("bot.json.gz", "bot"),
        ("gpt-4.1.jsonl", "gpt-4.1"),
        ("GPT.CSV", "GPT"),
        ("bot", "bot"),
        (".jsonl", ".jsonl"),
        ("..gz", "."),
        ("caf\udce9.txt", "caf\ufffd"),
    ],
)
def test_systems_are_named_after_the_file(tmp_path, file, system):
    assert system_name(tmp_path / file) == system
