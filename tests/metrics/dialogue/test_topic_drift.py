import numpy as np
import pytest

from dialogauge import Turn, evaluate
from dialogauge.corpus import Corpus
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.topic_drift import Placed, TopicDrift, drift, place
from dialogauge.metrics.registry import parse_request

VECTORS = "hello 1 0\nworld 0 1\nthere 3 4\nbye -1 0\n"


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "four.txt"
    path.write_text(VECTORS)
    return f"static:{path}"


def ready(words):
    return TopicDrift(encoder=words).prepare(Corpus([]), encoders=Encoders())


def test_drift_is_one_less_the_cosine():
    one, other = np.array([1.0, 0.0]), np.array([3.0, 4.0])
    assert drift(one, other) == pytest.approx(1 - 3 / 5)
    assert drift(one, one) == 0
    assert drift(one, -one) == 2


def test_what_a_turn_is_held_against():
    turns = [
        Turn("0", "b", ("a",), dialogue="d"),
        Turn("1", "d", ("b", "c"), dialogue="d"),  # the context is cut: the opening is still that of the first turn
        Turn("2", "y", ("v", "w", "x")),
        Turn("3", "first", dialogue="e"),  # nothing before it: it is the opening itself
        Turn("4", "next", dialogue="e"),
        Turn("5", "", dialogue="e"),
        Turn("6", "last", (" ", ""), dialogue="e"),
    ]
    assert place(turns) == [
        Placed("b", "a", None),
        Placed("d", "a", "b"),
        Placed("y", "v", "w"),
        Placed("first", None, None),
        Placed("next", "first", "first"),
        Placed("", "first", "next"),
        Placed("last", "first", None),
    ]


def test_values_by_hand(words):
    turns = [
        Turn("0", "there", ("hello",), dialogue="d"),  # from (1, 0) to (3, 4): 1 - 3/5
        Turn("1", "world", ("there",), dialogue="d"),  # from (1, 0): 1; from the turn before, (3, 4): 1 - 4/5
        Turn("2", "bye", ("hm",), dialogue="d"),  # from (1, 0): 2; from (0, 1): 1
    ]
    measured = ready(words)
    rows = measured.measure(turns)
    np.testing.assert_allclose(rows[:, :3], [[0.4, 0, 0], [1, 0.2, 1], [2, 1, 1]])
    values = measured.metric.conclude(measured.metric.summarise(rows))
    assert values[""] == pytest.approx(3.4 / 3)
    assert values["previous"] == pytest.approx(0.6)


def test_what_has_no_vector_has_no_value_and_is_counted(words):
    turns = [
        Turn("0", "hello", ("world",), dialogue="d"),
        Turn("1", "", ("world",), dialogue="d"),
        Turn("2", "unheard", ("world",), dialogue="d"),
        Turn("3", "hello", ("world",)),
    ]
    result = evaluate(turns, TopicDrift(encoder=words))
    assert (result.scores[0].value, result.scores[0].n) == (1, 2)
    messages = {caveat.code: caveat.message for caveat in result.caveats}
    assert "no value for 2 of 4 turns" in messages["undefined_scores"]
    assert ".previous: 2 of 2 turns have no turn before them" in messages["missing_input"]


def test_a_real_encoder_sees_another_topic():
    """From the weather to the weather, and to the price of shares."""
    opening = "It has been raining all week, and the river is rising."
    near, far = (
        "The forecast says that the rain will go on until Sunday.",
        "The bank's shares fell by two percent today.",
    )
    turns = [Turn("0", near, (opening,)), Turn("1", far, (opening,))]
    rows = TopicDrift().prepare(Corpus(turns)).measure(turns)
    assert rows[0, 0] < 0.7 < rows[1, 0]


def test_options():
    assert parse_request("topic_drift[pool=cls].previous").part == "previous"
    with pytest.raises(InputError, match="pool"):
        parse_request("topic_drift[pool=x]")
