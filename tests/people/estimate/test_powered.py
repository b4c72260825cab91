"""Means from ratings of some turns and a metric on all."""

import json
from pathlib import Path

import numpy as np
import pytest

from dialogauge.evaluation.options import Settings
from dialogauge.people.estimate.interval import FEW, equal_units, freedom, powered_estimate, student
from dialogauge.people.estimate.powered import UnitTotals, estimates, influence
from dialogauge.people.estimate.ppi import ppi_mean

GOLDEN = json.loads((Path(__file__).parent / "ppi_python.json").read_text(encoding="utf-8"))


def totals(ratings, metric, units=None, **how):
    units = np.arange(len(ratings)) if units is None else np.asarray(units)
    return UnitTotals.from_turns(
        units, int(units.max()) + 1, np.asarray(ratings, float), np.asarray(metric, float), **how
    )


def once(term, **how):
    return estimates([(1.0, term)], np.ones((1, len(term.weights))), **how)


def made_up(n, more, likeness=0.7, seed=0, sizes=1):
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange((n + more) // sizes), sizes)
    quality = rng.normal(size=len(units)) + (rng.normal(size=units.max() + 1)[units] if sizes > 1 else 0)
    ratings = np.where(units < n // sizes, np.round(3 + quality), np.nan)
    return ratings, 10 + 4 * (likeness * quality + np.sqrt(1 - likeness**2) * rng.normal(size=len(units))), units


def test_by_hand():
    # Rated: 2, 4, 6 where the metric says 1, 2, 3; elsewhere it says 3, 5. Classical: 4. The control: 2 - 4 = -2.
    # What units add, a: (-2, 0, 2)/3 and 0; b: (-1, 0, 1)/3, then -(3 - 4)/2 = 1/2 and -1/2.
    # Slope: sum(ab) / sum(b²) = (4/9) / (2/9 + 1/2) = 8/13; the estimate: 4 + 2 · 8/13.
    found = once(totals([2, 4, 6, np.nan, np.nan], [1, 2, 3, 3, 5]))
    assert found.slope[0] == pytest.approx(8 / 13)
    assert found.value[0] == pytest.approx(4 + 16 / 13)
    assert found.classical[0] == 4.0
    assert found.classical_variance[0] == pytest.approx(4 / 3)  # s² / n


@pytest.mark.parametrize("case", GOLDEN)
def test_as_ppi_python(case):
    ratings, metric = np.array(case["ratings"]), np.array(case["metric"])
    for row in case["found"]:
        predicted, others = metric[: len(ratings)], metric[len(ratings) :]
        found = ppi_mean(ratings, predicted, others, confidence=row["confidence"], slope=row["slope"])
        assert found == pytest.approx(row["expected"], abs=1e-9)


def test_estimate_is_near_ppi_python_where_nothing_is_clustered():
    ratings, metric, _ = made_up(200, 2000)
    rated = ~np.isnan(ratings)
    plain = ppi_mean(ratings[rated], metric[rated], metric[~rated], slope=once(totals(ratings, metric)).slope[0])
    found = powered_estimate([(1.0, totals(ratings, metric))], Settings()).powered
    assert found.value == pytest.approx(plain.value, abs=1e-12)
    assert (found.low, found.high) == pytest.approx(plain[1:], abs=0.01)
    assert found.low < plain.low  # it knows that the slope was fitted


def test_the_jackknife_without_each_unit():
    ratings, metric, units = made_up(60, 120, sizes=3)
    whole = once(totals(ratings, metric, units))
    values, classical = [], []
    for left in range(units.max() + 1):
        kept = units != left
        rest = once(totals(ratings[kept], metric[kept], np.unique(units[kept], return_inverse=True)[1]))
        values.append(rest.value[0] - whole.value[0])
        classical.append(rest.classical[0] - whole.classical[0])
    values, classical = np.array(values), np.array(classical)
    assert whole.classical_variance[0] == pytest.approx(19 / 20 * (classical[:20] ** 2).sum())
    expected = 19 / 20 * (values[:20] ** 2).sum() + 39 / 40 * (values[20:] ** 2).sum()
    assert whole.variance[0] == pytest.approx(expected, rel=0.05)  # the slope's centres are not moved


@pytest.mark.parametrize("unequal", [False, True])
def test_the_scale_of_the_metric_does_not_matter(unequal):
    ratings, metric, units = made_up(100, 300, sizes=2)
    how = {"weights": np.random.default_rng(1).uniform(1, 3, 400), "everywhere": True} if unequal else {}
    first, second = (
        powered_estimate([(1.0, totals(ratings, values, units, **how))], Settings())
        for values in (metric, 1000 - 3 * metric)
    )
    assert second.powered.value == pytest.approx(first.powered.value)
    assert second.powered.error == pytest.approx(first.powered.error)
    assert second.slope == pytest.approx(first.slope / -3)


def test_weights_are_those_of_turns_that_stand_there_so_often():
    ratings, metric, _ = made_up(40, 100)
    weights = np.where(np.arange(140) < 20, 2.0, 1.0)
    found = once(totals(ratings, metric, weights=weights, everywhere=True))
    assert found.classical[0] == pytest.approx(np.average(ratings[:40], weights=weights[:40]))
    slope = found.slope[0]
    control = np.average(metric[:40], weights=weights[:40]) - metric.mean()
    assert found.value[0] == pytest.approx(found.classical[0] - slope * control)


def test_where_all_turns_are_rated_the_metric_adds_nothing():
    ratings, metric, _ = made_up(100, 0)
    found = powered_estimate([(1.0, totals(ratings, metric))], Settings())
    assert found.powered == found.classical
    assert found.slope == 0.0
    assert found.worth == 1.0
    reach = student(0.0, 99, 0.95)[0] * ratings.std(ddof=1) / 10
    assert found.powered.high == pytest.approx(ratings.mean() + reach)


def test_a_useless_metric_never_makes_it_wider():
    left_out = 0
    for seed in range(100):
        ratings, metric, units = made_up(60, 240, likeness=0.0, seed=seed, sizes=1 + seed % 3)
        found = powered_estimate([(1.0, totals(ratings, metric, units))], Settings(resamples=50))
        assert found.powered.width <= found.classical.width
        left_out += found.slope == 0
    assert left_out > 50


def test_these_turns_alone():
    ratings, metric, _ = made_up(100, 100)
    term = totals(ratings, metric, everywhere=True)
    found = powered_estimate([(1.0, term)], Settings(), rated_share=0.5)
    alone = powered_estimate([(1.0, totals(ratings, metric))], Settings())
    assert found.classical.error == pytest.approx(alone.classical.error * np.sqrt(0.5))
    assert found.powered.width < alone.powered.width


def test_differences_keep_what_shared_contexts_have_in_common():
    rng = np.random.default_rng(3)
    shared, chosen = 2 * rng.normal(size=200), np.arange(200) < 50
    first, second = (shared + rng.normal(size=200) for _ in range(2))
    metric = rng.normal(size=(2, 200))
    terms = [
        (sign, totals(np.where(chosen, ratings, np.nan), values))
        for sign, ratings, values in zip((1.0, -1.0), (first, second), metric, strict=True)
    ]
    found = powered_estimate(terms, Settings())
    paired = (first - second)[:50]
    assert found.classical.value == pytest.approx(paired.mean())
    assert found.classical.error == pytest.approx(paired.std(ddof=1) / np.sqrt(50))
    assert freedom(terms, 0.0, influence(terms, np.ones((1, 200)))) == pytest.approx(49)


def test_degrees_of_freedom_of_two_samples_are_welchs():
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=12), 5 * rng.normal(size=40)
    ratings = [np.full(60, np.nan) for _ in range(2)]
    ratings[0][:12], ratings[1][20:] = first, second
    terms = [(sign, totals(each, np.zeros(60))) for sign, each in zip((1.0, -1.0), ratings, strict=True)]
    shares = first.var() / 12, second.var() / 40
    expected = sum(shares) ** 2 / (shares[0] ** 2 / 11 + shares[1] ** 2 / 39)
    assert freedom(terms, 0.0, influence(terms, np.ones((1, 60)))) == pytest.approx(expected)


def test_unequal_units_count_as_fewer():
    assert equal_units(np.full(7, 3.0)) == pytest.approx(7)
    assert equal_units(np.array([10.0, 1, 1, 1])) == pytest.approx(169 / 103)


def test_few_units_are_bootstrapped_and_fewer_have_no_interval():
    ratings, metric, _ = made_up(FEW - 1, 100)
    few = powered_estimate([(1.0, totals(ratings, metric))], Settings(resamples=200))
    assert few.method == "bootstrap"
    assert few == powered_estimate([(1.0, totals(ratings, metric))], Settings(resamples=200))
    assert few.classical.width >= 2 * student(0.0, FEW - 2, 0.95)[0] * few.classical.error * (1 - 1e-9)
    ratings, metric, _ = made_up(4, 100)
    none = powered_estimate([(1.0, totals(ratings, metric))], Settings())
    assert none.method == "none"
    assert np.isnan(none.powered.low)
    same = powered_estimate([(1.0, totals(np.where(np.arange(50) < 40, 5.0, np.nan), np.arange(50)))], Settings())
    assert same.method == "none"
    assert same.powered.value == 5.0


def test_p_and_interval_agree():
    for seed in range(20):
        ratings, metric, _ = made_up(20 if seed % 2 else 60, 200, seed=seed)
        term = totals(ratings, metric)
        found = powered_estimate([(1.0, term)], Settings(resamples=100), null=3.0).powered
        assert (found.p < 0.05) == (not found.low <= 3.0 <= found.high)


def test_at_any_look():
    ratings, metric, _ = made_up(100, 300)
    term = totals(ratings, metric)
    once_only, always = (powered_estimate([(1.0, term)], Settings(), planned=planned) for planned in (None, 100))
    assert always.method == "anytime"
    assert always.powered.width > 1.3 * once_only.powered.width
    assert always.powered.value == once_only.powered.value
    early = powered_estimate([(1.0, totals(*made_up(20, 300)[:2]))], Settings(), planned=100)
    assert np.isinf(early.powered.low)
    assert early.powered.p == 1.0
