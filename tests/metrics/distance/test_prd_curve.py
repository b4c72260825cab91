"""The precision-recall curve against its definition, and the cases of Xiang et al. (2021), section 3.2."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.errors import InputError
from dialogauge.metrics.distance.codebooks import f_beta, prd_curve


def by_loops(real, generated, angles):
    precision, recall = [], []
    for number in range(angles):
        angle = 1e-10 + number * (math.pi / 2 - 2e-10) / (angles - 1)
        slope = math.tan(angle)
        precision.append(sum(min(slope * p, q) for p, q in zip(real, generated, strict=True)))
        recall.append(sum(min(p, q / slope) for p, q in zip(real, generated, strict=True)))
    return precision, recall


def histogram(seed, bins):
    counts = np.random.default_rng(seed).integers(0, 6, bins) + (np.arange(bins) == seed % bins)
    return counts / counts.sum()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 25), st.sampled_from([2, 11, 101]))
def test_equals_the_definition(seed, bins, angles):
    real, generated = histogram(seed, bins), histogram(seed + 1, bins)
    for found, expected in zip(prd_curve(real, generated, angles), by_loops(real, generated, angles), strict=True):
        # The last slopes, near 1e10, depend on the last digits of their angles.
        np.testing.assert_allclose(found[:-1], expected[:-1], atol=1e-12, rtol=0)
        assert found[-1] == pytest.approx(expected[-1], abs=1e-9)


def test_derived_by_hand():
    # Three angles: slopes 1e-10, 1 and 1e10. At 1: min(.5, .25) + min(.5, .25) + min(0, .5) = .5, as recall too.
    # At the ends: as much precision as lies where real rows are, .5, and all of the recall, 1.
    precision, recall = prd_curve([0.5, 0.5, 0], [0.25, 0.25, 0.5], angles=3)
    np.testing.assert_allclose(precision, [0, 0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(recall, [1, 0.5, 0], atol=1e-9)
    # F1 at slope 1 is .5; at slope 1/2, precision .5 and recall 1: 2/3, found to the resolution of the angles.
    assert f_beta(*prd_curve([0.5, 0.5, 0], [0.25, 0.25, 0.5]), 1) == pytest.approx(2 / 3, abs=1e-3)


@pytest.mark.parametrize(
    ("real", "generated", "precision", "recall"),
    [
        pytest.param([1, 1], [2, 0], 1, 0.5, id="(a) one mode of two"),
        pytest.param([2, 0], [1, 1], 0.5, 1, id="(b) the opposite"),
        pytest.param([3, 1], [3, 1], 1, 1, id="(c) the same"),
        pytest.param([2, 0], [0, 2], 0, 0, id="(d) disjoint"),
    ],
)
def test_cases_of_section_3_2(real, generated, precision, recall):
    curve = prd_curve(real, generated)
    assert curve[0].max() == pytest.approx(precision)
    assert curve[1].max() == pytest.approx(recall)
    harmonic = 2 * precision * recall / (precision + recall) if precision else 0
    assert f_beta(*curve, 1) == pytest.approx(harmonic, abs=2e-3)


def test_beta_above_one_is_about_recall():
    lost = prd_curve([1, 1], [2, 0])
    assert f_beta(*lost, 8) < 0.52 < 0.95 < f_beta(*lost, 1 / 8)
    invented = prd_curve([2, 0], [1, 1])
    assert f_beta(*invented, 8) == pytest.approx(f_beta(*lost, 1 / 8), abs=1e-9)
    # (1 + 64) · .5 · 1 / (64 · .5 + 1) at slope 1/2, where precision is .5 and recall 1.
    assert f_beta(np.array([0.5]), np.array([1.0]), 8) == pytest.approx(32.5 / 33)
    assert f_beta(np.zeros(3), np.zeros(3), 1) == 0


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 25))
def test_properties(seed, bins):
    real, generated = histogram(seed, bins), histogram(seed + 1, bins)
    precision, recall = prd_curve(real, generated)
    assert ((precision >= 0) & (precision <= 1) & (recall >= 0) & (recall <= 1)).all()
    assert (np.diff(precision) >= -1e-12).all()
    assert (np.diff(recall) <= 1e-12).all()
    # With sides changed the curve is read from its other end.
    back = prd_curve(generated, real)
    np.testing.assert_allclose(back[0][1:-1], recall[::-1][1:-1], atol=1e-9)
    order = np.random.default_rng(seed).permutation(bins)
    np.testing.assert_allclose(prd_curve(real[order], generated[order]), (precision, recall), atol=1e-12)
    # Counts are as good as shares.
    np.testing.assert_allclose(prd_curve(7 * real, 3 * generated), (precision, recall), atol=1e-12)


def test_axes_before_the_bins():
    real = np.stack([histogram(seed, 6) for seed in range(8)]).reshape(4, 2, 6)
    generated = np.stack([histogram(seed, 6) for seed in (20, 21)])
    precision, recall = prd_curve(real, generated, angles=31)
    assert precision.shape == recall.shape == (4, 2, 31)
    np.testing.assert_allclose(precision[3, 1], prd_curve(real[3, 1], generated[1], angles=31)[0], atol=1e-15)
    best = f_beta(precision, recall, 8)
    assert best.shape == (4, 2)
    assert best[2, 0] == f_beta(precision[2, 0], recall[2, 0], 8)


def test_what_is_no_histogram():
    precision, recall = prd_curve([[0, 0], [1, 1]], [1, 1])
    assert np.isnan(precision[0]).all()
    assert np.isnan(f_beta(precision, recall, 1)[0])
    assert f_beta(precision, recall, 1)[1] == pytest.approx(1)
    with pytest.raises(InputError, match=r"same bins; found shapes \(2,\) and \(3,\)"):
        prd_curve([1, 1], [1, 1, 1])
    with pytest.raises(InputError, match="no negative bins; found -1"):
        prd_curve([1, -1], [1, 1])
    with pytest.raises(InputError, match="at least 2 angles; found 1"):
        prd_curve([1, 1], [1, 1], angles=1)
