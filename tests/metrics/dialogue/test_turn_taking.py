import numpy as np
import pytest

from dialogauge import Turn, evaluate
from dialogauge.metrics.dialogue.turn_taking import QuestionRate, TalkShare, Turns, asks


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Why?", (True, True)),
        ("Why? I see.", (True, False)),
        ("Really?! :-)", (True, True)),
        ("", (False, False)),
        ("see http://a.b/?c=d", (False, False)),
        ("你好吗？", (True, True)),
        ("كيف حالك؟", (True, True)),
        ("😀?", (True, True)),
        ("how are you", (False, False)),
        ("why?because", (True, False)),
        ("w " * 10_000 + "?", (True, True)),
    ],
)
def test_questions(text, found):
    assert asks(text) == found


def test_the_rate_is_a_mean_over_turns():
    # Two of four ask, one of them at the end.
    turns = [Turn(str(place), text) for place, text in enumerate(["Why?", "No? Yes.", "So.", ""])]
    metric = QuestionRate()
    assert metric.conclude(metric.summarise(metric.measure(turns))) == {"": 0.5, "last": 0.25}


def test_turns_per_dialogue():
    # Dialogues of 3, 1 and 2 turns: 6 turns by 3 dialogues.
    turns = [Turn(str(place), "", dialogue=name) for place, name in enumerate("aabcac")]
    metric = Turns()
    rows = metric.measure(turns)
    assert rows[:, 1].tolist() == [1, 0, 1, 1, 0, 0]
    assert metric.conclude(metric.summarise(rows)) == {"": 2}
    assert np.isnan(metric.conclude(metric.summarise(rows[:0]))[""])


def test_turns_without_a_dialogue_are_left_out_and_counted():
    result = evaluate([Turn("0", "", dialogue="d"), Turn("1", "", dialogue="d"), Turn("2", "")], "turns")
    assert result.scores[0].value == 2
    assert "turns: 1 of 3 turns have no dialogue and are left out" in [caveat.message for caveat in result.caveats]


def test_talk_share_by_hand():
    # The system says 2 and 4 words, the other 4 and 2; what came earlier was counted with the turn that answered it.
    turns = [
        Turn("0", "I see", ("that is a pity",)),
        Turn("1", "what is it like", ("that is a pity", "I see", "so what")),
    ]
    metric = TalkShare()
    rows = metric.measure(turns)
    assert metric.conclude(metric.summarise(rows)) == {"": 0.5}
    assert metric.per_turn(rows).tolist() == [2 / 6, 4 / 6]


def test_talk_share_has_edges():
    turns = [Turn("0", "a"), Turn("1", "", ("",)), Turn("2", "", ("a b",)), Turn("3", "a b 😀", ("",))]
    rows = TalkShare().measure(turns)
    assert TalkShare().defined(rows).tolist() == [False, False, True, True]
    assert TalkShare().per_turn(rows)[2:].tolist() == [0, 1]
