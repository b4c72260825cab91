import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Turn
from dialogauge.metrics.base import Metric
from dialogauge.metrics.dialogue.distinct import Distinct, distinct, word_rows


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
