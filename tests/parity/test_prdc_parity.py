"""Nearest-neighbour measures beside the package of Naeem et al. (2020)."""

import numpy as np
import pytest

from dialogauge.metrics.neighbours import prdc

pytest.importorskip("sklearn", reason="needs scikit-learn, which prdc calls")
theirs = pytest.importorskip("prdc", reason="needs prdc: pip install --no-deps prdc==0.2")


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    """The package asks for eight workers for every distance."""
    from sklearn.metrics import pairwise_distances

    def distances(x, y, metric, n_jobs):
        return pairwise_distances(x, y, metric=metric)

    monkeypatch.setattr("sklearn.metrics.pairwise_distances", distances)


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize(("n", "m", "d"), [(100, 100, 384), (300, 120, 16), (60, 400, 2)])
@pytest.mark.parametrize("shift", [0, 0.3])
def test_the_package_agrees(n, m, d, k, shift):
    rng = np.random.default_rng(n + m + d + k)
    real, generated = rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 0.9 + shift
    expected = theirs.compute_prdc(real, generated, nearest_k=k)
    assert prdc(real, generated, k)._asdict() == pytest.approx(expected, abs=1e-12)
