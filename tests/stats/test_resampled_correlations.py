"""Correlations of resamples: the same numbers as copying points and starting over."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dialogauge.stats.correlations import Resampling, kendall, kendall_influence
from dialogauge.stats.resampling import point_weights


def rng(seed=0):
    return np.random.default_rng(seed)


def columns(seed, n=30):
    """Three columns, one with many ties and one far from 0, and ratings with ties."""
    random = rng(seed)
    truth = random.normal(size=n)
    x = np.column_stack([truth, np.round(truth + random.normal(size=n)), 1e6 + random.normal(size=n)])
    return x, np.clip(np.round(truth + random.normal(size=n)), -1, 1)


def copied(values, weights):
    return np.repeat(values, weights.astype(int))


def all_weights(units, resamples, seed=0):
    return np.concatenate(list(point_weights(np.array(units), resamples, rng(seed))))


@pytest.mark.parametrize("name", ["pearson", "spearman"])
@pytest.mark.parametrize("seed", range(3))
def test_as_if_points_were_copied(name, seed):
    x, y = columns(seed)
    weights = all_weights(np.arange(len(y)), 20, seed)
    found = getattr(Resampling(x, y), name)(weights)
    assert found.shape == (20, 3)
    of_scipy = stats.pearsonr if name == "pearson" else stats.spearmanr
    for row, drawn in zip(found, weights, strict=True):
        expected = [of_scipy(copied(column, drawn), copied(y, drawn)).statistic for column in x.T]
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_every_point_once_is_the_list_itself(name):
    x, y = columns(4)
    of_scipy = stats.pearsonr if name == "pearson" else stats.spearmanr
    found = getattr(Resampling(x, y), name)(np.ones((1, len(y))))[0]
    assert found == pytest.approx([of_scipy(column, y).statistic for column in x.T], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    points=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.1, 0.2, 0.3]), st.integers(0, 3)), min_size=2, max_size=12
    )
)
def test_few_points_with_ties_and_resamples_that_never_differ(points):
    x, y, weights = (np.array(side, float) for side in zip(*points, strict=True))
    if not weights.any():
        weights[:] = 1
    resampling = Resampling(x[:, None], y)
    chosen = copied(x, weights), copied(y, weights)
    for found, of_scipy in (
        (resampling.pearson(weights[None]), stats.pearsonr),
        (resampling.spearman(weights[None]), stats.spearmanr),
    ):
        expected = of_scipy(*chosen).statistic if np.ptp(chosen[0]) and np.ptp(chosen[1]) else np.nan
        assert found[0, 0] == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_a_resample_that_never_differs(name):
    x, y = np.array([[0.1], [0.1], [0.7], [0.2]]), np.array([0.3, 0.6, 0.3, 0.3])
    weights = np.array([[2.0, 2, 0, 0], [1, 0, 2, 1], [0, 4, 0, 0], [1, 1, 1, 1]])
    # The first has one score, the second one rating, the third one point.
    found = getattr(Resampling(x, y), name)(weights)[:, 0]
    assert np.isnan(found).tolist() == [True, True, True, False]


def test_columns_and_ratings_that_never_differ():
    x, y = columns(1)
    weights = all_weights(np.arange(len(y)), 5)
    flat = x.copy()
    flat[:, 1] = 0.1
    for name in ("pearson", "spearman"):
        found = getattr(Resampling(flat, y), name)(weights)
        assert np.isnan(found).all(0).tolist() == [False, True, False]
        assert found[:, [0, 2]] == pytest.approx(getattr(Resampling(x, y), name)(weights)[:, [0, 2]], abs=1e-12)
        assert np.isnan(getattr(Resampling(x, np.full(len(y), 0.1)), name)(weights)).all()


# Kendall's influence


def weighted_tau(x, y, weights):
    """Tau-b where point i stands weights[i] times, which need not be whole: over all ordered pairs."""
    a, b = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    pairs = np.outer(weights, weights)
    return (pairs * a * b).sum() / np.sqrt((pairs * a * a).sum() * (pairs * b * b).sum())


def test_the_weighted_tau_of_these_tests_is_that_of_copies():
    x, y = columns(2)
    weights = np.array(all_weights(np.arange(len(y)), 1)[0])
    expected = stats.kendalltau(copied(x[:, 1], weights), copied(y, weights)).statistic
    assert weighted_tau(x[:, 1], y, weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("column", range(3))
def test_influence_is_the_slope(column):
    x, y = columns(3)
    x = x[:, column]
    influence = kendall_influence(x, y)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    step = 1e-6
    for point in range(len(y)):
        more, less = np.ones(len(y)), np.ones(len(y))
        more[point] += step
        less[point] -= step
        slope = (weighted_tau(x, y, more) - weighted_tau(x, y, less)) / (2 * step)
        assert influence[point] == pytest.approx(slope, abs=1e-8)


def test_influence_follows_the_bootstrap():
    x, y = columns(5, n=400)
    weights = all_weights(np.arange(400), 60)
    linear = kendall(x[:, 0], y) + (weights - 1) @ kendall_influence(x[:, 0], y)
    true = [kendall(copied(x[:, 0], drawn), copied(y, drawn)) for drawn in weights]
    assert np.corrcoef(linear, true)[0, 1] > 0.99
    assert linear == pytest.approx(true, abs=0.02)


def test_influence_does_not_depend_on_blocks(monkeypatch):
    x, y = columns(6)
    whole = kendall_influence(x[:, 1], y)
    monkeypatch.setattr("dialogauge.stats.correlations.PAIRS", 160)
    assert (kendall_influence(x[:, 1], y) == whole).all()


def test_influence_of_what_never_differs():
    x, y = columns(7)
    assert np.isnan(kendall_influence(np.full(len(y), 2.0), y)).all()
    assert np.isnan(kendall_influence(x[:, 0], np.full(len(y), 2.0))).all()
