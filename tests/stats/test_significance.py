"""Holm's correction and Welch's test by hand, Williams' test on the published example and by hand."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dialogauge.stats.correlations import pearson
from dialogauge.stats.significance import holm_corrected, points_needed, welch_test, williams_test

# Holm


def test_holm_by_hand():
    # In order 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 is raised to the 0.06 before it.
    assert holm_corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)


def test_what_was_not_tested_does_not_count():
    assert holm_corrected([None, 0.01, None, 0.02]) == [None, pytest.approx(0.02), None, pytest.approx(0.02)]
    assert holm_corrected([None]) == [None]
    assert holm_corrected([]) == []


def test_one_alone_stays_and_none_exceeds_1():
    assert holm_corrected([0.03]) == [0.03]
    assert holm_corrected([0.6, 0.5, 1.0]) == [1.0, 1.0, 1.0]


def test_equal_p_values_stay_equal():
    assert holm_corrected([0.01, 0.01, 0.01]) == pytest.approx([0.03] * 3, abs=1e-15)


def test_the_order_does_not_matter():
    p_values = [0.2, 0.001, None, 0.04, 0.04]
    expected = dict(zip(range(5), holm_corrected(p_values), strict=True))
    for order in itertools.permutations(range(5)):
        found = holm_corrected([p_values[place] for place in order])
        assert found == [expected[place] for place in order]


def test_never_smaller_than_before():
    p_values = [0.001 * (37 * i % 101) for i in range(1, 40)]
    assert all(corrected >= p for p, corrected in zip(p_values, holm_corrected(p_values), strict=True))


# Welch


@pytest.fixture
def groups():
    rng = np.random.default_rng(4)
    return rng.normal(3, 1, 12), rng.normal(2.2, 2.5, 31)


def test_welch_by_hand():
    # Means 4 and 1, variances 4 and 1, of three each: t = 3 / sqrt(4/3 + 1/3) = 2.3238; degrees of freedom
    # (5/3)² / ((4/3)²/2 + (1/3)²/2) = (25/9) / (17/18) = 2.9412. Pooled variance 2.5; m = 4, and
    # J = Γ(2) / (sqrt(2) Γ(1.5)) = 1 / (sqrt(2) · sqrt(π)/2) = 0.797885, so g = 0.797885 · 3 / sqrt(2.5) = 1.513880.
    found = welch_test(np.array([2.0, 4.0, 6.0]), np.array([0.0, 1.0, 2.0]))
    assert found.difference == 3
    assert found.t == pytest.approx(3 / math.sqrt(5 / 3))
    assert found.freedom == pytest.approx(50 / 17)
    assert found.p == pytest.approx(2 * stats.t.sf(found.t, 50 / 17))
    half = stats.t.ppf(0.975, 50 / 17) * math.sqrt(5 / 3)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half))
    assert found.g == pytest.approx(math.sqrt(2 / math.pi) * 3 / math.sqrt(2.5))
    # Its variance is (3 + 3) / 9 + g² / 12 = 0.857653.
    reach = 1.959964 * math.sqrt(6 / 9 + found.g**2 / 12)
    assert (found.g_low, found.g_high) == pytest.approx((found.g - reach, found.g + reach))


def test_welch_turned_round(groups):
    there, back = welch_test(*groups), welch_test(*reversed(groups))
    assert (back.difference, back.t, back.g, back.g_low) == pytest.approx(
        (-there.difference, -there.t, -there.g, -there.g_high)
    )
    assert back.p == pytest.approx(there.p)


@pytest.mark.parametrize(("first", "second"), [([1.0], [2.0, 3.0]), ([], [2.0, 3.0]), ([1.0, 1.0], [2.0, 2.0])])
def test_welch_undefined(first, second):
    found = welch_test(np.array(first), np.array(second))
    assert all(math.isnan(value) for value in vars(found).values())


# Williams


def enough(n):
    return stats.t.ppf(0.975, n - 3) + stats.t.ppf(0.8, n - 3)


def test_steigers_example():
    # Steiger 1980, as in the documentation of R's psych::r.test: n = 103, r12 = .4, r13 = .5, r23 = .1.
    # |R| = 1 - .16 - .25 - .01 + 2 * .4 * .5 * .1 = .62; 2 |R| 102/100 = 1.2648; .45^2 * .9^3 = .2025 * .729 =
    # .1476225; t = -.1 sqrt(102 * 1.1 / 1.4124225) = -.1 sqrt(79.43799) = -.891280; p of t with 100 degrees.
    found = williams_test(0.4, 0.5, 0.1, 103)
    assert found.t == pytest.approx(-0.1 * math.sqrt(112.2 / 1.4124225), abs=1e-12)
    assert round(found.t, 2) == -0.89
    assert round(found.p, 2) == 0.37
    assert found.p == pytest.approx(2 * stats.t.sf(0.1 * math.sqrt(112.2 / 1.4124225), 100), abs=1e-12)


def test_the_order_of_metrics_changes_the_sign_alone():
    one, other = williams_test(0.3, 0.6, 0.4, 40), williams_test(0.6, 0.3, 0.4, 40)
    assert other.t == pytest.approx(-one.t, abs=1e-15)
    assert other.p == pytest.approx(one.p, abs=1e-15)
    assert williams_test(-0.3, -0.6, 0.4, 40).t == pytest.approx(-one.t, abs=1e-15)


@pytest.mark.parametrize("n", [0, 2, 3])
def test_too_few_points(n):
    assert all(map(math.isnan, williams_test(0.3, 0.6, 0.4, n)))
    assert not any(map(math.isnan, williams_test(0.3, 0.6, 0.4, 4)))


@pytest.mark.parametrize("wrong", [(math.nan, 0.5, 0.1), (0.5, math.nan, 0.1), (0.4, 0.5, math.nan)])
def test_correlations_that_are_undefined(wrong):
    assert all(map(math.isnan, williams_test(*wrong, 100)))
    assert points_needed(*wrong) is None


@pytest.mark.parametrize("between", [0.2, 1.0])
def test_no_difference(between):
    assert williams_test(0.5, 0.5, between, 50) == (0.0, 1.0)
    assert points_needed(0.5, 0.5, between) is None


@pytest.mark.parametrize("apart", [1.2e-16, -3e-16])
def test_a_difference_of_rounding_is_none(apart):
    # A metric and twice the metric correlate by exactly 1 with each other, and with people alike but for rounding.
    assert williams_test(0.5, 0.5 + apart, 1.0, 50).p > 0.99
    assert points_needed(0.5, 0.5 + apart, 1.0) is None


def test_a_metric_and_a_multiple_of_it():
    scores = [0.1 * (7 * i % 11) + 0.01 * i for i in range(30)]
    people = [(5 * i) % 13 - 0.3 * i for i in range(30)]
    for times in (0.3, 0.7, 1.1, 3.3, 9.7):
        scaled = [times * score + 3 for score in scores]
        three = pearson(scores, people), pearson(scaled, people), pearson(scores, scaled)
        assert williams_test(*three, 30).p > 0.99
        assert points_needed(*three) is None


@pytest.mark.parametrize("three", [(0.4, 0.5, 0.1), (0.6, 0.3, 0.7), (0.31, 0.3, 0.9), (0.2, -0.2, 0.0)])
def test_as_many_points_as_show_the_difference(three):
    needed = points_needed(*three)
    assert abs(williams_test(*three, needed).t) >= enough(needed)
    assert needed == 4 or abs(williams_test(*three, needed - 1).t) < enough(needed - 1)


def test_few_points_need_more_than_standard_errors():
    # 1.96 + 0.84 standard errors for 80 % power at 5 %, as long as points are many; of 4 points t has one degree of
    # freedom, and its quantiles are 12.71 and 1.38.
    assert round(enough(10**6), 2) == 2.80
    assert round(enough(4), 2) == 14.08
    # By normal quantiles, four points would do.
    three = (0.99, 0.2, 0.1)
    assert abs(williams_test(*three, 5).t) > 2.8
    assert points_needed(*three) > 5


def test_larger_differences_need_fewer_points():
    needed = [points_needed(0.5, 0.5 + apart, 0.3) for apart in (0.001, 0.01, 0.1, 0.4)]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] > 100_000
    assert needed[-1] < 100


def test_what_a_billion_points_would_not_show():
    assert points_needed(0.5, 0.5 + 1e-5, 0.0) is None


def test_a_metric_and_its_opposite():
    # Nothing is left to tell how far apart they would be by chance: 0 / 0.
    assert all(map(math.isnan, williams_test(0.5, -0.5, -1.0, 30)))
    assert points_needed(0.5, -0.5, -1.0) is None
