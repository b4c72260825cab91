"""The Fréchet distance against other ways to compute it."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from dialogauge.metrics.frechet import (
    Moments,
    frechet_distance,
    frechet_of_covariances,
    frechet_of_moments,
)


def gaussian(seed, n, d, shift=0.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + shift


def by_sqrtm(x, y):
    """The published way: the square root of a product that is not symmetric."""
    a, b = (np.atleast_2d(np.cov(rows, rowvar=False)) for rows in (x, y))
    shift = x.mean(axis=0) - y.mean(axis=0)
    return shift @ shift + np.trace(a) + np.trace(b) - 2 * np.trace(sqrtm(a @ b)).real


def test_derived_by_hand():
    # Means 1 and 4, variances 2 and 8 (unbiased, of two values 1 ± 1 and 4 ± 2): 9 + 2 + 8 - 2 · sqrt(16) = 11.
    x, y = np.array([[0.0], [2.0]]), np.array([[2.0], [6.0]])
    assert frechet_distance(x, y) == pytest.approx(11)
    # The paper prints the norm of the difference of means, not its square: 3 + 2.
    assert frechet_distance(x, y, mean="norm") == pytest.approx(5)


@pytest.mark.parametrize("d", [1, 3, 40])
def test_equals_the_square_root_of_the_product_where_that_has_full_rank(d):
    x, y = gaussian(1, 500, d), gaussian(2, 700, d, shift=0.5)
    assert frechet_distance(x, y) == pytest.approx(by_sqrtm(x, y), rel=1e-8)


def test_closed_form_of_covariances_that_commute():
    # With the same eigenvectors the distance is that of the eigenvalues' roots, dimension by dimension.
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    left, right = rng.uniform(0.01, 9, (2, 30))
    mean = rng.normal(size=(2, 30))
    expected = ((mean[0] - mean[1]) ** 2).sum() + ((np.sqrt(left) - np.sqrt(right)) ** 2).sum()
    found = frechet_of_covariances(mean[0], (basis * left) @ basis.T, mean[1], (basis * right) @ basis.T)
    assert found == pytest.approx(expected, rel=1e-10)


def test_a_nearly_singular_case_at_high_precision():
    rng = np.random.default_rng(3)
    scales = np.logspace(0, -7, 8)
    left, right = (rng.normal(size=(8, 8)) * scales for _ in range(2))
    a, b = left.T @ left, right.T @ right
    with mpmath.workdps(60):
        # Tr (AB)^½ is the sum of the roots of the eigenvalues of A^½ B A^½, which is symmetric.
        values, vectors = mpmath.eigsy(mpmath.matrix(a.tolist()))
        root = vectors * mpmath.diag([mpmath.sqrt(value) for value in values]) * vectors.T
        middle = mpmath.eigsy(root * mpmath.matrix(b.tolist()) * root, eigvals_only=True)
        trace = sum(mpmath.mpf(value) for value in np.diag(a)) + sum(mpmath.mpf(value) for value in np.diag(b))
        expected = float(trace - 2 * sum(mpmath.sqrt(abs(value)) for value in middle))
    assert frechet_of_covariances(np.zeros(8), a, np.zeros(8), b) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("n", "m", "d"), [(20, 30, 64), (64, 64, 64), (65, 20, 64), (300, 200, 64), (5, 400, 64)])
def test_summaries_give_what_rows_give(n, m, d):
    x, y = gaussian(4, n, d), gaussian(5, m, d, shift=1)
    parts = Moments.of(x[: n // 3]) + Moments.of(x[n // 3 :]), Moments.of(y)
    assert frechet_of_moments(*parts) == pytest.approx(frechet_distance(x, y), rel=1e-10)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 12), st.integers(1, 6))
def test_properties(seed, n, m, d):
    x, y = gaussian(seed, n, d), gaussian(seed + 1, m, d, shift=2)
    distance = frechet_distance(x, y)
    assert distance >= 0
    assert frechet_distance(y, x) == pytest.approx(distance, rel=1e-9)
    assert frechet_distance(x, x) == pytest.approx(0, abs=1e-7 * (1 + np.sum(x**2)))
    turned = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    assert frechet_distance(x @ turned + 3, y @ turned + 3) == pytest.approx(distance, rel=1e-6, abs=1e-8)
    assert frechet_distance(2 * x, 2 * y) == pytest.approx(4 * distance, rel=1e-9)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 11), st.integers(1, 6))
def test_moments_add_and_subtract(seed, n, cut, d):
    x = gaussian(seed, n, d)
    cut = min(cut, n - 1)
    first, second, whole = Moments.of(x[:cut]), Moments.of(x[cut:]), Moments.of(x)
    for left, right in ((first + second, whole), (whole - second, first), (whole - whole, Moments.of(x[:0]))):
        assert left.n == right.n
        np.testing.assert_allclose(left.mean, right.mean, atol=1e-9)
        np.testing.assert_allclose(left.scatter, right.scatter, atol=1e-8 * (1 + np.sum(x**2)))


def test_weights_are_repetitions():
    x, weights = gaussian(0, 6, 3), np.array([0.0, 1, 2, 3, 0, 1])
    weighted, repeated = Moments.of(x, weights), Moments.of(np.repeat(x, weights.astype(int), axis=0))
    assert weighted.n == repeated.n == 7
    np.testing.assert_allclose(weighted.scatter, repeated.scatter, atol=1e-12)


def test_rows_that_all_agree_and_rows_that_are_too_few():
    same = np.ones((5, 3))
    assert frechet_distance(same, same + 1) == pytest.approx(3)
    assert frechet_of_moments(Moments.of(same), Moments.of(same + 1)) == pytest.approx(3)
    assert math.isnan(frechet_distance(same[:1], same))
    assert math.isnan(frechet_of_moments(Moments.of(same), Moments.of(same[:1])))
