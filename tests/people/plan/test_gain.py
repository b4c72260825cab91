"""What a metric takes off the variance of a difference."""

import numpy as np
import pytest

from dialogauge.people.plan.gain import metric_gain


def paired(seed: int = 0, contexts: int = 2000, correlation: float = 0.6, noise: float = 0.0):
    """Two systems on the same contexts: ratings' and metric's differences with the given correlation, beside contexts
    that both share and a difference between the systems."""
    rng = np.random.default_rng(seed)
    context = 5 * rng.normal(size=contexts)
    metric = rng.normal(size=(2, contexts))
    rating = correlation * metric + (1 - correlation**2) ** 0.5 * rng.normal(size=metric.shape)
    rating = rating + noise * rng.normal(size=metric.shape) + context + np.array([[0], [2]])
    systems, units = np.repeat([0, 1], contexts), np.tile(np.arange(contexts), 2)
    return rating.ravel(), (metric - context).ravel(), systems, units


def test_contexts_that_both_systems_share_do_not_matter():
    found = metric_gain(*paired())
    assert found.correlation == pytest.approx(0.6, abs=0.04)
    assert found.gain == pytest.approx(0.36 * 2, abs=0.1)
    assert found.units == 2000


def test_the_gain_does_not_depend_on_how_noisy_ratings_are():
    clean, noisy = metric_gain(*paired()), metric_gain(*paired(noise=2.0))
    assert noisy.correlation < 0.35
    assert noisy.gain == pytest.approx(clean.gain, abs=0.15)


def test_by_hand():
    # Differences over ten contexts: people 1 in five and -1 in five; the metric 2 in four of those five and in one of
    # the others, else -2. So r = (8 - 2) / 10 = .6, adjusted r² = 1 - .64 * 9 / 8 = .28, and the variance of the
    # differences 10 / 9.
    people = np.array([1.0] * 5 + [-1] * 5 + [0] * 10)
    metric = np.array([2.0] * 4 + [-2] * 5 + [2] + [0] * 10)
    found = metric_gain(people, metric, np.repeat([0, 1], 10), np.tile(np.arange(10), 2))
    assert found.correlation == pytest.approx(0.6)
    assert found.gain == pytest.approx(0.28 * 10 / 9)


def test_a_useless_metric_gains_nothing_on_average():
    gains = [metric_gain(*paired(seed, contexts=40, correlation=0.0)).gain for seed in range(100)]
    assert np.median(gains) == 0
    assert np.mean(gains) < 0.05


def test_systems_on_contexts_of_their_own():
    rng = np.random.default_rng(1)
    metric = rng.normal(size=800)
    rating = 0.6 * metric + 0.8 * rng.normal(size=800) + np.repeat([0, 3], 400)
    found = metric_gain(rating, metric, np.repeat([0, 1], 400), np.arange(800))
    assert found.correlation == pytest.approx(0.6, abs=0.05)
    assert found.gain == pytest.approx(0.36 * 2, abs=0.12)


def test_too_little_to_say():
    people, metric, systems, units = paired(contexts=9)
    assert metric_gain(people, metric, systems, units) is None
    people, metric, systems, units = paired(contexts=50)
    assert metric_gain(people, np.zeros_like(metric), systems, units) is None
    assert metric_gain(people, np.full_like(metric, np.nan), systems, units) is None


def test_turns_without_a_value_count_nowhere():
    people, metric, systems, units = paired(contexts=100)
    holes = metric.copy()
    holes[:30] = np.nan
    kept = np.flatnonzero(units >= 30)
    whole = metric_gain(people[kept], metric[kept], systems[kept], units[kept])
    assert metric_gain(people, holes, systems, units).gain == pytest.approx(whole.gain, rel=0.15)
    assert metric_gain(people, holes, systems, units).units == 70
