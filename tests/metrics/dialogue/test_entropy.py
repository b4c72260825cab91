import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy as entropy_of_counts

from dialogauge.corpus import Turn
from dialogauge.errors import InputError
from dialogauge.metrics.base import Metric
from dialogauge.metrics.dialogue.entropy import Entropy, entropy


def test_values_derived_by_hand():
    # Bigrams ab ba | ab bc: ab twice, the others once: 1/2 log 2 + 2 · 1/4 log 4.
    assert entropy(["a b a", "a b c"]) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(4))
    # Words a b a a b c: 3, 2 and 1 of 6.
    expected = -(3 / 6 * math.log(3 / 6) + 2 / 6 * math.log(2 / 6) + 1 / 6 * math.log(1 / 6))
    assert entropy(["a b a", "a b c"], 1) == pytest.approx(expected)
    # aba and abc, each once; no trigram crosses from one text to the next.
    assert entropy(["a b a", "", "a b c", "x"], 3) == pytest.approx(math.log(2))
    assert entropy(["a b", "a b"]) == 0


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "b"]])
def test_without_bigrams_it_is_undefined(texts):
    assert math.isnan(entropy(texts))


TEXTS = st.lists(st.lists(st.sampled_from("a b c 你 😀".split()), max_size=8).map(" ".join), min_size=2, max_size=8)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(texts=TEXTS, n=st.integers(1, 4))
def test_equals_scipy(texts, n):
    counts = Counter(gram for text in texts for gram in zip(*(text.split()[i:] for i in range(n)), strict=False))
    expected = entropy_of_counts(list(counts.values())) if counts else math.nan
    assert entropy(texts, n) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(texts=TEXTS)
def test_leaving_out_is_summing_up_the_others(texts):
    metric = Entropy()
    summaries = [metric.summarise(metric.measure([Turn("", text)])) for text in texts]
    found = [value[""] for value in metric.leave_one_out(summaries)]
    expected = [value[""] for value in Metric.leave_one_out(metric, summaries)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_long_texts_and_options():
    assert entropy(["w " * 10_000]) == pytest.approx(0, abs=1e-9)
    with pytest.raises(InputError, match="n of entropy: expected 1 or more, found 0"):
        Entropy(n=0)
