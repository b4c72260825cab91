"""Nearest-neighbour measures beside the package of Naeem et al. (2020)."""

import numpy as np
import pytest

from dialogauge.metrics.distance.prdc import Prdc, prdc
from tests.metrics.distance.rows import apart, placed, value

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


def harmonic(expected):
    precision, recall = expected["precision"], expected["recall"]
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize(("n", "m", "d"), [(80, 80, 384), (150, 60, 8)])
def test_the_class_agrees_on_rows_that_share_nothing(n, m, d, k):
    rng = np.random.default_rng(n + k)
    real, generated = rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 0.9 + 0.1
    expected = theirs.compute_prdc(real, generated, nearest_k=k)
    assert value(Prdc(k=k), apart(real, generated)) == pytest.approx({"": harmonic(expected), **expected}, abs=1e-12)


def test_the_class_agrees_on_real_conversations():
    # References to the same contexts would be left out as neighbours; real conversations are not.
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(90, 6)).astype(np.float32), rng.normal(size=(50, 6)).astype(np.float32)
    metric, corpus = placed(Prdc(), {"s": (generated, generated)}, real)
    rows = metric.metric.join([metric.measure(corpus.turns), metric.real_rows("s")])
    expected = theirs.compute_prdc(real.astype(np.float64), generated.astype(np.float64), nearest_k=5)
    assert value(metric, rows) == pytest.approx({"": harmonic(expected), **expected}, abs=1e-12)
