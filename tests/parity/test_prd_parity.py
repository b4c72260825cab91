"""PRD beside scikit-learn's clusterings and the golden values of the authors' code."""

import json

import numpy as np
import pytest

from dialogauge import load
from dialogauge.metrics.distance.codebooks import assign, codebooks, minibatch_codebooks, prd
from tests.encode.models import minilm
from tests.shared import annotation, shared

cluster = pytest.importorskip("sklearn.cluster", reason="needs scikit-learn")


def sides(corpus, system):
    """The [CLS] vectors of contexts with the first reference, and with the response of a system."""
    turns = list(load(annotation(corpus)).by_system.values())[system]
    # Without space around them, as the metrics have them, so that they are encoded once.
    contexts = [" ".join(turn.context).strip() for turn in turns]
    texts = [turn.references[0].strip() for turn in turns], [turn.response.strip() for turn in turns]
    return [minilm().pooled(list(zip(contexts, side, strict=True)), "cls").vectors for side in texts]


@pytest.mark.slow
@pytest.mark.parametrize(("corpus", "system"), [("dailyz", 0), ("dailyz", 7), ("personam", 0), ("personam", 3)])
def test_golden_system_scores(corpus, system):
    golden = json.loads(shared("golden/system_scores.json").read_text(encoding="utf-8"))
    expected = golden["corpora"][corpus]["metrics"]["PRD"]["scores"][system]
    real, generated = sides(corpus, system)
    authors = [prd(real, generated, seed=seed, fit=minibatch_codebooks).f1 for seed in range(2)]
    assert np.mean(authors) == pytest.approx(expected, abs=0.01)
    # Clusters that have settled are smaller at their largest, and part a context's two replies a little more often.
    ours = [prd(real, generated, seed=seed).f1 for seed in range(5)]
    assert np.mean(ours) == pytest.approx(expected, abs=0.02)


def test_labels_are_those_of_the_fit():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(2, 100, 32))
    union = np.concatenate([real, generated])
    states = np.random.default_rng(7).integers(2**31, size=2)
    fits = [cluster.MiniBatchKMeans(20, n_init=10, random_state=int(state)).fit(union) for state in states]
    labels = assign(union, minibatch_codebooks(real, generated, runs=2, seed=7))
    np.testing.assert_array_equal(labels, [fit.labels_ for fit in fits])


@pytest.mark.parametrize(("n", "d"), [(150, 8), (40, 100)])
def test_clusters_as_tight_as_those_of_scikit_learn(n, d):
    rng = np.random.default_rng(1)
    places = rng.normal(size=(30, d)) * 2
    real, generated = (places[rng.integers(30, size=n)] + rng.normal(size=(n, d)) for _ in range(2))
    union = np.concatenate([real, generated])
    centres = codebooks(real, generated)
    inertia = [((union - run[labels]) ** 2).sum() for run, labels in zip(centres, assign(union, centres), strict=True)]
    theirs = [cluster.KMeans(20, n_init=1, random_state=state).fit(union).inertia_ for state in range(10)]
    assert np.mean(inertia) < 1.01 * np.mean(theirs)


def test_weights_are_those_of_scikit_learn():
    # Lloyd's rounds with weighted rows end where scikit-learn's do not move on.
    rng = np.random.default_rng(2)
    real, generated = rng.normal(size=(200, 5)), rng.normal(size=(20, 5)) + 1
    weights = np.repeat([1 / 200, 1 / 20], [200, 20])
    (centres,) = codebooks(real, generated, clusters=4, runs=1)
    fit = cluster.KMeans(4, init=centres, n_init=1, tol=0).fit(np.concatenate([real, generated]), sample_weight=weights)
    np.testing.assert_allclose(fit.cluster_centers_, centres, atol=1e-9)
