import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write

FIRST = "any plans ?\tnone yet\nlet us hike\ni like it\nno\n"
SECOND = "is it cold ?\tyes\tvery\nwear a hat\n\nok\n"


@pytest.mark.parametrize("name", ["responses.txt", "responses.txt.gz"])
def test_blocks(tmp_path, name):
    corpus = load(write(tmp_path / name, FIRST + SECOND))
    assert corpus.files[0].reader == "entailment"
    context = ("any plans ?", "none yet")
    assert corpus.turns == [
        Turn("0", "i like it", context, ("let us hike",), "s00"),
        Turn("0", "no", context, ("let us hike",), "s01"),
        Turn("1", "", ("is it cold ?", "yes", "very"), ("wear a hat",), "s00"),
        Turn("1", "ok", ("is it cold ?", "yes", "very"), ("wear a hat",), "s01"),
    ]
    assert corpus.caveats == ()


def test_a_context_of_one_utterance(tmp_path):
    path = write(tmp_path / "a", FIRST + "hello\nhi\nhey\nyo\n" + SECOND + FIRST)
    corpus = load(path)
    assert [turn.context for turn in corpus.by_system["s01"]][1] == ("hello",)
    assert [turn.id for turn in corpus.by_system["s01"]] == ["0", "1", "2", "3"]


def test_a_single_block_must_be_named(tmp_path):
    path = write(tmp_path / "a", FIRST)
    assert refusal(path).startswith(":1: no reader recognises")
    assert len(load(path, reader="entailment")) == 2


def test_blank_lines_at_the_end(tmp_path):
    assert len(load(write(tmp_path / "a", FIRST + SECOND + "\n\n\n\n\n\n"))) == 4


@pytest.mark.parametrize(
    ("middle", "message", "left"),
    [
        ("a\tb\nc\td\ne\nf\n", "expected tabs in the context only, found 'c\\td'", ["0", "2", "3"]),
        ("\nb\nc\nd\n", "expected a context, found a blank line", ["0", "2", "3"]),
    ],
)
def test_bad_blocks(tmp_path, middle, message, left):
    path = write(tmp_path / "a", FIRST + middle + SECOND + FIRST)
    assert refusal(path, reader="entailment") == f":5: {message}"
    assert [turn.id for turn in load(path, skip_invalid=True).by_system["s00"]] == left


def test_a_file_cut_short(tmp_path):
    path = write(tmp_path / "a", FIRST + SECOND + "left\tover\nonly\n")
    assert refusal(path) == ":9: expected a block of 4 lines, found 2 lines"


def test_a_line_that_is_not_utf8(tmp_path):
    path = write(tmp_path / "a", FIRST.encode() + SECOND.encode().replace(b"ok", b"\xff") + FIRST.encode())
    assert refusal(path).startswith(":8: expected UTF-8 text")
    assert [turn.id for turn in load(path, skip_invalid=True).by_system["s00"]] == ["0", "2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no tab\na\nb\n", ":1: expected a context in the first line, its utterances separated by tabs"),
        ("a\tb\nc\td\ne\tf\n", ": expected blocks of a context, a true response and others; found tabs in most lines"),
        ("a\tb\nc\n", ": expected blocks of a context, a true response and others; found 2 lines"),
    ],
)
def test_other_files(tmp_path, content, message):
    assert refusal(write(tmp_path / "a", content), reader="entailment") == message
