"""Means of two groups, by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from dialogauge.evaluation.welch import mean_interval, welch_test


@pytest.fixture
def groups():
    rng = np.random.default_rng(4)
    return rng.normal(3, 1, 12), rng.normal(2.2, 2.5, 31)


def test_by_hand():
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


def test_turned_round(groups):
    there, back = welch_test(*groups), welch_test(*reversed(groups))
    assert (back.difference, back.t, back.g, back.g_low) == pytest.approx(
        (-there.difference, -there.t, -there.g, -there.g_high)
    )
    assert back.p == pytest.approx(there.p)


@pytest.mark.parametrize(("first", "second"), [([1.0], [2.0, 3.0]), ([], [2.0, 3.0]), ([1.0, 1.0], [2.0, 2.0])])
def test_undefined(first, second):
    found = welch_test(np.array(first), np.array(second))
    assert all(math.isnan(value) for value in vars(found).values())


def test_mean_interval():
    # Mean 4, standard deviation 2, of three: 4 ± 4.302653 · 2 / sqrt(3).
    found = mean_interval(np.array([2.0, 4.0, 6.0]))
    assert (found.value, found.low, found.high) == pytest.approx((4, 4 - 4.968275, 4 + 4.968275))
    assert mean_interval(np.array([7.0])).value == 7
    assert math.isnan(mean_interval(np.array([7.0])).low)
    assert math.isnan(mean_interval(np.array([])).value)
