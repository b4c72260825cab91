"""Records of turns, tried through the JSON lines reader."""

import pytest

from dialogauge.corpus import Turn, load
from dialogauge.corpus.turn import NOTHING
from tests.corpus.files import refusal, write_lines


def only(tmp_path, record):
    (turn,) = load(write_lines(tmp_path / "bot.jsonl", record))
    return turn


def test_all_fields(tmp_path):
    record = {
        "id": "17",
        "context": ["hi", "hello, how are you?"],
        "response": "fine, and you?",
        "references": ["great, thanks"],
        "system": "s0",
        "ratings": {"overall": [4, 5, None], "fluency": 3.5, "none": [None, "N/A"]},
        "dialogue": 3,
        "facts": ["i like tea"],
        "extra": {"score": 0.5, "absent": None},
        "further": [1],
    }
    assert only(tmp_path, record) == Turn(
        id="17",
        context=("hi", "hello, how are you?"),
        response="fine, and you?",
        references=("great, thanks",),
        system="s0",
        ratings={"overall": (4.0, 5.0, None), "fluency": (3.5,)},
        dialogue="3",
        facts=("i like tea",),
        extra={"score": 0.5, "further": [1]},
    )


def test_only_the_response_is_required(tmp_path):
    assert only(tmp_path, {"response": ""}) == Turn("0", "", system="bot")


def test_null_is_absent(tmp_path):
    names = ["id", "context", "references", "system", "ratings", "dialogue", "facts", "extra", "further"]
    turn = only(tmp_path, {"response": "a", **dict.fromkeys(names)})
    assert turn == Turn("0", "a", system="bot")
    assert turn.ratings is turn.extra is NOTHING


def test_ids_count_the_turns_of_each_system(tmp_path):
    path = write_lines(
        tmp_path / "a.jsonl",
        {"response": "1", "system": "x"},
        {"response": "2", "system": "y"},
        {"response": "3", "system": "x"},
        {"response": "4"},
    )
    assert [(turn.system, turn.id) for turn in load(path)] == [("x", "0"), ("y", "0"), ("x", "1"), ("a", "0")]


def test_whole_numbers_become_names(tmp_path):
    turn = only(tmp_path, {"response": "a", "id": 7, "system": 2.0, "dialogue": -1})
    assert (turn.id, turn.system, turn.dialogue) == ("7", "2", "-1")


def test_single_texts_count_as_lists_of_one(tmp_path):
    turn = only(tmp_path, {"response": "a", "context": "hi", "references": "b", "facts": "c"})
    assert (turn.context, turn.references, turn.facts) == (("hi",), ("b",), ("c",))


def test_blank_references_and_facts_are_absent_but_not_blank_utterances(tmp_path):
    turn = only(tmp_path, {"response": "a", "context": ["", "hi"], "references": ["", " ", "b"], "facts": [""]})
    assert (turn.context, turn.references, turn.facts) == (("", "hi"), ("b",), ())
    assert only(tmp_path, {"response": "a", "context": "", "references": ""}) == Turn("0", "a", system="bot")


def test_chat_messages(tmp_path):
    context = [
        {"role": "system", "content": "Be kind."},
        {"role": "developer", "content": ""},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "2"}]},
        {"role": "tool", "content": "21 degrees"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "it is"}, {"type": "text", "text": "warm"}],
        },
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": "x"}, {"type": "text", "text": "nice"}],
        },
    ]
    turn = only(
        tmp_path,
        {"context": context, "response": {"role": "assistant", "content": "indeed"}, "facts": ["f"]},
    )
    assert turn == Turn(
        "0", "indeed", ("hi", "it is\nwarm", "nice"), system="bot", facts=("f", "Be kind.", "21 degrees")
    )


SAID = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]


@pytest.mark.parametrize("absent", [{}, {"context": None}, {"context": ""}], ids=str)
def test_a_chat_log_without_its_reply(tmp_path, absent):
    turn = only(tmp_path, {**absent, "messages": SAID, "response": "hello", "facts": ["f"], "n": 1})
    assert turn == Turn("0", "hello", ("hi",), system="bot", facts=("f", "Be kind."), extra={"n": 1})


def test_messages_beside_a_context_are_kept(tmp_path):
    for context in (["a"], []):
        turn = only(tmp_path, {"context": context, "messages": SAID, "response": "b"})
        assert turn == Turn("0", "b", tuple(context), system="bot", extra={"messages": SAID})


def test_messages_that_are_no_list_are_no_context(tmp_path):
    for value in (3, "three"):
        assert only(tmp_path, {"messages": value, "response": "b"}) == Turn(
            "0", "b", system="bot", extra={"messages": value}
        )
    assert only(tmp_path, {"messages": None, "response": "b"}) == Turn("0", "b", system="bot")
    assert only(tmp_path, {"messages": [], "response": "b"}) == Turn("0", "b", system="bot")


@pytest.mark.parametrize("spelling", ["N/A", "n/a", "NA", "nan", "NULL", "None", " ", " N/A - not rated", None])
def test_missing_ratings(tmp_path, spelling):
    turn = only(tmp_path, {"response": "a", "ratings": {"d": [spelling, 2], "e": spelling}})
    assert turn.ratings == {"d": (None, 2.0)}


def test_a_field_beside_the_one_it_resembles_is_kept(tmp_path):
    turn = only(tmp_path, {"response": "a", "responses": ["b"], "system": "s", "system_id": 4})
    assert turn.extra == {"responses": ["b"], "system_id": 4}


