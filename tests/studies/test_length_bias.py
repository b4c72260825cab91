"""Slopes on length, by hand: in standard deviations, lengths and ratings are ±1 here."""

import doctest

import pytest

import dialogauge
from dialogauge import Turn
from dialogauge.errors import InputError
from dialogauge.studies import length_bias as module
from dialogauge.studies.length_bias import length_bias

WORDS = {-1: "yes", 1: "yes yes yes"}  # ln 2 and ln 4
APART = [(-1, -1), (-1, 1), (1, -1), (1, 1)] * 4
"""Lengths and ratings that have nothing to do with each other."""
RELATED = [(-1, -1), (1, 1)] * 6 + [(-1, 1), (1, -1)] * 2
"""A correlation of 1/2 between length and rating: twelve of sixteen turns agree."""


def bias_of(design, *, length, rating, better="true", dialogues=16):
    """Of a metric that is the sum of so many times either."""
    turns = [
        Turn(
            id=str(place),
            context=[f"context {place}"],
            response=WORDS[long],
            dialogue=str(place % dialogues),
            ratings={"overall": [good]},
            extra={"m": 10 + length * long + rating * good},
        )
        for place, (long, good) in enumerate(design)
    ]
    metric = f"column[name=m,higher_is_better={better}]"
    found = dialogauge.correlate({"mine": turns}, [metric, "length"], level="turn", resamples=200)
    (bias,) = length_bias(found)
    assert (bias.corpus, bias.dimension, bias.metric, bias.n) == ("mine", "overall", found.metrics[0], 16)
    return bias


def slopes(bias):
    return bias.people.value, bias.plain.value, bias.given_rating.value


def test_where_people_do_not_care_for_length():
    bias = bias_of(APART, length=0.6, rating=0.8)
    assert slopes(bias) == pytest.approx((0, 0.6, 0.6))
    assert bias.given_rating.low < 0.6 < bias.given_rating.high


def test_a_metric_that_follows_people_has_their_slope_and_none_of_its_own():
    bias = bias_of(RELATED, length=0, rating=1)
    assert slopes(bias) == pytest.approx((0.5, 0.5, 0))
    assert bias.people == pytest.approx(bias.plain)


def test_a_metric_that_is_length():
    assert slopes(bias_of(RELATED, length=1, rating=0)) == pytest.approx((0.5, 1, 1))


def test_length_and_rating_are_told_apart():
    # Of variance 1 + 1 + 2 / 2 = 3: slopes of 1 / √3 on each; alone, (1 + 1/2) / √3 on length.
    expected = 0.5, 1.5 / 3**0.5, 1 / 3**0.5
    assert slopes(bias_of(RELATED, length=1, rating=1)) == pytest.approx(expected)


def test_lower_is_better_is_turned_round():
    bias = bias_of(RELATED, length=-1, rating=-1, better="false")
    assert slopes(bias) == pytest.approx(slopes(bias_of(RELATED, length=1, rating=1)))


def test_turns_of_one_dialogue_are_drawn_together():
    # Each of the four dialogues has every pair of length and rating once: all resamples are alike.
    together = bias_of(APART[:4] * 4, length=0.6, rating=0.8, dialogues=1)
    assert str(together.people.low) == "nan"
    blocks = [pair for pair in APART[:4] for _ in range(4)]
    alike = bias_of(blocks, length=0.6, rating=0.8, dialogues=4)
    assert (alike.plain.low, alike.plain.high) == pytest.approx((0.6, 0.6))


def test_an_agreement_without_length_is_refused():
    found = dialogauge.correlate("examples/rated.jsonl", "rouge_l", level="turn")
    with pytest.raises(InputError, match="with the metric length"):
        length_bias(found)


def test_the_example_runs():
    assert doctest.testmod(module) == (0, 5)
