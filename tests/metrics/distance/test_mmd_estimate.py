"""MMD against KID written out, values derived by hand, and what an unbiased estimate must do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.errors import InputError
from dialogauge.metrics.distance.mmd import block_sums, median_distance, mmd
from tests.metrics.distance.rows import noise


def by_loops(x, y, kernel):
    """Sums over pairs of different rows on a side, and over all pairs across."""
    n, m = len(x), len(y)
    first = sum(kernel(x[i], x[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    second = sum(kernel(y[i], y[j]) for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    return first + second - 2 * sum(kernel(a, b) for a in x for b in y) / (n * m)


def kid(a, b):
    return (sum(a[i] * b[i] for i in range(len(a))) / len(a) + 1) ** 3


def gaussian(sigma):
    return lambda a, b: math.exp(-(math.dist(a, b) ** 2) / (2 * sigma**2))


@pytest.mark.parametrize(("n", "m", "d"), [(2, 2, 1), (12, 9, 4), (7, 20, 30)])
def test_equals_plain_loops(n, m, d):
    x, y = noise(0, n, d), noise(1, m, d, shift=0.5)
    assert mmd(x, y) == pytest.approx(by_loops(x, y, kid), rel=1e-10, abs=1e-12)
    assert mmd(x, y, "gaussian", 1.7) == pytest.approx(by_loops(x, y, gaussian(1.7)), rel=1e-10, abs=1e-12)
    union = np.concatenate([x, y])
    middle = np.median([math.dist(union[i], union[j]) for i in range(n + m) for j in range(i)])
    assert median_distance(x, y) == pytest.approx(middle, rel=1e-12)
    assert mmd(x, y, "gaussian") == pytest.approx(by_loops(x, y, gaussian(middle)), rel=1e-10, abs=1e-12)


def test_derived_by_hand():
    # Polynomial, one dimension: k(0, 1) = 1, k(2, 3) = 7³ = 343; across k(0, ·) = 1, k(1, 2) = 27, k(1, 3) = 64.
    x, y = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    assert mmd(x, y) == pytest.approx(1 + 343 - 2 * (1 + 1 + 27 + 64) / 4)
    # Gaussian with 2σ² = 1: e⁻¹ within; across the squared distances are 4, 9, 1, 4.
    across = (2 * math.exp(-4) + math.exp(-9) + math.exp(-1)) / 4
    assert mmd(x, y, "gaussian", math.sqrt(0.5)) == pytest.approx(2 * math.exp(-1) - 2 * across)
    # Distances 1, 2, 3, 1, 2, 1.
    assert median_distance(x, y) == pytest.approx(1.5)


def test_paired_rows():
    x, y = noise(6, 9, 3), noise(7, 9, 3, shift=0.5)
    for kernel, sigma, of in (("polynomial", None, kid), ("gaussian", 1.3, gaussian(1.3))):
        across = [[of(a, b) for b in y] for a in x]
        # 72 of 81 pairs are left: the mean of those takes the place of the mean of all.
        left = (np.sum(across) - np.trace(across)) / 72
        expected = by_loops(x, y, of) + 2 * np.mean(across) - 2 * left
        assert mmd(x, y, kernel, sigma, paired=True) == pytest.approx(expected, rel=1e-10)
    with pytest.raises(InputError, match="as many on both sides; found 9 and 8"):
        mmd(x, y[:8], paired=True)


@pytest.mark.parametrize("block", [4_000_000, 30, 1])
@pytest.mark.parametrize(("kernel", "sigma", "of"), [("polynomial", None, kid), ("gaussian", 1.3, gaussian(1.3))])
def test_sums_over_blocks(monkeypatch, block, kernel, sigma, of):
    monkeypatch.setattr("dialogauge.stats.arrays.BLOCK", block)
    # Unit 2 is in three pieces; the second piece is empty.
    units = [np.array(keys, dtype=np.uint64) for keys in ([1, 2, 2], [], [2, 3], [1, 2, 4, 4])]
    pieces = [(noise(10 + i, len(of), 3, shift=i), of) for i, of in enumerate(units)]
    sums = block_sums(pieces, kernel, sigma)
    for i, (left, of_left) in enumerate(pieces):
        for j, (right, of_right) in enumerate(pieces):
            values = [
                of(a, b)
                for a, unit in zip(left, of_left, strict=True)
                for b, other in zip(right, of_right, strict=True)
                if unit != other
            ]
            assert sums.pairs[i, j] == len(values)
            assert sums.values[i, j] == pytest.approx(sum(values), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
@pytest.mark.parametrize("block", [1, 50, 333])
def test_blocks_change_nothing(monkeypatch, kernel, block):
    x, y = noise(2, 40, 6), noise(3, 31, 6, shift=0.2)
    whole = mmd(x, y, kernel)
    monkeypatch.setattr("dialogauge.stats.arrays.BLOCK", block)
    assert mmd(x, y, kernel) == pytest.approx(whole, rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 12), st.integers(1, 6))
def test_properties(seed, n, m, d):
    x, y = noise(seed, n, d), noise(seed + 1, m, d, shift=1)
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(d, d)))[0]
    for kernel in ("polynomial", "gaussian"):
        found = mmd(x, y, kernel)
        assert mmd(y, x, kernel) == pytest.approx(found, rel=1e-9, abs=1e-10)
        assert mmd(rng.permutation(x), rng.permutation(y), kernel) == pytest.approx(found, rel=1e-9, abs=1e-10)
        assert mmd(x @ turned, y @ turned, kernel) == pytest.approx(found, rel=1e-8, abs=1e-9)
    # The bandwidth goes with the data: neither a shift nor a scale matters.
    assert mmd(5 * x + 100, 5 * y + 100, "gaussian") == pytest.approx(mmd(x, y, "gaussian"), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_no_bias_at_any_size(kernel):
    def mean_and_error(shift):
        found = [mmd(noise(i, 8, 3), noise(10**6 + i, 30, 3, shift), kernel, bandwidth) for i in range(400)]
        return np.mean(found), np.std(found) / 20

    bandwidth = 2.0 if kernel == "gaussian" else None
    mean, error = mean_and_error(0)
    assert abs(mean) < 3 * error
    mean, error = mean_and_error(1)
    assert mean > 10 * error


def test_a_large_side_is_drawn_from_for_the_median(monkeypatch):
    x, y = noise(4, 600, 5), noise(5, 50, 5)
    whole = median_distance(x, y)
    monkeypatch.setattr("dialogauge.metrics.distance.mmd.MEDIAN_ROWS", 100)
    drawn = median_distance(x, y)
    assert drawn == median_distance(x, y)
    assert drawn != whole
    assert drawn == pytest.approx(whole, rel=0.1)


def test_rows_that_all_agree_and_rows_that_are_too_few():
    same = np.full((6, 3), 0.1)
    assert median_distance(same, same) == 1
    assert mmd(same, same, "gaussian") == pytest.approx(0, abs=1e-12)
    assert mmd(same, same) == pytest.approx(0, abs=1e-12)
    # Only rows that differ have a say in the bandwidth: all at distance 2, so k = exp(-1/2) across and 1 within.
    assert mmd(np.zeros((9, 1)), np.full((3, 1), 2.0), "gaussian") == pytest.approx(2 - 2 * math.exp(-0.5))
    for kernel in ("polynomial", "gaussian"):
        assert math.isnan(mmd(same[:1], same, kernel))
        assert math.isnan(mmd(same, same[:0], kernel))


def test_errors_say_what_was_found():
    x = noise(0, 4, 2)
    with pytest.raises(InputError, match="bandwidth is 0; it must be above 0"):
        mmd(x, x, "gaussian", 0)
    with pytest.raises(InputError, match="no bandwidth; found 2"):
        mmd(x, x, "polynomial", 2)
    with pytest.raises(InputError, match="did you mean gaussian"):
        mmd(x, x, "gausian")
    with pytest.raises(InputError, match=r"shapes \(4, 2\) and \(4,\)"):
        mmd(x, x[:, 0])
