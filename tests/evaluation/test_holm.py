"""Holm's correction."""

import itertools

import pytest

from dialogauge.evaluation.holm import holm_corrected


def test_by_hand():
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
