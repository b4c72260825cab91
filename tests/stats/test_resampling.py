"""What is drawn in a resample, how sure a mean is by it, and intervals of means and of few points."""

import math

import numpy as np
import pytest
from scipy import stats

from dialogauge.stats.resampling import (
    IntervalEstimate,
    Jackknife,
    bootstrap_weights,
    deviation,
    expanded,
    expansion,
    fisher_interval,
    linear_interval,
    mean_of_estimates,
    percentile_interval,
    point_weights,
    student_mean,
)


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


COEFFICIENTS = ["pearson", "spearman", "kendall"]


def test_pearson_by_hand():
    # z of 0.6 is ln(1.6 / 0.4) / 2 = ln 2, its standard error with 12 points 1/3: from z = ln 2 -+ 1.959964 / 3.
    reach = stats.norm.ppf(0.975) / 3
    expected = math.tanh(math.log(2) - reach), math.tanh(math.log(2) + reach)
    assert fisher_interval("pearson", 0.6, 12, 0.95) == pytest.approx(expected, abs=1e-12)


def test_pearson_as_scipy_has_it():
    x, y = [1, 4, 2, 8, 5, 7, 9, 3], [2, 3, 1, 9, 7, 4, 8, 6]
    found = stats.pearsonr(x, y)
    expected = tuple(found.confidence_interval(0.9))
    assert fisher_interval("pearson", found.statistic, 8, 0.9) == pytest.approx(expected, abs=1e-9)


def test_spearman_by_hand():
    # Variance (1 + 0.36 / 2) / 9 (Bonett & Wright 2000).
    reach = stats.norm.ppf(0.975) * math.sqrt(1.18 / 9)
    expected = math.tanh(math.log(2) - reach), math.tanh(math.log(2) + reach)
    assert fisher_interval("spearman", 0.6, 12, 0.95) == pytest.approx(expected, abs=1e-12)


def test_kendall_by_hand():
    # Variance 0.437 / (12 - 4) (Fieller, Hartley & Pearson 1957).
    reach = stats.norm.ppf(0.975) * math.sqrt(0.437 / 8)
    expected = math.tanh(math.log(2) - reach), math.tanh(math.log(2) + reach)
    assert fisher_interval("kendall", 0.6, 12, 0.95) == pytest.approx(expected, abs=1e-12)


def test_a_perfect_order_of_few_systems():
    # Half a step below 1 is 0.9 with 4 systems, and 34/35 with 6. The lower ends, by hand: artanh 0.9 = 1.4722 less
    # 1.96 sqrt(1.405) = 2.3232 is below 0; artanh 34/35 = 2.1171 less 1.96 sqrt(1.4718 / 3) = 1.3729 is above.
    low, high = fisher_interval("spearman", 1.0, 4, 0.95)
    assert low == pytest.approx(math.tanh(1.4722 - 2.3232), abs=1e-3)
    assert low < 0
    assert high == 1
    low, high = fisher_interval("spearman", 1.0, 6, 0.95)
    assert low == pytest.approx(math.tanh(2.1171 - 1.3729), abs=1e-3)
    assert low > 0
    assert high == 1
    # Of 6 systems, tau a step below 1 is 13/15, half a step 14/15.
    reach = stats.norm.ppf(0.975) * math.sqrt(0.437 / 2)
    assert fisher_interval("kendall", 1.0, 6, 0.95)[0] == pytest.approx(math.tanh(math.atanh(14 / 15) - reach))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("n", [4, 5, 6, 8, 13, 40])
