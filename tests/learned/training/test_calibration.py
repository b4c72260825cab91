import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.learned.ruber.fit import calibrate


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.3, -2.0), (4.0, 1.5), (0.05, 0.5)])
def test_the_curve_that_made_the_data_is_found(slope, offset):
    """Scores s that are true with the chance sigmoid(slope s + offset), as many of each kind as the other by weight."""
    rng = np.random.default_rng(0)
    scores = rng.normal(-offset, 3, size=400_000) / slope
    true = rng.random(scores.size) < sigmoid(slope * scores + offset)
    # Drawn so that both are equally likely, the offset is what was asked for.
    weight = true.mean() / (1 - true.mean())
    found = calibrate(scores[true], scores[~true])
    assert found[0] == pytest.approx(slope, rel=0.02)
    assert found[1] + np.log(weight) == pytest.approx(offset, abs=0.05)


def test_both_kinds_count_the_same():
    """Five negatives for each true response are no reason to doubt it."""
    rng = np.random.default_rng(0)
    true, negative = rng.normal(2, 1, 200), rng.normal(-2, 1, 200)
    several = np.repeat(negative[:, None], 5, axis=1)
    np.testing.assert_allclose(calibrate(true, several), calibrate(true, negative), rtol=1e-6)


def test_normal_scores_by_hand():
    """Of normal scores with means 1 and -1 and variance 1, the log of the odds at s is 2 s."""
    from scipy.stats import norm

    quantiles = (np.arange(20_000) + 0.5) / 20_000
    slope, offset = calibrate(norm.ppf(quantiles) + 1, norm.ppf(quantiles) - 1)
    assert slope == pytest.approx(2, rel=0.03)
    assert offset == pytest.approx(0, abs=1e-3)
    slope, offset = calibrate(norm.ppf(quantiles) + 4, norm.ppf(quantiles) + 2)
    assert (slope, offset) == pytest.approx((2, -6), rel=0.03)


def test_where_nothing_overlaps_it_stays_finite():
    for scale in (0.1, 1.0, 20.0, 1000.0):
        slope, offset = calibrate(np.array([2.0, 3.0]) * scale, np.array([[-1.0], [0.5]]) * scale)
        assert 0 < slope * scale < 200
        assert np.isfinite(offset)
        assert sigmoid(slope * 2.0 * scale + offset) > 0.9 > 0.1 > sigmoid(slope * 0.5 * scale + offset)


def test_scores_that_tell_nothing():
    slope, offset = calibrate(np.full(5, 3.0), np.full((5, 2), 3.0))
    assert sigmoid(slope * 3 + offset) == pytest.approx(0.5, abs=0.01)
    slope, offset = calibrate(np.zeros(1), np.zeros((1, 1)))
    assert (slope, offset) == pytest.approx((1, 0), abs=1e-6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=8),
    st.lists(st.floats(-100, 100), min_size=1, max_size=8),
)
def test_ranking_is_unchanged(true, negative):
    """The slope is above 0 even where true responses score lower than others."""
    slope, offset = calibrate(np.array(true), np.array(negative)[:, None])
    assert slope > 0
    assert np.isfinite([slope, offset]).all()
