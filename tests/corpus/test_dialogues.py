from dialogauge.corpus import Turn
from dialogauge.corpus.dialogues import dialogues, said_by_other, said_by_self


def test_turns_of_one_dialogue_stand_together_and_others_alone():
    turns = [
        Turn("0", "", dialogue="d"),
        Turn("1", ""),
        Turn("2", "", dialogue="d", system="other"),
        Turn("3", "", dialogue="d"),
        Turn("4", ""),
    ]
    assert dialogues(turns) == [[0, 3], [1], [2], [4]]
    assert dialogues([]) == []


def test_speakers_take_turns():
    turn = Turn("0", "e", ("a", "b", "c", "d"))
    assert (said_by_self(turn), said_by_other(turn)) == (("a", "c"), ("b", "d"))
    assert (said_by_self(Turn("0", "b", ("a",))), said_by_other(Turn("0", "b", ("a",)))) == ((), ("a",))
    assert said_by_self(Turn("0", "a")) == said_by_other(Turn("0", "a")) == ()
