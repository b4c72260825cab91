"""Sizes that have the power they promise."""

import numpy as np
import pytest

from dialogauge import InputError
from dialogauge.people.plan.sizes import DifferenceVariance, Target, power_at, units_needed


@pytest.mark.parametrize(("difference", "power", "units"), [(0.5, 0.8, 34), (0.5, 0.95, 54), (0.2, 0.8, 199)])
def test_sizes_of_a_paired_t_test(difference, power, units):
    """For one look without a metric they are the textbook's: G*Power 3.1 has these for a paired t test, two-sided."""
    assert units_needed(Target(difference, power), DifferenceVariance(1.0)) == units


def test_a_size_by_hand():
    # Normal approximation: (1.96 + 0.8416)² * 2 / 0.1² = 1569.8, and Student's t takes a little more.
    assert units_needed(Target(0.1), DifferenceVariance(2.0)) == pytest.approx(1570, abs=3)


def test_a_metric_shortens_the_study_by_its_squared_correlation():
    alone = units_needed(Target(0.1), DifferenceVariance(2.0))
    assert units_needed(Target(0.1), DifferenceVariance(2.0, gain=0.72)) == pytest.approx(alone * 0.64, rel=0.01)


def test_a_metric_that_scores_little_more_than_people_saves_little():
    sizes = [units_needed(Target(0.1), DifferenceVariance(2.0, gain=0.72, pool=pool)) for pool in (1600, 3000, None)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1500
    # From (V - G) / n + G / N = (0.1 / 2.8016)²: n = 1.28 / (.00127411 - .72 / 3000) = 1237.8
    assert sizes[1] == pytest.approx(1238, abs=3)


def test_a_pool_that_is_too_small():
    assert units_needed(Target(0.1), DifferenceVariance(2.0, pool=1500)) is None
    assert units_needed(Target(0.1), DifferenceVariance(2.0, pool=20)) is None


def test_people_are_a_floor_that_contexts_do_not_lower():
    few, many = (DifferenceVariance(1.0, taste=0.2, people=people) for people in (10, 1000))
    assert few.error(10**6) == pytest.approx((0.2 / 10) ** 0.5, rel=1e-3)
    assert units_needed(Target(0.3), few) is None
    assert many.error(90) == DifferenceVariance(1.0).error(90)  # no one rates twice


def test_more_pairs_and_more_looks_take_more():
    plain, of_four, looking = (
        units_needed(Target(0.3, **more), DifferenceVariance(1.0)) for more in ({}, {"among": 4}, {"anytime": True})
    )
    assert plain < of_four < looking


def test_no_plan_asks_for_fewer_than_thirty():
    assert units_needed(Target(5.0), DifferenceVariance(1.0)) == 30
    assert units_needed(Target(5.0), DifferenceVariance(0.0)) == 30


@pytest.mark.parametrize("wrong", [{"difference": 0}, {"difference": 1, "power": 1}, {"difference": 1, "among": 1}])
def test_what_nobody_means_is_refused(wrong):
    with pytest.raises(InputError):
        Target(**wrong)


@pytest.mark.parametrize("difference", [0.3, 0.15])
def test_the_power_promised_is_the_power_got(difference):
    """4,000 studies of normal differences with a metric: the difference less the best share of the metric's, whose mean
    over a large pool is known. Within three points, of which 1.3 are chance."""
    rng = np.random.default_rng(0)
    correlation = 0.5
    n = units_needed(Target(difference), DifferenceVariance(1.0, gain=correlation**2))
    scored = rng.normal(size=(4000, n))
    rated = difference + correlation * scored + (1 - correlation**2) ** 0.5 * rng.normal(size=scored.shape)
    centred = scored - scored.mean(1, keepdims=True)
    slope = (rated * centred).sum(1) / (centred**2).sum(1)
    value = rated.mean(1) - slope * scored.mean(1)
    left = rated - rated.mean(1, keepdims=True) - slope[:, None] * centred
    error = np.sqrt((left**2).sum(1) / (n - 2) / n)
    got = (value / error > 1.97).mean()
    promised = power_at(n, DifferenceVariance(1.0, gain=0.25).error(n), Target(difference))
    assert promised == pytest.approx(0.8, abs=0.005)
    assert got == pytest.approx(promised, abs=0.03)
