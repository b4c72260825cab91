import pytest

from dialogauge import Turn, evaluate
from dialogauge.metrics.overlap.chrf import chrf_counts, chrf_words, corpus_chrf, sentence_chrf


def test_a_value_by_hand():
    # Characters of "a cat" (acat) and "the cat" (thecat), order by order:
    # 4 and 6, of which 3 match (a, t, c: the second a has no partner); 3 and 5, of which ca, at match;
    # 2 and 4, of which cat matches; 1 and 3, none; longer ones only the reference has, which are left out.
    precision = (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4
    recall = (3 / 6 + 2 / 5 + 1 / 4 + 0) / 4
    assert chrf_counts("a cat", ["the cat"]) == [4, 6, 3, 3, 5, 2, 2, 4, 1, 1, 3, 0, 0, 2, 0, 0, 1, 0]
    assert sentence_chrf("a cat", ["the cat"]) == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall))


def test_words_of_chrf_plus_plus():
    assert chrf_words("(so) it is, 'tis. !") == ["(so", ")", "it", "is", ",", "'tis", ".", "!"]
    assert chrf_words("'tis") == ["'", "tis"]
    assert sentence_chrf("a cat", ["cat a"], words=2) < sentence_chrf("a cat", ["cat a"]) * 1.01


@pytest.mark.parametrize("text", ["no", "x", "今天天气很好", "สวัสดีครับ", "👍", "so it goes, and goes"])
def test_a_text_against_itself(text):
    for words in (0, 2):
        assert sentence_chrf(text, [text], words) == pytest.approx(100)
        assert sentence_chrf(text, ["qqq", text], words) == pytest.approx(100)
        assert sentence_chrf(text, ["qqq"], words) == 0


def test_edges():
    assert sentence_chrf("", ["so"]) == sentence_chrf("so", [""]) == sentence_chrf("", [""]) == 0
    assert sentence_chrf("  \n", ["so"]) == 0
    assert 0 < corpus_chrf(["", "yes"], [["so"], ["yes"]]) < 100
    assert sentence_chrf("word " * 10_000, ["word " * 10_000]) == pytest.approx(100)


def test_scores():
    turns = [Turn("0", "so IT is", references=("so it is",)), Turn("1", "no")]
    result = evaluate(turns, "chrf,chrf[lowercase=true]", resamples=10)
    assert result.score("system", "chrf[lowercase=true]").value == pytest.approx(100)
    assert 0 < result.score("system", "chrf").value < 100
    assert result.score("system", "chrf").n == 1
    signature = result.score("system", "chrf").signature
    assert signature.startswith("chrf|characters:6|beta:2|words:0|lowercase:false|dialogauge:")
