import pytest

from dialogauge.corpus import Turn, load
from tests.corpus.files import refusal, write

TEXT = """\
1 your persona: i read.
2 partner's persona: i cook.
3 your persona: i run.
4 hello\thi , you ?
5 fine\tgood\t\tone|two|good
1 __SILENCE__\tfirst
2 second\tthird
"""


@pytest.mark.parametrize("name", ["p.txt", "p.txt.gz"])
def test_dialogues(tmp_path, name):
    corpus = load(write(tmp_path / name, TEXT))
    own, partner = ("i read.", "i run."), ("i cook.",)
    assert corpus.files[0].reader == "parlai"
    assert corpus.turns == [
        Turn("0:1", "hi , you ?", ("hello",), system="p", dialogue="p#0", facts=own),
        Turn("0:2", "fine", ("hello", "hi , you ?"), system="p", dialogue="p#0", facts=partner),
        Turn("0:3", "good", ("hello", "hi , you ?", "fine"), system="p", dialogue="p#0", facts=own),
        Turn("1:1", "second", ("first",), system="p", dialogue="p#1"),
        Turn("1:2", "third", ("first", "second"), system="p", dialogue="p#1"),
    ]
    assert corpus.caveats == ()


def test_the_last_utterance_may_stay_unanswered(tmp_path):
    assert [turn.response for turn in load(write(tmp_path / "p.txt", "1 a\tb\n2 c\n"))] == ["b", "c"]


def test_a_persona_alone_is_a_short_conversation(tmp_path):
    corpus = load(write(tmp_path / "p.txt", "1 your persona: x\n1 a\tb\n"))
    assert [turn.id for turn in corpus] == ["1:1"]
    assert [caveat.code for caveat in corpus.caveats] == ["short_conversations"]


def test_a_line_without_a_number(tmp_path):
    path = write(tmp_path / "p.txt", "1 a\tb\nc\td\n2 e\tf\n")
    assert refusal(path) == ":2: expected a line that begins with its number and a space, found 'c\\td'"
    assert [turn.response for turn in load(path, skip_invalid=True)] == ["b", "e", "f"]
