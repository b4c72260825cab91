import math

import numpy as np
import pytest

from dialogauge import Turn, evaluate
from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.self_repetition import Echo, SelfRepetition, ngrams, repeated_share

MINE = ("I like cats.", "And you?", "I like cats a lot.")


def test_ngrams():
    assert ngrams("a b c".split(), 2) == [("a", "b"), ("b", "c")]
    assert ngrams(["a"], 2) == [("a",)]
    assert ngrams([], 2) == []


def test_a_value_derived_by_hand():
    # i-like like-dogs dogs-. against i-like like-cats cats-. : one of three was said before.
    assert repeated_share("I like dogs.", ["I like cats."]) == 1 / 3
    # By words, i like and . of four: 3/4. By four: one 4-gram, which differs.
    assert repeated_share("I like dogs.", ["I like cats."], 1) == 3 / 4
    assert repeated_share("I like dogs.", ["I like cats."], 4) == 0
    assert math.isnan(repeated_share("", ["a"]))
    assert math.isnan(repeated_share("a", [""]))


def test_earlier_turns_and_the_context_tell_what_was_said():
    """The same dialogue by its turns alone, by contexts alone, and by both."""
    by_turns = [Turn(str(place), text, ("so?",), dialogue="d") for place, text in enumerate(MINE)]
    said = ("so?", MINE[0], "so?", MINE[1], "so?")
    by_context = [Turn(str(place), text, said[: 2 * place + 1]) for place, text in enumerate(MINE)]
    both = [Turn(str(place), text, said[: 2 * place + 1], dialogue="d") for place, text in enumerate(MINE)]
    # The third: i-like like-cats cats-a a-lot lot-. of which two were said; the second says nothing again.
    for turns in (by_turns, by_context, both):
        rows = SelfRepetition().measure(turns)
        assert np.isnan(rows[0]).all()
        assert rows[1:].tolist() == [[0, 0], [2 / 5, 0]]


def test_another_system_and_another_dialogue_are_not_oneself():
    turns = [Turn("0", "a b", dialogue="d"), Turn("1", "a b", dialogue="d", system="x"), Turn("2", "a b", dialogue="e")]
    assert np.isnan(SelfRepetition().measure(turns)).all()


def test_whole_repetition_counts_whatever_its_length():
    turns = [Turn("0", "Yes", dialogue="d"), Turn("1", "yes", dialogue="d"), Turn("2", "yes yes", dialogue="d")]
    assert SelfRepetition().measure(turns)[1:].tolist() == [[1, 1], [0, 0]]


def test_an_empty_response_and_a_first_turn_have_no_value_and_are_counted():
    turns = [Turn(str(place), text, dialogue="d") for place, text in enumerate(["a b", "", "a b"])]
    result = evaluate(turns, "self_repetition")
    assert (result.scores[0].value, result.scores[0].n) == (1, 1)
    (said,) = [caveat for caveat in result.caveats if caveat.code == "undefined_scores"]
    assert said.message == "self_repetition: no value for 2 of 3 turns; they are left out"


def test_turns_with_nothing_of_their_own_before_them_are_missing_input():
    turns = [Turn("0", "a b", ("x", "y z", "u")), Turn("1", "a b", ("x",))]
    (said,) = [caveat for caveat in evaluate(turns, "self_repetition").caveats if caveat.code == "missing_input"]
    assert "1 of 2 turns" in said.message


@pytest.mark.parametrize("text", ["你好 吗", "😀 😀", "w " * 10_000])
def test_other_texts(text):
    assert repeated_share(text, [text]) == 1


def test_echo_derived_by_hand():
    # The last message: do-you you-like like-cats cats-? of which the reply i-like like-cats cats-? has two of three.
    turn = Turn("0", "I like cats?", ("I like dogs", "hm", "do you like cats?"))
    assert Echo().measure([turn]).tolist() == [[2 / 3, 0]]
    # All messages have i-like too.
    assert Echo(history="all").measure([turn]).tolist() == [[1, 0]]
    # A parrot.
    assert Echo().measure([Turn("0", "Why me?", ("why me?",))]).tolist() == [[1, 1]]


def test_echo_of_all_looks_back_into_the_dialogue_and_of_the_last_does_not():
    turns = [Turn("0", "well", ("a b",), dialogue="d"), Turn("1", "a b", ("c d",), dialogue="d")]
    assert Echo(history="all").measure(turns).tolist() == [[0, 0], [1, 1]]
    assert Echo().measure(turns).tolist() == [[0, 0], [0, 0]]
    assert Echo().measure([Turn("0", "alone")]).tolist()[0] != [0, 0]


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="n of self_repetition: expected 1 or more, found 0"):
        SelfRepetition(n=0)
    with pytest.raises(InputError, match="history of echo"):
        Echo(history="first")


def measured(result):
    return {score.metric.partition(".")[0] for score in result.scores}


def test_the_default_set_has_it_where_a_system_has_several_turns_in_a_dialogue(monkeypatch):
    monkeypatch.setattr("dialogauge.metrics.registry.DEFAULT_SET", ("length", "self_repetition"))
    several = [Turn(str(place), "a b", dialogue="d") for place in range(3)]
    assert measured(evaluate(several)) == {"length", "self_repetition"}
    apart = [Turn(str(place), "a b", ("x", "y", "z"), dialogue=str(place)) for place in range(3)]
    result = evaluate(apart)
    assert measured(result) == {"length"}
    assert "not_measured" not in {caveat.code for caveat in result.caveats}
