import random
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
from dialogauge.metrics.overlap import rouge_l as module
from dialogauge.metrics.overlap.rouge_l import RougeL, lcs_length, rouge_l, rouge_words


def test_a_value_derived_by_hand():
    # LCS of "police killed the gunman" and "police kill the gunman": police the gunman = 3 of 4 on both sides.
    assert rouge_l("police killed the gunman", ["police kill the gunman"]) == (0.75, 0.75, 0.75)
    # LCS "a c" = 2; precision 2/2, recall 2/4, F = 2 * 1 * 0.5 / 1.5.
    assert rouge_l("a c", ["a b c d"]) == (pytest.approx(2 / 3), 1.0, 0.5)


def test_the_best_reference_counts():
    near, far = "see you at the station", "completely different words"
    assert rouge_l("see you at the station", [far, near]).f == 1
    assert rouge_l("see you", [far]).f == 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_lcs_equals_the_textbook_table(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    assert lcs_length(a, b) == table[-1][-1]
    with pytest.MonkeyPatch.context() as patch:
        for block in (1, 2, 5):
            patch.setattr(module, "BLOCK", block)
            assert lcs_length(a, b) == table[-1][-1]


def test_blocks_of_a_long_text_are_one_text(monkeypatch):
    draw = random.Random(0)
    a, b = (draw.choices(range(40), k=size) for size in (900, 1300))
    whole = lcs_length(a, b)
    for block in (1, 7, 64, 899, 900):
        monkeypatch.setattr(module, "BLOCK", block)
        assert lcs_length(a, b) == lcs_length(b, a) == whole


def test_the_time_of_a_long_text_grows_with_its_length():
    """Up to more than a million words, against twenty; it grew with the square."""

    def seconds(count):
        words = [str(number % 9973) for number in range(count)]
        start = process_time()
        assert lcs_length(words, words[:20]) == lcs_length(words[-20:], words) == 20
        return process_time() - start

    taken = [min(seconds(count) for _ in range(3)) for count in (80_000, 320_000, 1_280_000)]
    assert all(longer < 10 * shorter for shorter, longer in pairwise(taken))


def test_words_are_ascii_letters_and_digits():
    assert rouge_words("It's 3.5 Café-Tische_x!") == ["it", "s", "3", "5", "caf", "tische", "x"]


@pytest.mark.parametrize(("response", "reference"), [("", "hello"), ("hello", ""), ("?!", "?!"), ("你好", "你好")])
def test_without_words_the_score_is_zero(response, reference):
    assert rouge_l(response, [reference]) == (0, 0, 0)


def test_ten_thousand_words():
    text = " ".join(f"w{i % 97}" for i in range(10_000))
    assert rouge_l(text, [text]).f == 1


def test_responses_in_other_scripts_are_counted():
    turns = [
        Turn(str(i), response, references=("hello",)) for i, response in enumerate(["你好", "привет", "hello", "!", ""])
    ]
    metric = RougeL()
    (caveat,) = metric.caveats(metric.summarise(metric.measure(turns)))
    assert caveat.code == "no_words"
    assert "2 responses" in caveat.message
