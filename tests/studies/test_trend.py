"""The rule by which a metric falls or does not."""

from dataclasses import replace

import pytest
from scipy.stats import spearmanr

from dialogauge.studies.trend import Point, trend_of


def line(*values, better=True, ratios=None, changed=1, width=0.01):
    ratios = ratios or [place / (len(values) - 1) for place in range(len(values))]
    return [
        Point(
            "noise",
            ratio,
            "s",
            "m",
            value,
            None if value is None else value - width,
            None if value is None else value + width,
            20,
            better,
            "m|1",
            changed if ratio else 0,
        )
        for ratio, value in zip(ratios, values, strict=True)
    ]


@pytest.mark.parametrize(
    ("values", "better", "spearman", "quality", "verdict"),
    [
        ((6, 5, 4, 3, 2, 1), True, -1, "worse", "falls"),
        ((1, 2, 3, 4, 5, 6), False, -1, "worse", "falls"),
        ((1, 2, 3, 4, 5, 6), True, 1, "better", "does not fall"),
        ((6, 5, 4, 3, 2, 1), False, 1, "better", "does not fall"),
        # 1 - 6 S / (n³ - n): S, the sum of squared differences in rank, is 70 for the reverse order, and neighbours
        # that have changed places take 2 off.
        ((6, 5, 3, 4, 2, 1), True, 1 - 6 * 68 / 210, "worse", "falls"),
        # Two such pairs: too many for the rule.
        ((5, 6, 3, 4, 2, 1), True, 1 - 6 * 66 / 210, "worse", "does not fall"),
        # Down and back again.
        ((6, 5, 4, 3, 2, 7), True, -1 / 7, "better", "does not fall"),
        ((3, 3, 3), True, None, "same", "constant"),
        # The last digits of a sum depend on its order.
        ((0.3, 0.1 + 0.2, 0.3), True, None, "same", "constant"),
        ((3, 2, 1), None, -1, None, "no direction"),
        ((3, None, 1), True, -1, "worse", "falls"),
        ((3, 2, None), True, -1, None, "undefined"),
        ((None, 2, 1), True, -1, None, "undefined"),
        ((None, None), True, None, None, "undefined"),
    ],
)
def test_the_rule(values, better, spearman, quality, verdict):
    trend = trend_of(line(*values, better=better))
    assert trend.spearman == (None if spearman is None else pytest.approx(spearman))
    assert (trend.quality, trend.verdict) == (quality, verdict)
    assert trend.points == sum(value is not None for value in values)


def test_equal_values_share_their_ranks():
    values, ratios = (5.0, 4.0, 4.0, 4.0, 2.0, 2.5), [0, 0.1, 0.25, 0.5, 0.75, 1]
    assert trend_of(line(*values, ratios=ratios)).spearman == pytest.approx(spearmanr(ratios, values).statistic)


@pytest.mark.parametrize(("width", "verdict"), [(0.9, "falls"), (1.1, "falls, unclear")])
def test_a_fall_within_the_intervals_is_unclear(width, verdict):
    assert trend_of(line(3, 2, 1, width=width)).verdict == verdict
    assert trend_of(line(1, 2, 3, width=width, better=False)).verdict == verdict


def test_a_fall_without_intervals_is_unclear():
    points = [replace(point, low=None, high=None) for point in line(3, 2, 1)]
    assert trend_of(points).verdict == "falls, unclear"


def test_nothing_changed_comes_before_everything_else():
    assert trend_of(line(1, 1, 1, changed=0)).verdict == "nothing changed"
