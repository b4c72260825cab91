import math

import pytest

from dialogauge.metrics.overlap.bleu import bleu_counts, corpus_bleu, sentence_bleu
from dialogauge.metrics.overlap.tokens import tokenize_13a


def test_a_value_derived_by_hand():
    # Hypothesis "the cat sat on mat" against "the cat sat on the mat":
    # unigrams 5/5, bigrams the-cat cat-sat sat-on match, on-mat does not: 3/4, trigrams 2/3, 4-grams 1/2.
    # Brevity exp(1 - 6/5).
    expected = 100 * math.exp(1 - 6 / 5) * (5 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert sentence_bleu("the cat sat on mat", ["the cat sat on the mat"]) == pytest.approx(expected, abs=1e-12)


def test_orders_without_a_match_are_smoothed():
    # "a b c d" against "a x c y": unigrams 2/4; no bigram, trigram or 4-gram matches: 1/(2*3), 1/(4*2), 1/(8*1).
    expected = 100 * (2 / 4 * 1 / 6 * 1 / 8 * 1 / 8) ** (1 / 4)
    assert sentence_bleu("a b c d", ["a x c y"]) == pytest.approx(expected, abs=1e-12)


def test_a_short_sentence_uses_the_orders_it_has_and_a_corpus_does_not():
    assert sentence_bleu("hello there", ["hello there"]) == pytest.approx(100)
    assert corpus_bleu(["hello there"], [["hello there"]]) == 0


def test_matches_are_clipped_by_the_best_reference():
    # "the" occurs at most twice in one reference: 2 of 3 match. The bigram the-the is in no reference.
    assert bleu_counts("the the the", ["the cat", "the dog and the bird"])[:2] == [2, 0]


@pytest.mark.parametrize(
    ("references", "nearest"),
    [(["a", "a b c"], 1), (["a b c", "a"], 1), (["a b c d e", "a b c"], 3)],
)
def test_reference_length_is_the_nearest_and_of_two_the_shorter(references, nearest):
    assert bleu_counts("x y", references)[-1] == nearest


def test_corpus_score_sums_counts_before_dividing():
    # Five tokens against themselves: 5/5, 4/4, 3/3, 2/2. "a x y z" against "a b c d": 1/4, 0/3, 0/2, 0/1. Together
    # 6/9, 4/7, 3/5, 2/3 and no brevity: the fourth root of their product, not the mean of two scores.
    expected = 100 * (6 / 9 * 4 / 7 * 3 / 5 * 2 / 3) ** (1 / 4)
    found = corpus_bleu(["p q r s t", "a x y z"], [["p q r s t"], ["a b c d"]])
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_response_scores_zero_and_keeps_its_reference_length(text):
    assert sentence_bleu(text, ["hello"]) == 0
    assert bleu_counts(text, ["hello there"])[-2:] == [0, 2]


def test_an_empty_reference_scores_zero():
    assert sentence_bleu("hello", [""]) == 0


@pytest.mark.parametrize("text", ["你好 世界 再见 朋友", "😀 👍 🎉 🎈", " ".join(f"w{i}" for i in range(10_000))])
def test_any_text_scores_best_against_itself(text):
    assert sentence_bleu(text, [text]) == pytest.approx(100)


def test_case_matters_unless_lowercase():
    assert sentence_bleu("HELLO you there now", ["hello you there now"]) < 100
    assert sentence_bleu("HELLO you there now", ["hello you there now"], lowercase=True) == pytest.approx(100)


def test_tokens_of_mteval_13a():
    assert tokenize_13a("Well, it's $3.50 (or 3,50) -- 2-3 days.") == (
        "Well , it's $ 3.50 ( or 3,50 ) -- 2 - 3 days .".split()
    )
    assert tokenize_13a("a &quot;b&quot; &amp; c") == ["a", '"', "b", '"', "&", "c"]
