import math
import random

import numpy as np
import pytest
import sacrebleu

from dialogauge import Turn, evaluate
from dialogauge.metrics.dialogue.self_bleu import SelfBleu, self_bleu

WORDS = "the a cat cats dog runs ran home . ? 你好 😀 it's 3.5".split()


def test_a_value_derived_by_hand():
    # a b c d e and a b c d f: of the n-grams 4 of 5, 3 of 4, 2 of 3, 1 of 2 are in the other, of equal length:
    # (4/5 · 3/4 · 2/3 · 1/2)^(1/4) = (1/5)^(1/4), for both.
    assert self_bleu(["a b c d e", "a b c d f"]) == pytest.approx(100 * 0.2**0.25)
    # A reply that is given twice has 100; one that shares nothing 0: the mean of 100, 100 and 0.
    assert self_bleu(["a b c d", "a b c d", "x y z"]) == pytest.approx(200 / 3)


def test_an_ngram_counts_as_often_as_one_other_text_has_it():
    # Of a a a two are in the other text; a-a once of two; a-a-a is in none: 1/(2 · 1).
    first = 100 * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)
    # a a: both, the pair too; it is shorter than its reference: exp(1 - 3/2).
    second = 100 * math.exp(-1 / 2)
    assert self_bleu(["a a a", "a a"]) == pytest.approx((first + second) / 2)


@pytest.mark.parametrize("seed", range(8))
def test_equals_sacrebleu(seed):
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=draw.randrange(0, 12))) for _ in range(draw.randrange(2, 25))]
    others = [texts[:place] + texts[place + 1 :] for place in range(len(texts))]
    expected = np.mean([sacrebleu.sentence_bleu(text, rest).score for text, rest in zip(texts, others, strict=True)])
    assert self_bleu(texts) == pytest.approx(expected, abs=1e-9)


def test_fewer_than_two_responses_have_none():
    assert math.isnan(self_bleu([]))
    assert math.isnan(self_bleu(["a b c d"]))
    assert self_bleu(["", ""]) == 0


def test_long_texts():
    assert self_bleu(["w " * 10_000] * 2) == pytest.approx(100)


def test_a_system_that_repeats_itself_has_more():
    dull = [Turn(str(place), "I do not know that.", (f"question {place}",), system="dull") for place in range(30)]
    draw = random.Random(0)
    varied = [Turn(turn.id, " ".join(draw.choices(WORDS, k=6)), turn.context, system="varied") for turn in dull]
    result = evaluate([*dull, *varied], "self_bleu")
    assert result.score("dull", "self_bleu").value == pytest.approx(100)
    assert result.score("varied", "self_bleu").value < 80
    assert result.score("dull", "self_bleu").higher_is_better is False


def test_the_sample_is_bounded(monkeypatch):
    monkeypatch.setattr(SelfBleu, "limit", 5)
    turns = [Turn(str(place), f"a b {place}", (f"question {place}",)) for place in range(20)]
    assert "bounded_sample" in {caveat.code for caveat in evaluate(turns, "self_bleu").caveats}
