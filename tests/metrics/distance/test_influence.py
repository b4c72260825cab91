"""Influences against what the distance is without each vector."""

import numpy as np
import pytest

from dialogauge.metrics.distance.frechet import Gaussian, frechet_distance, influences, shared_trace
from tests.metrics.distance.rows import line, noise


def both(n, d, shift=0.5):
    """As many real as generated vectors, in correlated dimensions."""
    return noise(1, n, d) @ noise(2, d, d), noise(3, n, d) @ noise(4, d, d) + shift


def falls(real, generated, mean="squared"):
    """By how much the distance falls without each generated vector, exactly and by influences."""
    whole = frechet_distance(real, generated, mean)
    exact = [whole - frechet_distance(real, np.delete(generated, i, axis=0), mean) for i in range(len(generated))]
    found = influences(Gaussian.from_rows(real), Gaussian.from_rows(generated), generated, mean)
    return np.array(exact), found / (len(generated) - 1)


def test_derived_by_hand():
    # On a line, from N(1, 1) to N(0, 4), T carries variance 1 to 4: T = 2, and the root of their product is 2.
    # At x = 3, z = 2: 2 · 1 · 2 + 4 - 1 - (2 · 4 - 2) = 1. At the mean: 0 + 0 - 1 - (0 - 2) = 1.
    fixed, moving = Gaussian(np.zeros(1), np.full((1, 1), 4.0)), Gaussian(np.ones(1), np.ones((1, 1)))
    assert influences(fixed, moving, line(3, 1)) == pytest.approx([1, 1])
    # With the distance of means unsquared, 1, its slope is 1 / 1 in place of 2: 2 less at x = 3, nothing at the mean.
    assert influences(fixed, moving, line(3, 1), mean="norm") == pytest.approx([-1, 1])


@pytest.mark.parametrize("mean", ["squared", "norm"])
def test_many_vectors(mean):
    exact, found = falls(*both(600, 4), mean)
    assert np.abs(exact - found).max() < 0.03 * np.abs(exact).max()
    assert np.corrcoef(exact, found)[0, 1] > 0.9999


@pytest.mark.parametrize("mean", ["squared", "norm"])
def test_the_error_shrinks_with_the_square_of_the_number(mean):
    def error(n):
        exact, found = falls(*both(n, 3), mean)
        return np.abs(exact - found).mean()

    assert error(800) < error(100) / 30


@pytest.mark.parametrize(("n", "d"), [(40, 60), (60, 60), (100, 384)])
def test_fewer_vectors_than_dimensions(n, d):
    exact, found = falls(*both(n, d))
    assert np.corrcoef(exact, found)[0, 1] > 0.9
    top = [set(np.argsort(-pushes)[:10]) for pushes in (exact, found)]
    assert len(top[0] & top[1]) >= 7


@pytest.mark.parametrize(("n", "d"), [(40, 60), (300, 5)])
def test_they_nearly_cancel(n, d):
    real, generated = both(n, d)
    fixed, moving = Gaussian.from_rows(real), Gaussian.from_rows(generated)
    found = influences(fixed, moving, generated)
    # Σ z = 0, Σ ‖z‖² = (n - 1) Tr S and Σ zᵀ T z = (n - 1) Tr (R S)^½: one of each term is left over.
    assert found.sum() == pytest.approx(shared_trace(fixed, moving) - moving.trace, rel=1e-8)
    assert abs(found.sum()) < 0.1 * np.abs(found).sum()


def test_turning_and_moving_both_sides_changes_nothing():
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


def test_equal_means_have_no_slope():
    rows = noise(0, 30, 4)
    same = Gaussian.from_rows(rows)
    np.testing.assert_allclose(influences(same, same, rows, "norm"), 0, atol=1e-10)
    np.testing.assert_allclose(influences(same, same, rows), 0, atol=1e-10)
