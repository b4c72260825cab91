import math
from itertools import combinations

import numpy as np
import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.pass_k import PassK, pass_at_k
from dialogauge.metrics.registry import parse_request


def test_values_derived_by_hand():
    # Of 4 answers 2 pass. Of the 6 pairs of them 1 has none that passes, and 1 has two: 5/6 and 1/6.
    one, every = pass_at_k(np.array([4]), np.array([2]), 2)
    assert one.tolist() == [pytest.approx(5 / 6)]
    assert every.tolist() == [pytest.approx(1 / 6)]


@pytest.mark.parametrize("n", range(1, 7))
def test_equals_counting_all_draws(n):
    for passed in range(n + 1):
        for k in range(1, n + 2):
            draws = list(combinations([True] * passed + [False] * (n - passed), k))
            one, every = (float(value[0]) for value in pass_at_k(np.array([n]), np.array([passed]), k))
            if not draws:
                assert math.isnan(one)
                assert math.isnan(every)
            else:
                assert one == pytest.approx(np.mean([any(draw) for draw in draws]))
                assert every == pytest.approx(np.mean([all(draw) for draw in draws]))


def answers(*contexts, **fields):
    """Turns with one value each, several to a context."""
    return [
        Turn(f"{place}.{number}", "a", (f"question {place}",), extra={"good": value}, **fields)
        for place, values in enumerate(contexts)
        for number, value in enumerate(values)
    ]


def test_contexts_count_the_same_however_many_answers_they_have():
    # Two of four pass: 5/6 and 1/6. Both of two pass: 1 and 1.
    turns = answers([1, 1, 0, 0], [0.5, 7])
    result = evaluate(turns, "pass_k[name=good,k=2]")
    assert result.scores[0].value == pytest.approx((5 / 6 + 1) / 2)
    assert result.scores[1].value == pytest.approx((1 / 6 + 1) / 2)
    assert evaluate(turns[::-1], "pass_k[name=good,k=2]").scores[0].value == pytest.approx((5 / 6 + 1) / 2)
    # From 5 on, none of the first passes, and of the second one of two.
    strict = evaluate(turns, "pass_k[name=good,k=2,threshold=5]")
    assert [score.value for score in strict.scores] == [0.5, 0]


def test_answers_without_a_value_and_contexts_with_too_few_are_left_out_and_counted():
    turns = answers([1, 0, None], [1], [1, 1])
    result = evaluate(turns, "pass_k[name=good,k=2]")
    assert (result.scores[0].value, result.scores[1].value) == (1, 0.5)
    messages = {caveat.code: caveat.message for caveat in result.caveats}
    assert "no value for 1 of 6 turns" in messages["undefined_scores"]
    assert "1 of 3 contexts have fewer than 2 answers with a value" in messages["few_answers"]
    assert math.isnan(evaluate(answers([1], [0]), "pass_k[name=good,k=2]").scores[0].value or math.nan)


def test_other_systems_dialogues_and_turns_without_context_are_apart():
    rows = PassK("good").measure([*answers([1, 1]), *answers([1], dialogue="d"), Turn("x", "a"), Turn("y", "a")])
    assert len(set(rows.keys.tolist())) == 4
    assert rows.keys[0] == rows.keys[1]


def test_kept_rows_come_back():
    rows = PassK("good").measure(answers([1, None], [0]))
    again = PassK("good").unpack(PassK("good").pack(rows))
    np.testing.assert_array_equal(again.keys, rows.keys)
    np.testing.assert_array_equal(again.passed, rows.passed)


def test_the_field_and_k_are_checked():
    corpus = Corpus(answers([1]))
    with pytest.raises(
        InputError, match=r"pass_k needs a name, as in pass_k\[name=FIELD\]; numeric extra fields: good"
    ):
        PassK().prepare(corpus)
    with pytest.raises(InputError, match="unknown numeric extra field 'god'"):
        PassK("god").prepare(corpus)
    with pytest.raises(InputError, match="k of pass_k: expected a number from 1 to 1000, found 0"):
        parse_request("pass_k[name=good,k=0]")


def test_more_contexts_are_not_a_larger_score():
    assert not PassK("good").grows
    assert evaluate(answers(*[[1, 0]] * 30), "pass_k[name=good]").scores[0].value == 0.5