@pytest.mark.parametrize("value", [1.0, 1 - 2e-16, 0.5, 0.0, -1 + 3e-16, -1.0])
def test_the_value_lies_in_its_interval(coefficient, n, value):
    low, high = fisher_interval(coefficient, value, n, 0.95)
    assert -1 <= low <= value <= high <= 1
    mirrored = fisher_interval(coefficient, -value, n, 0.95)
    assert mirrored == pytest.approx((-high, -low), abs=1e-12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("value", [-1.0, 0.3, 1.0])
def test_three_points_say_nothing(coefficient, value):
    assert fisher_interval(coefficient, value, 3, 0.95) == (-1.0, 1.0)
    assert fisher_interval(coefficient, value, 2, 0.95) == (-1.0, 1.0)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_more_points_and_less_confidence_are_narrower(coefficient):
    ends = [fisher_interval(coefficient, 0.5, n, 0.95) for n in (5, 10, 100)]
    widths = [high - low for low, high in ends]
    assert widths == sorted(widths, reverse=True)
    low, high = fisher_interval(coefficient, 0.5, 10, 0.8)
    assert high - low < widths[1]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_no_value_no_interval(coefficient):
    assert all(map(math.isnan, fisher_interval(coefficient, math.nan, 10, 0.95)))


def test_mean_by_hand():
    # (0.2 + 0.6) / 2 = 0.4. Below: sqrt(0.3^2 + 0.4^2) / 2 = 0.25; above: sqrt(0.5^2 + 0.12^2) / 2 = 0.26 (rounded).
    found = mean_of_estimates([IntervalEstimate(0.2, -0.1, 0.7), IntervalEstimate(0.6, 0.2, 0.72)])
    assert found == pytest.approx((0.4, 0.15, 0.4 + math.sqrt(0.25 + 0.0144) / 2), abs=1e-15)
    assert isinstance(found, IntervalEstimate)


def test_mean_of_one_is_itself():
    assert mean_of_estimates([IntervalEstimate(0.5, 0.1, 0.8)]) == pytest.approx((0.5, 0.1, 0.8), abs=1e-15)


def test_mean_with_an_interval_missing():
    found = mean_of_estimates([IntervalEstimate(0.5, math.nan, math.nan), IntervalEstimate(0.3, 0.1, 0.4)])
    assert found.value == pytest.approx(0.4)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_students_mean_by_hand():
    # Mean 4, standard deviation 2, of three: 4 ± 4.302653 · 2 / sqrt(3).
    found = student_mean(np.array([2.0, 4.0, 6.0]))
    assert (found.value, found.low, found.high) == pytest.approx((4, 4 - 4.968275, 4 + 4.968275))
    assert student_mean(np.array([7.0])).value == 7
    assert math.isnan(student_mean(np.array([7.0])).low)
    assert math.isnan(student_mean(np.array([])).value)


def test_the_expansion_of_few_units_by_hand():
    # Student's t of 4 degrees is 2.776 at 97.5 %, where the normal distribution has 1.960; sqrt(5 / 4) is 1.118.
    assert expansion(0.95, 5) == pytest.approx(1.118034 * 2.776445 / 1.959964, rel=1e-6)
    assert expansion(0.95, 10_000) == pytest.approx(1, abs=3e-4)
    assert expansion(0.95, 1) == 1
    assert stats.norm.ppf((1 + expanded(0.95, 5)) / 2) == pytest.approx(1.959964 * expansion(0.95, 5), rel=1e-6)


def test_linear_intervals_by_hand():
    # Influences (-.3, 0, .3) have the squares .18, times 3 / 2 is .27; Student's t of 2 degrees is 4.302653.
    low, high = linear_interval(0.1, np.array([-0.03, 0, 0.03]), 0.95)
    assert (low, high) == pytest.approx((0.1 - 4.302653 * math.sqrt(0.0027), 0.1 + 4.302653 * math.sqrt(0.0027)))
    assert linear_interval(0.1, np.array([-0.3, 0, 0.3]), 0.95) == (-1, 1)
    assert np.isnan(linear_interval(0.1, np.full(3, np.nan), 0.95)).all()


def test_the_linear_interval_of_a_mean_is_students():
    values = np.random.default_rng(0).normal(size=9) / 10
    found = linear_interval(values.mean(), (values - values.mean()) / 9, 0.9)
    assert found == pytest.approx(student_mean(values, 0.9)[1:], abs=1e-12)
