import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write


@pytest.mark.parametrize("name", ["dd.txt", "dd.txt.gz"])
def test_conversations(tmp_path, name):
    path = write(tmp_path / name, "a b __eou__ c __eou__ d __eou__\r\n\ne __eou__ f\n")
    corpus = load(path)
    assert corpus.files[0].reader == "dailydialog"
    assert corpus.turns == [
        Turn("0:1", "c", ("a b",), system="dd", dialogue="dd#0"),
        Turn("0:2", "d", ("a b", "c"), system="dd", dialogue="dd#0"),
        Turn("1:1", "f", ("e",), system="dd", dialogue="dd#1"),
    ]


def test_a_line_without_the_mark(tmp_path):
    path = write(tmp_path / "dd.txt", "a __eou__ b __eou__\nnothing\nc __eou__ d __eou__\n")
    assert refusal(path) == ":2: expected utterances that end in __eou__, found 'nothing'"
    assert [turn.id for turn in load(path, skip_invalid=True)] == ["0:1", "2:1"]


def test_a_blank_utterance_is_an_utterance(tmp_path):
    path = write(tmp_path / "dd.txt", "a __eou__ __eou__ b __eou__\n")
    assert [turn.response for turn in load(path)] == ["", "b"]
