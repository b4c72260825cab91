import pytest

from dialogauge.corpus import load
from dialogauge.corpus.reading.reader import system_name
from tests.corpus.files import write, write_lines


@pytest.mark.parametrize("name", ["bot.jsonl", "bot.json.gz"])
def test_plain_and_compressed(tmp_path, name):
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
