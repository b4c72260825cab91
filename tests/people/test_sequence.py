import math

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.people.sequence import FEWEST, anytime_interval, anytime_p, anytime_reach


def test_a_value_by_hand():
    # n = planned = 100, alpha = .05: -2 log .05 = 5.99146, log(1 + 5.99146) = 1.94470, so a = 1 + 7.93616 = 8.93616.
    # K = (sqrt(8.93616) / .05)^(2/100) = exp(.02 * (1.09505 + 2.99573)) = exp(.0818156) = 1.0852557
    # T² = 99 * .0852557 / (1 - 1.0852557 / 8.93616) = 8.440314 / .878555 = 9.607048, T = 3.09953
    assert anytime_reach(100, 0.95, 100) == pytest.approx(3.09953, abs=1e-5)


def test_with_many_units_it_is_the_asymptotic_confidence_sequence():
    n = planned = 10**6
    squared = -2 * math.log(0.05)
    grown = n * (squared + math.log(squared + 1)) / planned
    # Waudby-Smith et al. 2024: the mean ± deviation * sqrt(2 (n r² + 1) / (n² r²) * log(sqrt(n r² + 1) / alpha))
    published = math.sqrt(2 * (grown + 1) / grown * math.log(math.sqrt(grown + 1) / 0.05))
    assert anytime_reach(n, 0.95, planned) == pytest.approx(published, rel=1e-5)


@pytest.mark.parametrize("n", [30, 57, 400, 10_000])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_interval_and_p_decide_alike(n, confidence):
    reach = anytime_reach(n, confidence, 50)
    assert anytime_p(reach * 0.3, 0.3, n, confidence, 50) == pytest.approx(1 - confidence)
    low, _ = anytime_interval(reach * 0.301, 0.3, n, confidence, 50)
    assert low > 0
    assert anytime_p(reach * 0.301, 0.3, n, confidence, 50) < 1 - confidence


def test_it_is_narrowest_in_units_of_the_deviation_near_the_planned_size():
    """Against other plans: no other gives a shorter reach at 200 units by more than a little."""
    best = anytime_reach(200, planned=200)
    assert all(anytime_reach(200, planned=other) > 0.98 * best for other in (20, 50, 100, 400, 1000))
    assert anytime_reach(200, planned=1000) > best < anytime_reach(200, planned=20)


def test_nothing_is_said_of_too_few_units_or_of_such_as_never_differ():
    assert anytime_reach(FEWEST - 1) == math.inf
    assert anytime_interval(1.0, 0.1, 5) == (-math.inf, math.inf)
    assert anytime_p(1.0, 0.1, 5) == 1.0
    assert anytime_interval(1.0, 0.0, 50) == (-math.inf, math.inf)
    assert anytime_p(1.0, 0.0, 50) == 1.0
    assert all(map(math.isnan, anytime_interval(math.nan, 1.0, 50)))
    assert math.isnan(anytime_p(1.0, math.nan, 50))


@pytest.mark.parametrize("wrong", [{"n": -1}, {"n": 2.5}, {"n": 50, "confidence": 1.0}, {"n": 50, "planned": 0}])
def test_what_nobody_means_is_refused(wrong):
    with pytest.raises(InputError):
        anytime_reach(**wrong)


def test_looked_at_after_every_ten_ratings_it_errs_in_less_than_five_percent():
    """Two equal systems, each turn rated once on 1 to 5: ten ratings are five contexts. 600 contexts, 1,000 studies;
    the interval for one look leaves out 0 at some time in nearly half of them."""
    rng = np.random.default_rng(1)
    ratings = rng.choice([1, 2, 3, 4, 5], p=[0.05, 0.1, 0.15, 0.3, 0.4], size=(2, 1000, 600))
    differences = (ratings[0] - ratings[1]).astype(float)
    sizes = np.arange(5, 601, 5)
    sums, squares = differences.cumsum(axis=1)[:, sizes - 1], (differences**2).cumsum(axis=1)[:, sizes - 1]
    means = sums / sizes
    errors = np.sqrt((squares - sizes * means**2) / (sizes - 1) / sizes)
    always, once = np.zeros(1000, dtype=bool), np.zeros(1000, dtype=bool)
    for place, size in enumerate(sizes):
        reach = anytime_reach(int(size))
        always |= np.abs(means[:, place]) > (reach * errors[:, place] if np.isfinite(reach) else np.inf)
        once |= np.abs(means[:, place]) > 1.96 * errors[:, place]
    assert always.mean() < 0.05
    assert once.mean() > 0.3
