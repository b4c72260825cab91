import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
from dialogauge.metrics.fbd_paper.rouge_l import LIMIT, PaperRougeL, lcs_places, rouge_l, rouge_stem, stemmed_lines
from dialogauge.metrics.overlap.rouge_l import lcs_length

TOKENS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_a_value_derived_by_hand():
    # the dog go home / the dog will go home soon: LCS 4; precision 4/4, recall 4/6, F = 2 · 2/3 / (5/3).
    assert rouge_l("The dogs went home!", ["the dog will go home, soon"]) == pytest.approx((0.8, 1, 2 / 3))


def test_references_are_pooled():
    # Common words 1 + 0; precision 1 / (2 · 2), recall 1 / (1 + 2).
    assert rouge_l("a b", ["a", "c d"]) == pytest.approx((2 / 7, 1 / 4, 1 / 3))


def test_lines_are_compared_one_by_one():
    assert rouge_l("u v\nx y", ["x y\nu v"]).f == 1
    assert rouge_l("u v x y", ["x y u v"]).f == 0.5
    # Both lines of the reference match, but the response has one "a" only.
    assert rouge_l("a", ["a\na"]) == pytest.approx((2 / 3, 1, 1 / 2))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("was", "was"),  # up to three letters
        ("went", "go"),  # exceptions of WordNet
        ("better", "well"),  # adverb over adjective
        ("testes", "testes"),  # verb over noun
        ("staretsy", "staretsi"),  # not in the older WordNet
        ("comics", "comic_strip"),
        ("agreement", "agreem"),  # special
        ("running", "run"),
        ("flies", "fli"),  # the original algorithm
    ],
)
def test_stems(word, expected):
    assert rouge_stem(word) == expected


def test_cannot_is_one_word():
    assert stemmed_lines("I cannot, we Cannots\ngonna x_y") == (
        ("i", "cannot", "we", "cannot"),
        ("gon", "na", "x", "y"),
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TOKENS, TOKENS)
def test_places_lie_on_a_longest_common_subsequence(a, b):
    kept = [a[place] for place in sorted(lcs_places(a, b))]
    assert len(kept) == lcs_length(a, b) == lcs_length(kept, b)


@pytest.mark.parametrize(
    ("response", "reference"), [("", "hello"), ("hello", ""), ("", ""), ("?!", "?!"), ("你好", "你好")]
)
def test_without_words_the_score_is_zero(response, reference):
    assert rouge_l(response, [reference]) == (0, 0, 0)


def test_one_word_and_emoji():
    assert rouge_l("Word", ["word"]) == (1, 1, 1)
    assert rouge_l("😀 word", ["word 😀"]) == (1, 1, 1)


def test_texts_are_cut():
    text = " ".join(f"w{i % 97:02}" for i in range(10_000))
    # Every word and its space takes four characters: 166 words and the w of the next fit.
    assert stemmed_lines(text) == (tuple([*text.split()[:166], "w"]),)
    assert rouge_l(text, [text]).f == 1
    full = "a" * (LIMIT - 2)
    assert stemmed_lines(f"{full} \n b\nc\nd") == ((full,), ("b",), ("c",))
    assert stemmed_lines(f"{full}aaa\nb") == ((full + "aa",),)


def test_edges_are_counted():
    responses = ["你好", "привет", "hello", "!", "", "a" * LIMIT, "a" * (LIMIT + 1)]
    turns = [Turn("", response, references=("hello",)) for response in responses]
    turns.append(Turn("", "hello", references=("hello", "a" * LIMIT + "\nb")))
    metric = PaperRougeL()
    wordless, cut = metric.caveats(metric.summarise(metric.measure(turns)))
    assert (wordless.code, cut.code) == ("no_words", "cut_text")
    assert "2 responses" in wordless.message
    assert "2 turns" in cut.message
    assert metric.caveats(metric.summarise(metric.measure(turns[2:6]))) == []
