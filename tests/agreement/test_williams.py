"""Williams' test, on the published example and by hand."""

import math

import pytest
from scipy import stats

from dialogauge.agreement.coefficients import pearson
from dialogauge.agreement.williams import points_needed, williams_test


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
