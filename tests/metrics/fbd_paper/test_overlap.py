"""BLEU and METEOR as the FBD paper computed them."""

import math
import warnings

import numpy as np
import pytest

from dialogauge.corpus import Turn
from dialogauge.metrics.fbd_paper.overlap import (
    FLOOR,
    LONGEST,
    PaperBleu,
    PaperMeteor,
    align,
    bleu_counts,
    meteor,
    synonyms,
)
from dialogauge.metrics.overlap import meteor as plain

BLEU = PaperBleu()


def turn(response, *references):
    return Turn("", response, references=references)


def per_turn(response, *references):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return BLEU.per_turn(BLEU.measure([turn(response, *references)]))[0]


def test_bleu_by_hand():
    # Precisions 3/4, 2/3, 1/2 and, for want of a common 4-gram, 2^-1022; brevity e^(1 - 5/4).
    # (3/4 · 2/3 · 1/2 · 2^-1022)^(1/4) = (2^-1024)^(1/4) = 2^-256.
    assert FLOOR == 2**-1022
    assert per_turn("The cat sat here", "the cat sat there now") == pytest.approx(math.exp(-0.25) * 2**-256, rel=1e-12)


def test_bleu_counts():
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
def test_bleu_at_the_edges(response, reference, score):
    assert per_turn(response, reference) == pytest.approx(score, rel=1e-12, abs=0)


def test_bleu_of_ten_thousand_words():
    text = " ".join(f"w{i % 97}" for i in range(10_000))
    assert per_turn(text, text) == pytest.approx(1)


def test_a_system_is_scored_from_its_summed_counts():
    # The empty response adds 1 to every number of n-grams: 4/5 · 3/4 · 2/3 · 1/2 = 1/5; lengths 4 and 6.
    turns = [turn("it is so good", "it is so good"), turn("", "hello there")]
    value = BLEU.conclude(BLEU.summarise(BLEU.measure(turns)))[""]
    assert value == pytest.approx(math.exp(1 - 6 / 4) * 0.2**0.25, rel=1e-12)


def test_no_turns_have_no_score():
    assert np.isnan(BLEU.conclude(BLEU.summarise(BLEU.measure([])))[""])


def test_meteor_by_hand():
    # "the" and "sleep" match as they stand, "cats" by stem and again by synonym: 4 matches of 3 words, so
    # P = R = F = 4/3. (0,0)(1,1) | (1,1)(2,2) are 2 chunks: (1 - 0.5 · (2/4)^3) · 4/3 = 15/16 · 4/3.
    assert align("the cats sleep".split(), "the cat sleep".split()) == [(0, 0), (1, 1), (1, 1), (2, 2)]
    assert meteor("the cats sleep", ["the cat sleep"]) == pytest.approx(1.25)


# Values of NLTK 3.5 itself.
@pytest.mark.parametrize(
    ("response", "reference", "score"),
    [
        ("cats dogs", "cat dog", 1.578125),
        ("cats sleeps", "sleep cat", 1.0),
        ("he was glad and ran", "he is happy and runs", 0.5111111111111111),
        ("the cats ran home", "the cat went home", 0.7890625),
        ("a a b", "a b b a", 0.38461538461538464),
        ("happy", "glad", 0.5),
        ("princessess", "princess", 0.5),
        ("moses", "moment", 0.0),
        ("你好 吗", "你好 呀", 0.25),
        ("😀 ok", "😀 no", 0.25),
        ("Word", "word", 0.5),
        ("word.", "word", 0.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_meteor_of_nltk_3_5(response, reference, score):
    assert meteor(response, [reference]) == pytest.approx(score, abs=1e-15)


def test_a_word_matched_twice_keeps_the_order_of_the_stages():
    # "organs" and "organization" have the same stem; only "organ" is a synonym. In this order the last two
    # pairs are one chunk: 2 chunks of 3 matches, P = 3/2, R = 3/3.
    assert align("organs x".split(), "organ x organization".split()) == [(0, 2), (0, 0), (1, 1)]
    expected = (1 - 0.5 * (2 / 3) ** 3) * 1.5 / (0.9 * 1.5 + 0.1)
    assert meteor("organs x", ["organ x organization"]) == pytest.approx(expected)


def test_the_bounds_hold_for_matches_counted_twice():
    inflected, plain = "cats dogs cars " * 99, "cat dog car " * 99
    assert 1.9 < meteor(inflected, [plain], gamma=0) <= PaperMeteor.bounds[1]


def test_the_best_reference_counts_for_meteor():
    assert meteor("word", ["other", "word", "word more"]) == 0.5


def test_meteor_of_ten_thousand_words():
    text = " ".join(f"w{i % 97}" for i in range(10_000))
    assert meteor(text, [text]) == pytest.approx(1)


def test_one_very_long_word():
    assert meteor("s" * 1_000_000, ["s"]) == 0


def test_rules_for_synonyms_are_applied_until_something_is_found():
    # princessess > princesses > princess
    assert synonyms("princessess") == plain.synonyms("princess")
    assert plain.synonyms("princessess") == frozenset()


@pytest.mark.parametrize("word", ["dogs", "went", "happier", "axes", "nothing-such", "", "é", "😀"])
def test_one_round_is_enough_for_most(word):
    assert synonyms(word) == plain.synonyms(word)


def test_an_exceptional_inflection_ends_the_search():
    # "bases" is listed as the plural of base and of basis; no rule is applied to it.
    assert "fundament" in synonyms("bases")
    assert synonyms("bases") == plain.synonyms("bases")


def test_exceptional_inflections_are_looked_up_for_the_word_alone():
    # feets > feet, which is no lemma of WordNet; that it is the plural of foot is not asked any more.
    assert "foot" in synonyms("feet")
    assert synonyms("feets") == frozenset()


def test_names_in_capitals_end_the_search():
    # moses > mos > mo, were it not for Moses.
    assert "moment" in synonyms("mos")
    assert "moment" not in synonyms("moses")


def test_words_beyond_reason_have_no_synonyms():
    assert synonyms("dog".ljust(LONGEST, "s")) == synonyms("dog")
    assert synonyms("dog".ljust(LONGEST + 1, "s")) == frozenset()
