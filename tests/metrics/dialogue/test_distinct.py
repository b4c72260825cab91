import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.forms import cited
from dialogauge.metrics.base import Metric
from dialogauge.metrics.dialogue.distinct import Distinct, distinct, expected_distinct, word_rows


def test_values_derived_by_hand():
    # Words: a b a | a b c -> 3 types of 6. Bigrams: ab ba | ab bc -> 3 types of 4; none crosses the bar.
    assert distinct(["a b a", "a b c"], order=1) == 3 / 6
    assert distinct(["a b a", "a b c"], order=2) == 3 / 4


def test_empty_and_one_word_responses_add_no_bigrams():
    assert distinct(["", "a", "", "a b", ""], order=2) == 1
    assert distinct(["", "a", "", "a b", ""], order=1) == 2 / 3


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_without_words_it_is_undefined(texts):
    assert math.isnan(distinct(texts, order=1))
    assert math.isnan(distinct(texts))


def test_order_of_words_within_a_bigram_matters():
    assert distinct(["x y", "y x"]) == 1


def test_case_does_not_matter():
    assert distinct(["Hello there", "hello There"], order=1) == 0.5


def test_rows_can_be_picked_repeated_and_reordered():
    texts = ["a b c", "", "d", "e f"]
    rows = word_rows(texts)
    for index in ([3, 0], [1, 1, 0, 0], np.array([True, False, True, True]), slice(1, None), []):
        picked = rows[index]
        expected = word_rows([texts[i] for i in np.arange(4)[index].astype(int)])
        assert picked.ids.tolist() == expected.ids.tolist()
        assert picked.starts.tolist() == expected.starts.tolist()


def test_many_words_keep_apart():
    texts = [f"w{i} v{i}" for i in range(20_000)]
    assert distinct(texts, order=1) == 1
    assert distinct(texts, order=2) == 1


def test_a_weight_of_two_counts_a_turn_twice():
    metric = Distinct()
    rows = metric.measure([Turn("0", "a b"), Turn("1", "c d")])
    values = metric.conclude(metric.summarise(rows, np.array([2.0, 0.0])))
    assert values == {"": 1 / 2, "1": 2 / 4}


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join), min_size=2, max_size=6))
def test_leaving_one_out_equals_adding_the_others(texts):
    metric = Distinct()
    summaries = [metric.summarise(word_rows([text])) for text in texts]
    plain = Metric.leave_one_out(metric, summaries)
    for quick, slow in zip(metric.leave_one_out(summaries), plain, strict=True):
        assert quick == pytest.approx(slow, nan_ok=True)


def test_expected_distinct_by_hand():
    # Two words of two possible ones: 2 (1 - 1/4) = 3/2 different ones are expected.
    assert expected_distinct(2, 2, 2) == pytest.approx(2 / 1.5)
    assert expected_distinct(1, 2, 2) == pytest.approx(1 / 1.5)
    assert expected_distinct(1, 1, 30_522) == pytest.approx(1)
    assert math.isnan(expected_distinct(0, 0))


def test_expectation_adjusts_for_the_number_of_words():
    """Words drawn at random have 1, however many are drawn, where distinct-1 falls."""
    draw = np.random.default_rng(0)
    metric = Distinct(expected=True, vocabulary=500)
    for count in (100, 1000, 5000):
        text = " ".join(f"w{i}" for i in draw.integers(0, 500, count))
        values = metric.conclude(metric.summarise(metric.measure([Turn("0", text)])))
        assert values[""] == pytest.approx(1, abs=0.05)
        assert values["1"] == distinct([text], order=1)
    assert values["1"] < 0.11


def test_expected_distinct_leaves_out_as_it_sums():
    metric = Distinct(expected=True, vocabulary=50)
    summaries = [metric.summarise(metric.measure([Turn("", text)])) for text in ("a b", "a c d", "e")]
    for found, wanted in zip(metric.leave_one_out(summaries), Metric.leave_one_out(metric, summaries), strict=True):
        assert found == wanted


def test_only_what_is_expected_is_signed():
    assert Distinct().signature == "distinct|words:nltk-punkt|dialogauge:0.1.0"
    signature = "distinct|words:nltk-punkt|expected:words|vocabulary:30522|dialogauge:0.1.0"
    assert Distinct(expected=True).signature == signature
    assert list(cited(signature)) == ["li2016diversity", "liu2022rethinking"]
    assert list(cited(Distinct().signature)) == ["li2016diversity"]
    assert Distinct(expected=True).limits("") == (0, math.inf)
    assert Distinct(expected=True).limits("1") == Distinct().limits("") == (0, 1)
    with pytest.raises(InputError, match="of no use without expected=true"):
        Distinct(vocabulary=5)
    with pytest.raises(InputError, match="expected 2 words or more"):
        Distinct(expected=True, vocabulary=1)
