"""Sketches of sets: the same whatever the order and grouping of additions, and unbiased."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.metrics.base import Metric
from dialogauge.metrics.dialogue import distinct as module
from dialogauge.metrics.dialogue.distinct import Distinct, word_rows
from dialogauge.metrics.dialogue.id_sketch import ALL, IdSketch, at_one_threshold, threshold

METRIC = Distinct()
TEXTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6).map(" ".join), min_size=1, max_size=12)


def ids(*numbers):
    return np.array(numbers, dtype=np.uint64)


def test_a_threshold_by_hand():
    assert threshold([ids(1, 5), ids(5, 9)], ALL, 4) == ALL
    # 1, 5, 5 and 9: below 9 there are three, below 5 one.
    assert threshold([ids(1, 5), ids(5, 9)], ALL, 3) == 9
    assert threshold([ids(1, 5), ids(5, 9)], ALL, 2) == 5
    assert [sketch.ids.tolist() for sketch in at_one_threshold([IdSketch(ids(1, 5)), IdSketch(ids(5, 9))], 2)] == [
        [1],
        [],
    ]


def test_the_smaller_threshold_counts():
    whole = IdSketch(ids(1, 2**62), 2**63) + IdSketch(ids(3, 2**61), 2**62)
    assert (whole.ids.tolist(), whole.below, whole.count) == ([1, 3, 2**61], 2**62, 12)
    assert whole.variance == 3 * (3 / 4) * 16


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "MOST", 10)


def parts_of(texts, labels, groups):
    """For each part the summary of each group, those of groups without texts too."""
    return [
        [
            METRIC.summarise(
                word_rows(
                    [
                        t
                        for at, (t, p) in enumerate(zip(texts, labels, strict=True))
                        if (p, at % groups) == (part, group)
                    ]
                )
            )
            for group in range(groups)
        ]
        for part in range(3)
    ]


def merged(left, right):
    return [a + b for a, b in zip(left, right, strict=True)]


def content(summaries):
    return [(s.n, s.tokens, [(k.below, k.ids.tolist()) for k in s.kinds]) for s in summaries]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(texts=TEXTS, data=st.data())
def test_parts_that_are_bounded_and_added_are_the_whole_bounded_once(texts, data):
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts)))
    parts = parts_of(texts, labels, 3)
    once = METRIC.bounded(reduce(merged, parts))
    order = data.draw(st.permutations(parts))
    stepwise = reduce(lambda left, right: METRIC.bounded(merged(left, right)), map(METRIC.bounded, order))
    late = METRIC.bounded(merged(METRIC.bounded(order[2]), merged(order[0], METRIC.bounded(order[1]))))
    assert content(stepwise) == content(late) == content(once)
    assert all(sum(len(each.kinds[order].ids) for each in once) <= 10 for order in range(2))
    for quick, slow in zip(METRIC.leave_one_out(once), Metric.leave_one_out(METRIC, once), strict=True):
        # The sum of a sketch is cut where it stands for more n-grams than there are.
        assert {part: min(value, 1) for part, value in quick.items()} == pytest.approx(slow, nan_ok=True)


def groups_of(seed):
    """Groups of replies with words of their own hashes."""
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**64, 400, dtype=np.uint64)
    words = hashes[np.minimum(rng.geometric(0.01, 3000), 400) - 1]
    return [METRIC.summarise(module.WordRows(part, np.arange(0, 301, 5))) for part in np.split(words, 10)]


def test_counts_are_unbiased_and_their_variance_is_known(monkeypatch):
    monkeypatch.setattr(module, "MOST", 500)
    found = []
    for seed in range(300):
        groups = groups_of(seed)
        exact, kinds = reduce(add, groups), reduce(add, METRIC.bounded(groups)).kinds
        found.append([(k.count - e, k.variance) for k, e in zip(kinds, exact.types, strict=True)])
    off, variances = np.array(found).transpose(2, 0, 1)
    assert (np.abs(off.mean(axis=0)) < 3 * off.std(axis=0) / 300**0.5).all()
    np.testing.assert_allclose(off.var(axis=0), variances.mean(axis=0), rtol=0.3)


def test_a_sketch_is_said_and_widens_the_interval(monkeypatch):
    monkeypatch.setattr(module, "MOST", 500)
    groups = groups_of(0)
    assert METRIC.unseen_variance(groups) == {}
    assert METRIC.caveats_of_systems({"a": reduce(add, groups)}, {"a": 600}) == []
    bounded = METRIC.bounded(groups)
    assert all(value > 0 for value in METRIC.unseen_variance(bounded).values())
    (caveat,) = METRIC.caveats_of_systems({"a": reduce(add, bounded)}, {"a": 600})
    assert caveat.code == "sketched"
    expected = Distinct(expected=True, vocabulary=500)
    assert expected.unseen_variance(bounded)["1"] == METRIC.unseen_variance(bounded)["1"]
