"""Bradley and Terry's model with ties."""

import numpy as np
import pytest

from dialogauge.people.estimate.combine import Prediction
from dialogauge.people.estimate.powered import estimates
from dialogauge.people.estimate.samples import RatedSample
from dialogauge.people.estimate.strengths import Outcome, fit_strengths, outcome_of, win_rate_totals


def test_two_systems_by_hand():
    # Of ten, five are won, three tied, two lost: the model has as many parameters as there are shares, and fits them.
    # e^d = 5 / 2; e^tie = 3 / sqrt(5 · 2).
    found = fit_strengths(2, [Outcome(0, 1, 10.0, 0.65, 0.3)])
    assert found.values == pytest.approx([np.log(2.5) / 2, -np.log(2.5) / 2])
    assert found.tie == pytest.approx(np.log(3 / np.sqrt(10)))
    assert found.expected(0, 1) == pytest.approx((0.65, 0.3))
    assert found.win_rate(0)[0] == pytest.approx(0.65)


def test_without_ties_it_is_bradley_and_terrys():
    found = fit_strengths(2, [Outcome(0, 1, 10.0, 0.8, 0.0)])
    assert found.values[0] - found.values[1] == pytest.approx(np.log(4))
    assert found.tie == -np.inf
    assert found.information.shape == (2, 2)


def test_strengths_are_found_again():
    strengths, tie = np.array([0.7, 0.1, -0.2, -0.6]), -0.5
    outcomes = []
    for first in range(4):
        for second in range(first + 1, 4):
            d = strengths[first] - strengths[second]
            raised = np.exp([d / 2, -d / 2, tie])
            won, _, tied = raised / raised.sum()
            outcomes.append(Outcome(first, second, 1.0 + first, won + tied / 2, tied))
    found = fit_strengths(4, outcomes)
    assert found.values == pytest.approx(strengths, abs=1e-8)
    assert found.tie == pytest.approx(tie, abs=1e-8)


def test_what_has_no_strengths():
    assert fit_strengths(2, [Outcome(0, 1, 5.0, 1.0, 0.0)]) is None  # the first won all
    assert fit_strengths(4, [Outcome(0, 1, 5.0, 0.5, 0.0), Outcome(2, 3, 5.0, 0.5, 0.0)]) is None  # never compared
    chain = [Outcome(0, 1, 5.0, 0.6, 0.0), Outcome(1, 2, 5.0, 0.3, 0.1)]
    assert fit_strengths(3, chain) is not None


def rated(seed=0, n=40):
    rng = np.random.default_rng(seed)
    systems, samples = ["a", "b", "c"], {}
    for place, names in enumerate([("a", "b"), ("a", "c"), ("b", "c")]):
        points = rng.choice([0.0, 0.5, 1.0], size=n, p=[0.2, 0.3 - 0.05 * place, 0.5 + 0.05 * place])
        points[n // 2 :] = np.nan
        ties = np.where(np.isnan(points), np.nan, points == 0.5)
        samples[names] = RatedSample(names, np.arange(n), points, rng.normal(size=(n, 1)), None, ties)
    return systems, samples


def rates(systems, samples):
    strengths = fit_strengths(3, [outcome_of(sample, systems) for sample in samples.values()])
    predictions = {names: Prediction(sample.values[:, 0], None) for names, sample in samples.items()}
    totals = win_rate_totals(systems, samples, predictions, strengths, 40, False)
    return strengths, totals


def test_a_win_rate_is_the_mean_of_what_comparisons_add():
    systems, samples = rated()
    strengths, totals = rates(systems, samples)
    for place, system in enumerate(systems):
        mean = totals[system].ratings.sum() / totals[system].weights.sum()
        assert mean == pytest.approx(strengths.win_rate(place)[0])
        assert totals[system].other_turns.sum() == pytest.approx(1.0)
    assert sum(strengths.win_rate(place)[0] for place in range(3)) == pytest.approx(1.5)


def test_what_a_unit_adds_is_what_fitting_without_it_takes_away():
    systems, samples = rated()
    strengths, totals = rates(systems, samples)
    whole = estimates([(1.0, totals["a"])], np.ones((1, 40)))
    fitted = []
    for left in range(20):
        rest = {
            names: RatedSample(names, s.units, np.where(s.units == left, np.nan, s.ratings), s.values, None, s.ties)
            for names, s in samples.items()
        }
        again = fit_strengths(3, [outcome_of(sample, systems) for sample in rest.values()])
        fitted.append(again.win_rate(0)[0] - strengths.win_rate(0)[0])
    assert whole.classical_variance[0] == pytest.approx(19 / 20 * np.square(fitted).sum(), rel=0.05)
