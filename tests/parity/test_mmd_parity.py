"""MMD beside the unbiased estimate of KID (Bińkowski et al. 2018), on the kernels of scikit-learn."""

import numpy as np
import pytest

from dialogauge.metrics.distance.mmd import Mmd, mmd
from tests.metrics.distance.rows import apart, placed, value

pairwise = pytest.importorskip("sklearn.metrics.pairwise", reason="needs scikit-learn")


def unbiased(x, y, kernel):
    """As in the authors' code: sums over the off-diagonal within each side, over all pairs between them."""
    xx, yy, xy = kernel(x, x), kernel(y, y), kernel(x, y)
    n, m = len(x), len(y)
    within = (xx.sum() - np.trace(xx)) / (n * (n - 1)) + (yy.sum() - np.trace(yy)) / (m * (m - 1))
    return within - 2 * xy.sum() / (n * m)


def kid(x, y):
    return pairwise.polynomial_kernel(x, y, degree=3, gamma=1 / x.shape[1], coef0=1)


@pytest.mark.parametrize(("n", "m", "d"), [(100, 100, 384), (300, 120, 16), (60, 200, 2)])
@pytest.mark.parametrize("shift", [0, 0.3])
def test_kid_over_one_subset_of_all(n, m, d, shift):
    rng = np.random.default_rng(n + m + d)
    real, generated = rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 0.9 + shift
    expected = unbiased(real, generated, kid)
    # The three means, near 1 and more, leave twelve digits of their difference.
    assert value(Mmd(), apart(real, generated))[""] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert mmd(real, generated) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("bandwidth", [1.0, 20.0])
def test_gaussian_kernel(bandwidth):
    rng = np.random.default_rng(1)
    real, generated = rng.normal(size=(90, 12)), rng.normal(size=(70, 12)) + 0.2
    expected = unbiased(real, generated, lambda x, y: pairwise.rbf_kernel(x, y, gamma=0.5 / bandwidth**2))
    found = value(Mmd(kernel="gaussian", bandwidth=bandwidth), apart(real, generated))[""]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_real_conversations():
    rng = np.random.default_rng(2)
    real, generated = rng.normal(size=(90, 6)).astype(np.float32), rng.normal(size=(50, 6)).astype(np.float32)
    metric, corpus = placed(Mmd(), {"s": (generated, generated)}, real)
    rows = metric.metric.join([metric.measure(corpus.turns), metric.real_rows("s")])
    expected = unbiased(real.astype(np.float64), generated.astype(np.float64), kid)
    assert value(metric, rows)[""] == pytest.approx(expected, rel=1e-9, abs=1e-12)
