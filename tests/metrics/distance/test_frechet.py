"""The Fréchet distance against other ways to compute it; influences against what it is without each vector."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from dialogauge.metrics.distance.frechet import (
    Gaussian,
    Moments,
    frechet_distance,
    frechet_of_covariances,
    frechet_of_moments,
    influences,
    shared_trace,
    unpacked,
)
from tests.metrics.distance.rows import line, noise


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
    parts = Moments.from_rows(x[: n // 3]) + Moments.from_rows(x[n // 3 :]), Moments.from_rows(y)
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
    first, second, whole = Moments.from_rows(x[:cut]), Moments.from_rows(x[cut:]), Moments.from_rows(x)
    for left, right in ((first + second, whole), (whole - second, first), (whole - whole, Moments.from_rows(x[:0]))):
        assert left.n == right.n
        np.testing.assert_allclose(left.mean, right.mean, atol=1e-9)
        np.testing.assert_allclose(left.scatter, right.scatter, atol=1e-8 * (1 + np.sum(x**2)))
        np.testing.assert_allclose(left.third, right.third, atol=1e-9 * (1 + np.sum(x**2)) ** 1.5)
        assert left.fourth == pytest.approx(right.fourth, rel=1e-9, abs=1e-9 * (1 + np.sum(x**2)) ** 2)


def test_weights_are_repetitions():
    x, weights = gaussian(0, 6, 3), np.array([0.0, 1, 2, 3, 0, 1])
    weighted, repeated = Moments.from_rows(x, weights), Moments.from_rows(np.repeat(x, weights.astype(int), axis=0))
    assert weighted.n == repeated.n == 7
    np.testing.assert_allclose(weighted.scatter, repeated.scatter, atol=1e-12)
    np.testing.assert_allclose(weighted.third, repeated.third, rtol=1e-10)
    assert weighted.fourth == pytest.approx(repeated.fourth, rel=1e-10)


def test_moments_by_hand():
    # 0, 0 and 3 are -1, -1 and 2 from their mean: Σ z² = 6, Σ z² z = -1 - 1 + 8 and Σ z⁴ = 1 + 1 + 16.
    found = Moments.from_rows(np.array([[0.0], [0.0], [3.0]]))
    assert (found.n, found.mean[0], found.scatter[0, 0], found.third[0], found.fourth) == (3, 1, 6, 6, 18)
    # With 9 beside them the mean is 3: -3, -3, 0 and 6, of squares 9, 9, 0 and 36.
    more = found + Moments.from_rows(np.array([[9.0]]))
    assert (more.n, more.mean[0], more.scatter[0, 0]) == (4, 3, 54)
    assert (more.third[0], more.fourth) == pytest.approx((-27 - 27 + 216, 81 + 81 + 1296))
    less = more - Moments.from_rows(np.array([[9.0]]))
    assert (less.third[0], less.fourth) == pytest.approx((6, 18))


@pytest.mark.parametrize("point", [0.0, 50.0])
def test_moments_about_another_point(point):
    x = gaussian(6, 30, 4, shift=2)
    apart = x - np.full(4, point)
    squares = (apart**2).sum(axis=1)
    upper, third, fourth = Moments.from_rows(x).about(np.full(4, point))
    np.testing.assert_allclose(unpacked(upper, 4), apart.T @ apart, rtol=1e-10)
    np.testing.assert_allclose(third, squares @ apart, rtol=1e-10)
    assert fourth == pytest.approx((squares**2).sum(), rel=1e-10)


@pytest.mark.parametrize(("n", "d"), [(3, 5), (8, 40), (30, 30), (300, 12), (25, 1), (4000, 3)])
def test_shrunk_covariance_of_scikit_learn(n, d):
    covariance = pytest.importorskip("sklearn.covariance", reason="needs scikit-learn")
    x = gaussian(7, n, d, shift=3)
    expected, share = covariance.ledoit_wolf(x)
    parts = [Moments.from_rows(part) for part in np.array_split(x, 3) if len(part)]
    for moments in (Moments.from_rows(x), sum(parts[1:], parts[0])):
        np.testing.assert_allclose(moments.shrunk, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    # The cases are no trivial ones: something is taken from the covariance where there is more than one dimension.
    assert (share > 0) == (d > 1)


def test_shrunk_covariance_has_full_rank():
    few = Moments.from_rows(gaussian(8, 5, 30))
    assert np.linalg.eigvalsh(few.shrunk)[0] > 0.01
    # Vectors that all agree have none to shrink.
    np.testing.assert_array_equal(Moments.from_rows(np.ones((5, 3))).shrunk, np.zeros((3, 3)))


def by_both_routes(monkeypatch, a, b):
    """Tr (AB)^½, with whether singular values were taken, and from singular values in any case."""
    calls, zero, svd = [], np.zeros(len(a)), np.linalg.svd
    with monkeypatch.context() as patch:
        patch.setattr("numpy.linalg.svd", lambda *given, **named: calls.append(1) or svd(*given, **named))
        found = shared_trace(Gaussian(zero, a), Gaussian(zero, b))
    return found, bool(calls), float(svd(np.linalg.cholesky(a).T @ np.linalg.cholesky(b), compute_uv=False).sum())


@pytest.mark.parametrize("d", [1, 5, 60])
def test_eigenvalues_and_singular_values_agree(monkeypatch, d):
    a, b = (rows.T @ rows for rows in (gaussian(9, 3 * d, d), gaussian(10, 3 * d, d)))
    found, singular, factors = by_both_routes(monkeypatch, a, b)
    if d < 60:
        assert not singular
    assert found == pytest.approx(factors, rel=1e-11)


@pytest.mark.parametrize("steep", [0, 2, 6, 12])
def test_steep_spectra(monkeypatch, steep):
    # With common eigenvectors the trace is Σ (αβ)^½. Where the smallest product is 10⁻¹² and less of the largest, its
    # root would be off by what rounding leaves there: the singular values are taken.
    basis = np.linalg.qr(gaussian(11, 20, 20))[0]
    left, right = np.logspace(0, -steep, 20), 3 * np.logspace(0, -steep, 20)
    a, b = ((basis * values) @ basis.T for values in (left, right))
    found, singular, factors = by_both_routes(monkeypatch, (a + a.T) / 2, (b + b.T) / 2)
    assert singular == (steep >= 6)
    expected = np.sqrt(left * right).sum()
    assert (found, factors) == pytest.approx((expected, expected), rel=1e-12 if steep < 12 else 1e-9)


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6, 0])
def test_nearly_equal_covariances(apart):
    # S and (1 + δ)² S are δ² Tr S apart. The distance is what is left of 2 Tr S, to its twelfth digit.
    rows = gaussian(12, 200, 30)
    a = np.cov(rows, rowvar=False)
    found = frechet_of_covariances(np.zeros(30), a, np.zeros(30), (1 + apart) ** 2 * a)
    assert found >= 0
    assert found == pytest.approx(apart**2 * np.trace(a), abs=2e-12 * np.trace(a))


@pytest.mark.parametrize("n", [2, 9, 30, 31, 40])
def test_a_gaussian_of_few_vectors(n):
    rows = gaussian(13, n, 30, shift=4)
    half = Moments.from_rows(rows[: n // 2]) + Moments.from_rows(rows[n // 2 :])
    expected = np.cov(rows, rowvar=False)
    for found in (Gaussian.from_moments(half), Gaussian.from_rows(rows)):
        np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.factor.T @ found.factor, expected, atol=1e-10 * np.abs(expected).max())
        assert found.trace == pytest.approx(np.trace(expected), rel=1e-12)
        # No dimension that the vectors do not span is left to rounding.
        assert np.linalg.matrix_rank(found.factor) == min(n - 1, 30)
    assert len(Gaussian.from_moments(half).factor) == min(n - 1, 30)


def test_the_norm_of_the_means_by_every_way_in():
    x, y = gaussian(14, 50, 4), gaussian(15, 60, 4, shift=3)
    gap = np.linalg.norm(x.mean(axis=0) - y.mean(axis=0))
    less = frechet_distance(x, y) - gap**2 + gap
    covariances = (np.cov(rows, rowvar=False) for rows in (x, y))
    given = [part for rows, of in zip((x, y), covariances, strict=True) for part in (rows.mean(axis=0), of)]
    assert frechet_of_moments(Moments.from_rows(x), Moments.from_rows(y), "norm") == pytest.approx(less)
    assert frechet_of_covariances(*given, "norm") == pytest.approx(less)
    assert frechet_distance(x, y, "norm") == pytest.approx(less)


def test_a_gaussian_of_nothing():
    with pytest.raises(ValueError, match="a covariance or a factor"):
        _ = Gaussian(np.zeros(2), None).trace


def test_rows_that_all_agree_and_rows_that_are_too_few():
    same = np.ones((5, 3))
    assert frechet_distance(same, same + 1) == pytest.approx(3)
    assert frechet_of_moments(Moments.from_rows(same), Moments.from_rows(same + 1)) == pytest.approx(3)
    assert math.isnan(frechet_distance(same[:1], same))
    assert math.isnan(frechet_of_moments(Moments.from_rows(same), Moments.from_rows(same[:1])))


def both(n, d, shift=0.5):
    """As many real as generated vectors, in correlated dimensions."""
    return noise(1, n, d) @ noise(2, d, d), noise(3, n, d) @ noise(4, d, d) + shift


def falls(real, generated, mean="squared"):
    """By how much the distance falls without each generated vector, exactly and by influences."""
    whole = frechet_distance(real, generated, mean)
    exact = [whole - frechet_distance(real, np.delete(generated, i, axis=0), mean) for i in range(len(generated))]
    found = influences(Gaussian.from_rows(real), Gaussian.from_rows(generated), generated, mean)
    return np.array(exact), found / (len(generated) - 1)


def test_influences_by_hand():
    # On a line, from N(1, 1) to N(0, 4), T carries variance 1 to 4: T = 2, and the root of their product is 2.
    # At x = 3, z = 2: 2 · 1 · 2 + 4 - 1 - (2 · 4 - 2) = 1. At the mean: 0 + 0 - 1 - (0 - 2) = 1.
    fixed, moving = Gaussian(np.zeros(1), np.full((1, 1), 4.0)), Gaussian(np.ones(1), np.ones((1, 1)))
    assert influences(fixed, moving, line(3, 1)) == pytest.approx([1, 1])
    # With the distance of means unsquared, 1, its slope is 1 / 1 in place of 2: 2 less at x = 3, nothing at the mean.
    assert influences(fixed, moving, line(3, 1), mean="norm") == pytest.approx([-1, 1])


@pytest.mark.parametrize("mean", ["squared", "norm"])
def test_influences_of_many_vectors(mean):
    exact, found = falls(*both(600, 4), mean)
    assert np.abs(exact - found).max() < 0.03 * np.abs(exact).max()
    assert np.corrcoef(exact, found)[0, 1] > 0.9999


@pytest.mark.parametrize("mean", ["squared", "norm"])
def test_the_error_of_influences_shrinks_with_the_square_of_the_number(mean):
    def error(n):
        exact, found = falls(*both(n, 3), mean)
        return np.abs(exact - found).mean()

    assert error(800) < error(100) / 30


@pytest.mark.parametrize(("n", "d"), [(40, 60), (60, 60), (100, 384)])
def test_influences_of_fewer_vectors_than_dimensions(n, d):
    exact, found = falls(*both(n, d))
    assert np.corrcoef(exact, found)[0, 1] > 0.9
    top = [set(np.argsort(-pushes)[:10]) for pushes in (exact, found)]
    assert len(top[0] & top[1]) >= 7


@pytest.mark.parametrize(("n", "d"), [(40, 60), (300, 5)])
def test_influences_nearly_cancel(n, d):
    real, generated = both(n, d)
    fixed, moving = Gaussian.from_rows(real), Gaussian.from_rows(generated)
    found = influences(fixed, moving, generated)
    # Σ z = 0, Σ ‖z‖² = (n - 1) Tr S and Σ zᵀ T z = (n - 1) Tr (R S)^½: one of each term is left over.
    assert found.sum() == pytest.approx(shared_trace(fixed, moving) - moving.trace, rel=1e-8)
    assert abs(found.sum()) < 0.1 * np.abs(found).sum()


def test_turning_and_moving_both_sides_changes_no_influence():
    real, generated = both(50, 7)
    turn = np.linalg.qr(noise(5, 7, 7))[0]
    plain, turned = (
        influences(Gaussian.from_rows(x), Gaussian.from_rows(y), y)
        for x, y in ((real, generated), (real @ turn + 9, generated @ turn + 9))
    )
    np.testing.assert_allclose(turned, plain, rtol=1e-8, atol=1e-8)


def test_the_farthest_vector_pushes_most():
    real, generated = noise(1, 80, 5), noise(2, 80, 5)
    generated[17] += 40
    found = influences(Gaussian.from_rows(real), Gaussian.from_rows(generated), generated)
    assert found.argmax() == 17
    assert found[17] > 0 > np.delete(found, 17).mean()


def test_influences_where_means_are_equal():
    rows = noise(0, 30, 4)
    same = Gaussian.from_rows(rows)
    np.testing.assert_allclose(influences(same, same, rows, "norm"), 0, atol=1e-10)
    np.testing.assert_allclose(influences(same, same, rows), 0, atol=1e-10)
