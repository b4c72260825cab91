import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, InputError

TURNS = [Turn("0", "a", system="z"), Turn("0", "b", system="y"), Turn("1", "c", system="z")]


def test_systems_stand_in_order_of_appearance():
    corpus = Corpus(TURNS)
    assert len(corpus) == 3
    assert list(corpus) == TURNS
    assert corpus.systems == ("z", "y")
    assert corpus.by_system == {"z": [TURNS[0], TURNS[2]], "y": [TURNS[1]]}
    assert corpus.by_system is corpus.by_system


def test_select_keeps_what_travels_with_the_corpus():
    files, caveats = (SourceFile("f", "0", "jsonl"),), (Caveat("c", "m"),)
    chosen = Corpus(TURNS, files, caveats).select(["y", "z", "y"])
    assert chosen.turns == [TURNS[1], TURNS[0], TURNS[2]]
    assert chosen.systems == ("y", "z")
    assert (chosen.files, chosen.caveats) == (files, caveats)


def test_select_answers_an_unknown_system_with_the_nearest():
    with pytest.raises(InputError, match=r"^unknown system 'system-a'; did you mean system_a\?$"):
        Corpus([Turn("0", "a", system="system_a")]).select(["system-a"])


def test_users_of_chat_logs_are_left_out_unless_they_are_named():
    turns = [Turn(str(i), "a", system=system) for i, system in enumerate(["log:user", "log", "log:user"])]
    corpus = Corpus(turns, users=frozenset(["log:user"]))
    (caveat,) = corpus.select(None).caveats
    assert corpus.select(None).systems == ("log",)
    assert (caveat.code, caveat.message) == (
        "users_left_out",
        "2 messages of users are context only and not judged; --systems names them where they are meant: log:user",
    )
    assert corpus.select(["log:user"]).systems == ("log:user",)
    assert corpus.select(["log:user"]).caveats == ()
    with pytest.raises(InputError, match=r"^expected replies of assistants, found only users: .*\(log:user\)$"):
        Corpus(turns[:1], users=frozenset(["log:user"])).select(None)
    assert Corpus(turns).select(None).systems == ("log:user", "log")
