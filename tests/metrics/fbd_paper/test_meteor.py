import pytest

from dialogauge.metrics.fbd_paper.overlap import PaperMeteor, align, meteor


def test_a_value_derived_by_hand():
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
def test_values_of_nltk_3_5(response, reference, score):
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


def test_the_best_reference_counts():
    assert meteor("word", ["other", "word", "word more"]) == 0.5


def test_ten_thousand_words():
    text = " ".join(f"w{i % 97}" for i in range(10_000))
    assert meteor(text, [text]) == pytest.approx(1)


def test_one_very_long_word():
    assert meteor("s" * 1_000_000, ["s"]) == 0
