"""How good a model is, by hand."""

import numpy as np
import pytest

from dialogauge.learned.entailment.card import HOTTEST, assess, calibration_error, fit_temperature


def logits_for(said, sure=5.0):
    return sure * np.eye(3)[said]


def nll(logits, temperature, labels):
    scaled = logits / temperature
    return float((np.logaddexp.reduce(scaled, axis=1) - scaled[np.arange(len(labels)), labels]).mean())


def test_by_hand():
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2] * 2)
    said = np.array([0, 0, 1, 1, 2, 2, 0, 2] * 2)
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7])
    found = assess(logits_for(said), 1.0, labels, groups, ["next", "random"] * 8)
    assert found.confusion == [[4, 2, 0], [0, 2, 2], [2, 0, 4]]
    assert (found.accuracy, found.majority) == (10 / 16, 6 / 16)
    assert (found.pairs, found.groups) == (16, 8)
    # Right: 1 1, 0 1, 0 1, 0 1 of each four dialogues; residuals of their sums from 1.25: .75, -.25, -.25, -.25.
    error = 2.3646243 * np.sqrt(8 / 7 * 2 * (0.75**2 + 3 * 0.25**2)) / 16
    assert (found.low, found.high) == pytest.approx((0.625 - error, 0.625 + error))
    assert found.by_source == {"next": 2 / 8, "random": 8 / 8}
    sure = np.exp(5) / (np.exp(5) + 2)
    assert found.calibration_error == pytest.approx(sure - 10 / 16)


def test_the_interval_is_over_groups():
    """Pairs of one dialogue that are all right or all wrong say as much as one."""
    labels = np.zeros(40, int)
    said = np.repeat([0, 1, 0, 0], 10)
    narrow = assess(logits_for(said), 1.0, labels, np.arange(40), ["nli"] * 40)
    wide = assess(logits_for(said), 1.0, labels, np.repeat(np.arange(4), 10), ["nli"] * 40)
    assert wide.accuracy == narrow.accuracy == 0.75
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_the_temperature_changes_how_sure_and_not_what_is_said():
    labels, said = np.array([0, 1, 2, 0]), np.array([0, 1, 2, 2])
    hot, cold = (assess(logits_for(said), t, labels, np.arange(4), ["nli"] * 4) for t in (5.0, 0.5))
    assert hot.confusion == cold.confusion
    sure = [np.exp(5 / t) / (np.exp(5 / t) + 2) for t in (5.0, 0.5)]
    assert hot.calibration_error == pytest.approx(abs(sure[0] - 0.75))
    assert cold.calibration_error == pytest.approx(abs(sure[1] - 0.75))


def test_large_logits_are_certain():
    found = assess(np.array([[1000.0, 0, -1000]]), 1.0, np.array([0]), np.array([0]), ["nli"])
    assert (found.accuracy, found.calibration_error) == (1, 0)


def test_the_record_is_complete_and_plain():
    import json

    labels = np.array([0, 1, 2, 0])
    record = assess(logits_for(labels), 1.0, labels, np.arange(4), ["nli"] * 4).record()
    assert json.loads(json.dumps(record)) == record
    assert record["labels"] == ["entailment", "neutral", "contradiction"]
    assert record["confusion"] == [[2, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert (record["accuracy"], record["majority"], record["pairs"]) == (1, 0.5, 4)


def test_calibration_error_by_hand():
    # Bins of a fifteenth: 0.4 is in [.4, .4667), 0.9 and 0.92 in [.8667, .9333), 1 in the last.
    sure = np.array([0.4, 0.9, 0.92, 1.0, 1.0])
    right = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    expected = (0.6 + abs(1 - 1.82) + abs(1 - 2)) / 5
    assert calibration_error(sure, right) == pytest.approx(expected)
    assert calibration_error(np.array([0.5, 0.5]), np.array([0.0, 1.0])) == 0


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5, 20.0])
def test_a_known_temperature_is_recovered(temperature):
    rng = np.random.default_rng(0)
    true = 2 * rng.normal(size=(40_000, 3))
    odds = np.exp(true) / np.exp(true).sum(axis=1, keepdims=True)
    labels = (rng.random(len(odds))[:, None] > odds.cumsum(axis=1)).sum(axis=1)
    assert fit_temperature(true * temperature, labels) == pytest.approx(temperature, rel=0.03)


@pytest.mark.parametrize("seed", range(12))
def test_the_labels_never_become_less_likely(seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(30, 3)) * 10.0 ** rng.uniform(-2, 2)
    labels = rng.integers(3, size=30)
    found = fit_temperature(logits, labels)
    assert 1 / HOTTEST <= found <= HOTTEST
    assert nll(logits, found, labels) <= nll(logits, 1.0, labels) + 1e-9
    grid = [nll(logits, t, labels) for t in np.geomspace(0.02, 99, 60)]
    assert nll(logits, found, labels) <= min(grid) + 1e-6


def test_logits_far_beyond_what_a_probability_shows():
    """Wrong by hundreds: the search is not lost where probabilities are 0 in all digits."""
    labels = np.array([0, 0, 1, 1] * 5)
    logits = np.array([[600.0, 0, 0], [0, 600, 0], [0, 600, 0], [600, 0, 0]] * 5)
    assert fit_temperature(logits, labels) == pytest.approx(HOTTEST, rel=1e-3)


def test_all_right_or_all_wrong():
    labels = np.array([0, 1, 2] * 4)
    assert fit_temperature(logits_for(labels), labels) == 1
    logits = logits_for(labels)
    logits[0] = [1, 2, 0]
    assert 0.3 < fit_temperature(logits, labels) < 3
    assert fit_temperature(logits_for((labels + 1) % 3), labels) == pytest.approx(HOTTEST, rel=1e-3)
