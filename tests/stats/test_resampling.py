"""What is drawn in a resample, and how sure a mean is by it."""

import numpy as np
import pytest

from dialogauge.stats.intervals import percentile_interval
from dialogauge.stats.resampling import Jackknife, bootstrap_weights, deviation, point_weights


def test_every_resample_draws_as_many_units_as_there_are():
    blocks = list(bootstrap_weights(7, 1000, np.random.default_rng(0)))
    weights = np.concatenate(blocks)
    assert weights.shape == (1000, 7)
    assert (weights.sum(axis=1) == 7).all()
    # Each unit is drawn once on average, with the binomial's variance 1 - 1/7.
    assert weights.mean() == pytest.approx(1)
    assert weights.var() == pytest.approx(1 - 1 / 7, rel=0.05)


def test_large_corpora_come_in_blocks(monkeypatch):
    monkeypatch.setattr("dialogauge.stats.resampling.CELLS_AT_ONCE", 30)
    blocks = list(bootstrap_weights(10, 100, np.random.default_rng(3)))
    assert [len(block) for block in blocks] == [3] * 33 + [1]
    assert (np.concatenate(blocks).sum(axis=1) == 10).all()


def test_memory_is_bounded_by_turns_as_well_as_units():
    blocks = list(bootstrap_weights(10, 50, np.random.default_rng(0), widest=1_000_000))
    assert [len(block) for block in blocks] == [4] * 12 + [2]


def test_bootstrap_interval_of_a_mean_covers_the_truth():
    # 1,000 draws of n = 100 from an exponential distribution of mean 1, each with its own 1,000 resamples.
    rng, draws, n = np.random.default_rng(2026), 1000, 100
    samples = rng.exponential(size=(draws, n))
    covered = 0
    for sample in samples:
        (weights,) = bootstrap_weights(n, 1000, rng)
        low, high = percentile_interval(weights @ sample / n, 0.95)
        covered += low <= 1 <= high
    assert 930 <= covered <= 970


def all_weights(units, resamples, seed=0):
    return np.concatenate(list(point_weights(np.array(units), resamples, np.random.default_rng(seed))))


def test_every_unit_is_drawn_with_all_its_points():
    units = np.array([2, 0, 1, 0, 2, 2])
    weights = all_weights(units, 500)
    assert weights.shape == (500, 6)
    for unit in range(3):
        mine = weights[:, units == unit]
        assert (mine == mine[:, :1]).all()
    # One point of each unit: three units are drawn every time, each once on average.
    first = weights[:, [1, 2, 0]]
    assert (first.sum(1) == 3).all()
    # Weights have a variance of 2/3: means of 500 are 1 +- 0.037.
    assert first.mean(0) == pytest.approx([1, 1, 1], abs=0.15)


@pytest.mark.parametrize("units", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_single_points(units):
    weights = all_weights(units, 50)
    assert (weights.sum(1) == 4).all()
    assert len(np.unique(weights, axis=0)) > 10


def test_points_may_stand_in_any_order():
    # Unit u's weight is the same wherever its point stands.
    straight, turned = all_weights([0, 1, 2, 3], 20), all_weights([3, 2, 1, 0], 20)
    assert (straight == turned[:, ::-1]).all()


def test_the_seed_decides_and_blocks_do_not(monkeypatch):
    units = [0, 0, 1, 2, 3]
    whole = all_weights(units, 40)
    assert (whole == all_weights(units, 40)).all()
    assert (whole != all_weights(units, 40, seed=1)).any()
    monkeypatch.setattr("dialogauge.stats.resampling.CACHED_CELLS", 17)
    assert [len(block) for block in point_weights(np.array(units), 40, np.random.default_rng(0))] == [3] * 13 + [1]
    assert (whole == all_weights(units, 40)).all()


def test_deviation_of_what_is_defined():
    # 1 and 3 lie 1 from their mean 2.
    assert deviation(np.array([1.0, np.nan, 3.0])) == 1
    assert deviation(np.array([4.0])) == 0
    assert np.isnan(deviation(np.array([np.nan, np.nan])))
    assert np.isnan(deviation(np.array([])))
    assert np.isnan(deviation(np.array([np.inf, 1.0])))


def test_one_group_has_no_interval():
    assert np.isnan(Jackknife(1.0, np.array([1.0]), np.array([5])).interval(0.95)).all()
