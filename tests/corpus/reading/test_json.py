import json

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.reading.json import Item, items
from tests.corpus.files import refusal, write

RECORD = '{"context": "User: a", "response": "System: b", "system": "s", "annotations": {"Overall": [1]}}'


def test_items_have_the_line_where_they_begin(tmp_path):
    path = write(tmp_path / "a", '\ufeff\n [ {"a": [1,\n2]}\n,\n\n "b", 3 ]\n\n')
    assert list(items(path)) == [Item(1, 2, '{"a": [1,\n2]}'), Item(2, 6, '"b"'), Item(3, 6, "3")]
    assert list(items(write(tmp_path / "b", " [ ] "))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"[\n{RECORD}\n{RECORD}]", ':3: expected a JSON array that goes on with "," or ends with "]", found \'{"con'),
        (f"[\n{RECORD}\n", ':3: expected a JSON array that goes on with "," or ends with "]", found the end of the fi'),
        (f"[\n{RECORD},\n]", ":3: not valid JSON: Expecting value at column 1; found ']'"),
        (f"[\n{RECORD}]\n]", ":3: expected nothing after the JSON array, found ']'"),
        (f'[{RECORD},\n{{"a"\n:\n}}]', ":4: not valid JSON: Expecting value at column 1; found '}]'"),
        (f"[{RECORD},\n" + "[" * 100_000, ":2: not valid JSON: nested too deeply"),
        ("plain", ":1: expected a JSON array, found 'plain'"),
    ],
)
def test_a_broken_array_is_refused_in_any_case(tmp_path, content, message):
    path = write(tmp_path / "a", content)
    for skip in (False, True):
        assert refusal(path, reader="fed", skip_invalid=skip).startswith(message)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (RECORD.replace("[1]", "[NaN]").encode(), "not valid JSON: NaN is not a JSON number"),
        (RECORD.replace("[1]", f"[{'9' * 5000}]").encode(), "not valid JSON: the number"),
        (RECORD.replace("User: a", "\\ud800").encode(), "half of a surrogate pair"),
        (RECORD.encode().replace(b"User: a", b"\xff"), "expected UTF-8 text, found byte 0xff"),
    ],
)
def test_a_bad_item_spares_the_others(tmp_path, bad, message):
    path = write(tmp_path / "a", b"[" + RECORD.encode() + b", " + bad + b", " + RECORD.encode() + b"]")
    assert refusal(path).startswith(f":1: item 2: {message}")
    assert [turn.id for turn in load(path, skip_invalid=True)] == ["0", "2"]


def test_a_first_item_larger_than_what_is_read_at_first(tmp_path):
    record = {**json.loads(RECORD), "context": "User: " + "x" * 200_000}
    for indent in (None, 1):
        assert load(write(tmp_path / "a", json.dumps([record], indent=indent))).files[0].reader == "fed"


@pytest.mark.parametrize("line", ['{"response": "a", "response": "b"}', '{"response": "a", "extra": {"k": 1, "k": 1}}'])
def test_a_field_that_stands_twice_is_refused(tmp_path, line):
    path = tmp_path / "twice.jsonl"
    path.write_text(f"{line}\n")
    assert "stands twice in one object" in refusal(path)
