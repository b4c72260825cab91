import math
import warnings

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.metrics.fbd_paper.overlap import FLOOR, PaperBleu, bleu_counts

METRIC = PaperBleu()


def turn(response, *references):
    return Turn("", response, references=references)


def per_turn(response, *references):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return METRIC.per_turn(METRIC.measure([turn(response, *references)]))[0]


def test_a_value_derived_by_hand():
    # Precisions 3/4, 2/3, 1/2 and, for want of a common 4-gram, 2^-1022; brevity e^(1 - 5/4).
    # (3/4 · 2/3 · 1/2 · 2^-1022)^(1/4) = (2^-1024)^(1/4) = 2^-256.
    assert FLOOR == 2**-1022
    assert per_turn("The cat sat here", "the cat sat there now") == pytest.approx(math.exp(-0.25) * 2**-256, rel=1e-12)


def test_counts():
    # "a b a" against "a a c" and "a b b d": a twice in the first, b once in the second; bigrams: a b in the
    # second only. Lengths 3 and 4: the nearer is 3. There is no 4-gram, but NLTK counts one.
    assert bleu_counts("a b a".split(), ["a a c".split(), "a b b d".split()]) == [3, 1, 0, 0, 3, 2, 1, 1, 3, 3]


def test_of_two_references_equally_near_the_shorter_counts():
    assert bleu_counts(["a"] * 3, [["a"] * 4, ["a"] * 2])[-1] == 2


@pytest.mark.parametrize(
    ("response", "reference", "score"),
    [
        ("", "hello there", 0),
        ("hello there", "", 0),
        ("", "", 0),
        ("no match", "at all here", 0),
        ("word", "word", 2**-766.5),  # three orders of four at the floor
        ("你好 世界", "你好 世界", 2**-511),  # two
        ("😀 😀 😀", "😀 😀 😀", 2**-255.5),  # one
        ("it is so good", "It is so good", 1),
    ],
)
def test_edges(response, reference, score):
    assert per_turn(response, reference) == pytest.approx(score, rel=1e-12, abs=0)


def test_ten_thousand_words():
    text = " ".join(f"w{i % 97}" for i in range(10_000))
    assert per_turn(text, text) == pytest.approx(1)


def test_a_system_is_scored_from_its_summed_counts():
    # The empty response adds 1 to every number of n-grams: 4/5 · 3/4 · 2/3 · 1/2 = 1/5; lengths 4 and 6.
    turns = [turn("it is so good", "it is so good"), turn("", "hello there")]
    value = METRIC.conclude(METRIC.summarise(METRIC.measure(turns)))[""]
    assert value == pytest.approx(math.exp(1 - 6 / 4) * 0.2**0.25, rel=1e-12)


def test_no_turns_have_no_score():
    assert np.isnan(METRIC.conclude(METRIC.summarise(METRIC.measure([])))[""])