ROLE = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "a"}, "response: expected text, found no such field (the fields are 'text')"),
        ({}, "response: expected text, found no such field (the fields are no field)"),
        ({"response": None}, "response: expected text, found null"),
        ({"response": 3}, "response: expected text, found the number 3"),
        ({"response": ["a"]}, "response: expected text, found a list of 1 string"),
        (
            {"response": {"text": "a"}},
            "response: expected a chat message with role and content, found an object",
        ),
        ({"response": {"role": "assistant", "content": None}}, "response: expected text, found an object"),
        (
            {"response": {"role": "user", "content": 3}},
            "response: expected content that is text or a list of",
        ),
        ({"response": {"role": "user", "content": [3]}}, "response: expected content parts that are objects"),
        (
            {"response": {"role": "user", "content": [{"type": "text"}]}},
            "response: expected a content part with type and text, found an object with the fields 'type'",
        ),
        ({"Response": "a"}, "unknown field 'Response'; did you mean 'response'?"),
        ({"response": "a", "RESPONSE": "b"}, "unknown field 'RESPONSE'; did you mean 'response'?"),
        ({"response": "a", "refrences": ["b"]}, "unknown field 'refrences'; did you mean 'references'?"),
        ({"response": "a", "reference": 3}, "unknown field 'reference'; did you mean 'references'?"),
        ({"response": "a", "id": 1.5}, "id: expected text or a whole number, found the number 1.5"),
        ({"response": "a", "id": True}, "id: expected text or a whole number, found true"),
        ({"response": "a", "system": ""}, "system: expected text or a whole number, found the text ''"),
        (
            {"response": "a", "dialogue": ["d"]},
            "dialogue: expected text or a whole number, found a list of 1 str",
        ),
        (
            {"response": "a", "context": 3},
            "context: expected a list of strings or chat messages, found the num",
        ),
        (
            {"response": "a", "context": ["a", ROLE]},
            "context: expected a list of strings or chat messages, found",
        ),
        (
            {"response": "a", "context": [["a"]]},
            "context: expected a list of strings or chat messages, found a l",
        ),
        (
            {"response": "a", "context": [{"text": "a"}]},
            "context: expected a chat message with role and content",
        ),
        (
            {"response": "a", "messages": ["a", ROLE]},
            "messages: expected a list of strings or chat messages, found a list with",
        ),
        (
            {"response": "a", "messages": [{"content": "a"}]},
            "messages: expected a chat message with role and content, found an object",
        ),
        (
            {"response": "a", "contexts": ["a"], "messages": []},
            "unknown field 'contexts'; did you mean 'context'?",
        ),
        (
            {"response": "a", "references": [["a", "b", "c"], ["d", "e", "f"]]},
            "references: expected a list of strings, found a list of 2 lists (3 strings in the first); "
            "give each turn its own references",
        ),
        (
            {"response": "a", "references": ["a", None]},
            "references: expected a list of strings, found a list with null at place 2; give each turn",
        ),
        (
            {"response": "a", "references": {"a": "b"}},
            "references: expected a list of strings, found an object",
        ),
        ({"response": "a", "facts": 3}, "facts: expected a list of strings, found the number 3"),
        (
            {"response": "a", "ratings": 4},
            'ratings: expected an object such as {"overall": 4}, found the number 4',
        ),
        (
            {"response": "a", "ratings": {"overall": "good"}},
            "rating 'overall': expected a number, null or \"N/A\", found the text 'good'",
        ),
        ({"response": "a", "ratings": {"overall": [4, "4"]}}, "rating 'overall': expected a number, null or"),
        (
            {"response": "a", "ratings": {"overall": True}},
            "rating 'overall': expected a number, null or \"N/A\", f",
        ),
        (
            {"response": "a", "ratings": {"overall": [[4]]}},
            "rating 'overall': expected a number, null or \"N/A\",",
        ),
        ({"response": "a", "extra": [1]}, "extra: expected an object, found a list of 1 number"),
        ([1, 2], "expected a JSON object, found a list of 2 numbers"),
        ("null", "expected a JSON object, found null"),
        (
            "{'response': 'a'}",
            "not valid JSON: Expecting property name enclosed in double quotes at column 2; found",
        ),
        (
            '{"response": "a"',
            "not valid JSON: Expecting ',' delimiter at column 17; found '{\"response\": \"a\"'",
        ),
        ('{"response": "a"} {}', "not valid JSON: Extra data at column 19"),
        (
            '{"response": "a\x1b[2J"}',
            "not valid JSON: Invalid control character at at column 16; found '{\"resp",
        ),
        (
            '{"response": "a", "x": NaN}',
            "not valid JSON: NaN is not a JSON number; write null where there is none",
        ),
        ('{"response": "a", "x": -Infinity}', "not valid JSON: -Infinity is not a JSON number"),
        ('{"response": "a", "x": 1e999}', "not valid JSON: the number '1e999' is too large"),
        ('{"response": "a", "x": %s}' % ("9" * 5000), "not valid JSON: the number '999"),
        (
            '{"response": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "not valid JSON: nested too deeply",
        ),
        ('{"response": "a\\ud800"}', "half of a surrogate pair, '\\ud800': no Unicode text holds one alone"),
        ('{"response": "a", "x": [{"\\uDC00": 1}]}', "half of a surrogate pair, '\\udc00'"),
    ],
)
def test_bad_records(tmp_path, record, message):
    path = write_lines(tmp_path / "a.jsonl", {"response": "good"}, record, {"response": "good"})
    assert refusal(path).startswith(f":2: {message}")


def test_whole_surrogate_pairs_are_characters(tmp_path):
    (turn,) = load(write_lines(tmp_path / "a.jsonl", '{"response": "\\ud83d\\ude00"}'))
    assert turn.response == "\N{GRINNING FACE}"
