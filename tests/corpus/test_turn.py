import pickle

from dialogauge.corpus.turn import NOTHING, Turn


def test_what_is_absent_is_empty_and_shared():
    one, other = Turn("1", "a"), Turn("2", "b")
    assert one.ratings is other.ratings is one.extra is NOTHING
    assert dict(one.ratings) == {}
    assert one.ratings == {}
    assert "overall" not in one.ratings


def test_turns_can_be_sent_to_another_process():
    turn = Turn("1", "a", ratings={"overall": (1.0, None)})
    assert pickle.loads(pickle.dumps(turn)) == turn
