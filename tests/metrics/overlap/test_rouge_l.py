import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
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
