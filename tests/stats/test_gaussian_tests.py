"""Tests of normality on plain vectors: equal to scipy by dimension, of the right level and with power together."""

import numpy as np
import pytest
from scipy.stats import shapiro

from dialogauge.stats.gaussian_tests import DimensionTests, _rotations, along_directions, each_dimension, w_of

QUICK = {"directions": 10, "samples": 19}


def gaussian(rng, n, d):
    """With dimensions that depend on each other and differ in size."""
    return rng.standard_normal((n, d)) @ (rng.standard_normal((d, d)) * np.logspace(-2, 2, d)) + 50


def found_with(p):
    return DimensionTests(np.full(len(p), 0.9), np.array(p))


@pytest.mark.parametrize("n", [3, 20, 5000])
def test_every_dimension_is_as_scipy_has_it(n):
    vectors = gaussian(np.random.default_rng(0), n, 6).astype(np.float32)
    found = each_dimension(vectors)
    for dimension in range(6):
        expected = shapiro(vectors[:, dimension].astype(np.float64))
        assert found.w[dimension] == pytest.approx(expected.statistic, rel=1e-9)
        assert found.p[dimension] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 11, 12, 50, 5000])
def test_w_of_many_is_that_of_scipy(n):
    values = np.random.default_rng(n).standard_t(3, (2, n, 4))
    expected = [[shapiro(column).statistic for column in block.T] for block in values]
    # scipy's normal quantiles have fewer digits, which shows among many.
    assert w_of(values) == pytest.approx(np.array(expected), rel=1e-7)


def test_dimensions_that_do_not_vary_are_undefined():
    vectors = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    vectors[:, 1] = 5.0
    vectors[:, 2] *= 1e-9  # rounding, beside the others
    found = each_dimension(vectors)
    assert np.isnan(found.w).tolist() == np.isnan(found.p).tolist() == [False, True, True, False]
    assert sorted(found.by_w.tolist()) == [0, 3]


def test_small_numbers_alone_are_tested():
    vectors = np.random.default_rng(0).standard_normal((30, 3))
    assert each_dimension(vectors * 1e-25).w == pytest.approx(each_dimension(vectors).w, rel=1e-9)
    assert along_directions(vectors * 1e-25, 0, **QUICK).p == along_directions(vectors, 0, **QUICK).p


@pytest.mark.parametrize("vectors", [np.zeros((0, 3)), np.eye(3)[:2], np.ones((9, 3))], ids=["none", "two", "constant"])
def test_nothing_to_test(vectors):
    found = each_dimension(vectors)
    assert np.isnan(found.w).all()
    assert (found.rejected, found.rejected_holm, len(found.by_w)) == (0, 0, 0)
    together = along_directions(vectors, 0)
    assert np.isnan([together.w, together.p]).all()


@pytest.mark.parametrize(
    ("p", "rejected", "holm"),
    [
        ([0.04, 0.001, 0.2], 2, 1),  # 0.001 × 3, then 0.04 × 2 is too large
        ([0.016, 0.024, 0.049], 3, 3),  # × 3, × 2, × 1: all below 0.05
        ([0.02, 0.02, 0.02], 3, 0),  # 0.02 × 3 is too large, and nothing after it counts
        ([0.01, np.nan, 0.03], 2, 2),  # two tests, not three
        ([0.05, 0.9], 0, 0),
    ],
)
def test_counts(p, rejected, holm):
    assert (found_with(p).rejected, found_with(p).rejected_holm) == (rejected, holm)


def test_order():
    assert DimensionTests(np.array([0.9, np.nan, 0.5, 0.7]), np.ones(4)).by_w.tolist() == [2, 3, 0]


@pytest.mark.parametrize(("n", "d"), [(20, 3), (12, 30)], ids=["many vectors", "many dimensions"])
def test_level(n, d):
    # Of 300 Gaussian samples 5 % are 15, with a standard deviation of 3.8.
    rng = np.random.default_rng(3)
    p = [along_directions(gaussian(rng, n, d), seed, **QUICK).p for seed in range(300)]
    assert 5 <= sum(value <= 0.05 for value in p) <= 26
    assert 0.45 <= np.mean(p) <= 0.6


def heavy(rng):
    return rng.standard_normal((60, 40)) / np.sqrt(rng.chisquare(3, (60, 1)) / 3)


def mixture(rng):
    return rng.standard_normal((60, 4)) + 8 * (rng.random((60, 1)) < 0.3)


def skewed(rng):
    return rng.exponential(size=(60, 3))


@pytest.mark.parametrize("draw", [heavy, mixture, skewed])
def test_power(draw):
    rng = np.random.default_rng(4)
    assert all(along_directions(draw(rng), seed, 30, 99).p <= 0.02 for seed in range(5))


def test_the_smallest_p():
    # None of 19 Gaussian samples is as far from one: 1 / 20.
    assert along_directions(heavy(np.random.default_rng(0)), 0, **QUICK).p == 1 / 20


def test_together_is_the_mean_over_projections():
    vectors = gaussian(np.random.default_rng(5), 40, 3)
    rng = np.random.default_rng([7, 4])
    drawn = rng.standard_normal((3, 10))
    drawn /= np.linalg.norm(drawn, axis=0)
    expected = np.mean([shapiro(vectors @ direction).statistic for direction in drawn.T])
    assert along_directions(vectors, 7, **QUICK).w == pytest.approx(expected, rel=1e-7)


def test_one_dimension_is_projected_on_itself():
    vectors = np.random.default_rng(6).exponential(size=(25, 1))
    found = along_directions(vectors, 0, directions=3)
    assert found.w == pytest.approx(each_dimension(vectors).w[0], rel=1e-7)
    assert found.p == pytest.approx(each_dimension(vectors).p[0], abs=0.01)


def test_fewer_directions_for_many_vectors(monkeypatch):
    vectors = np.random.default_rng(6).standard_normal((50, 2))
    assert along_directions(vectors, 0, samples=1).directions == 1000
    monkeypatch.setattr("dialogauge.stats.gaussian_tests.PROJECTED", 1000)
    assert along_directions(vectors, 0, samples=1).directions == 20


def test_units_and_place_do_not_matter():
    vectors = gaussian(np.random.default_rng(8), 30, 5)
    one, other = (along_directions(v, 0, **QUICK) for v in (vectors, 1000 + 3 * vectors))
    assert one.w == pytest.approx(other.w, rel=1e-9)
    assert one.p == other.p


def test_how_many_are_rotated_together_does_not_matter(monkeypatch):
    vectors = gaussian(np.random.default_rng(9), 30, 5)
    expected = along_directions(vectors, 1, 10, 50)
    monkeypatch.setattr("dialogauge.stats.gaussian_tests.AT_ONCE", 30 * 10 * 7)
    assert along_directions(vectors, 1, 10, 50) == expected
    assert 0.1 < expected.p < 0.9


def test_seeds():
    vectors = gaussian(np.random.default_rng(9), 30, 5)
    first, again, other = (along_directions(vectors, seed, **QUICK) for seed in (1, 1, 2))
    assert first == again
    assert first.w != other.w


def test_rotations_are_orthonormal_centred_and_lean_to_no_side():
    rng = np.random.default_rng(10)
    drawn = _rotations(400, 6, 4, rng)
    for rotation in drawn[:3]:
        assert rotation.T @ rotation == pytest.approx(np.eye(4), abs=1e-12)
        assert rotation.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    # Entries have variance 1/6, as columns have length 1: means of 400 have a standard deviation of 0.02.
    assert np.abs(drawn.mean(axis=0)).max() < 0.08
