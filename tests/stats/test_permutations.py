"""P-values of single correlations, against going through all orders; tests between metrics, against loops over the same
swaps."""

import itertools
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from dialogauge.stats import permutations
from dialogauge.stats.correlations import kendall_rows, pearson_rows, ranks, spearman_rows
from dialogauge.stats.permutations import (
    kendall_permutation_p,
    permutation_p,
    swap_entries,
    swap_points,
    swap_systems,
    swaps_for,
)

OF_SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

ROWS = {"pearson": pearson_rows, "spearman": spearman_rows, "kendall": kendall_rows}


def rng(seed=0):
    return np.random.default_rng(seed)


def points(seed, n, tied=False):
    random = rng(seed)
    y = random.normal(size=n)
    x = np.column_stack([y + random.normal(size=n), random.normal(size=n), -y + 0.2 * random.normal(size=n)])
    return (np.round(x), np.round(y)) if tied else (x, y)


def p_values(x, y, draws=200, seed=0):
    found = permutation_p(x, y, draws, rng(seed))
    return {**found, "kendall": kendall_permutation_p(x, y, draws, rng(seed))}


def brute(name, x, y):
    """The share of all orders in which the correlation is as far from 0."""
    of_scipy = OF_SCIPY[name]
    observed = abs(of_scipy(x, y).statistic)
    far = [abs(of_scipy(x, np.array(order)).statistic) >= observed - 1e-9 for order in itertools.permutations(y)]
    return sum(far) / len(far)


@pytest.mark.parametrize("name", OF_SCIPY)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n", [3, 5])
def test_all_orders_of_few_points(name, tied, n):
    x, y = points(2, n, tied)
    expected = [brute(name, column, y) if np.ptp(column) and np.ptp(y) else np.nan for column in x.T]
    assert p_values(x, y)[name] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", OF_SCIPY)
def test_five_points_against_scipy(name):
    x, y = points(4, 5)
    for column, found in zip(x.T, p_values(x, y)[name], strict=True):

        def statistic(other, column=column):
            return abs(OF_SCIPY[name](column, other).statistic)

        expected = stats.permutation_test(
            (y,), statistic, permutation_type="pairings", n_resamples=np.inf, alternative="greater"
        )
        assert found == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("name", OF_SCIPY)
@pytest.mark.parametrize("tied", [False, True])
def test_seven_points_are_gone_through(name, tied):
    x, y = points(5, 7, tied)
    expected = [all_orders(name, column, y) for column in x.T]
    assert p_values(x, y, draws=1)[name] == pytest.approx(expected, abs=1e-12)


def test_four_systems_in_peoples_order():
    # Of 24 orders, the same and the opposite one are as far from 0.
    x, y = np.array([[1.0], [2], [3], [4]]), np.array([1.0, 2, 3, 4])
    for found in p_values(x, y).values():
        assert found == pytest.approx([2 / 24], abs=1e-15)


def test_all_orders_need_no_seed():
    x, y = points(3, 6)
    one, other = p_values(x, y, draws=1, seed=1), p_values(x, y, draws=50, seed=2)
    assert all((one[name] == other[name]).all() for name in one)


@pytest.mark.parametrize("name", OF_SCIPY)
def test_random_orders_come_near_all_of_them(name):
    x, y = points(6, 8)
    draws = 4000
    expected = np.array([all_orders(name, column, y) for column in x.T])
    # Four standard errors of a share of so many.
    near = 4 * np.sqrt(expected * (1 - expected) / draws) + 1 / draws
    assert (np.abs(p_values(x, y, draws)[name] - expected) < near).all()


def all_orders(name, x, y):
    """The same as `brute` for all orders at once."""
    if name != "kendall":
        x, y = (x, y) if name == "pearson" else (stats.rankdata(x), stats.rankdata(y))
        orders = np.array(list(itertools.permutations(y)))
        found = (orders - y.mean()) @ (x - x.mean())
        return float((np.abs(found) >= abs(found[0]) - 1e-9).mean())
    first, second = np.triu_indices(len(y), 1)
    orders = np.array(list(itertools.permutations(y)))
    found = np.sign(orders[:, first] - orders[:, second]) @ np.sign(x[first] - x[second])
    return float((np.abs(found) >= abs(found[0])).mean())


def test_p_is_never_0_and_the_seed_decides():
    y = np.arange(40.0)
    found = p_values(y[:, None], y, draws=99)
    assert [float(found[name][0]) for name in OF_SCIPY] == [0.01, 0.01, 0.01]
    x, y = points(8, 40)
    one, again, other = (p_values(x, y, draws=99, seed=seed) for seed in (1, 1, 2))
    for name in OF_SCIPY:
        assert (one[name] == again[name]).all()
        assert ((one[name] > 0) & (one[name] <= 1)).all()
    assert any((one[name] != other[name]).any() for name in OF_SCIPY)


def test_no_correlation_at_all_is_p_1():
    # Deviations (-1, 0, 1) and (1, -2, 1) have product 0.
    found = p_values(np.array([[1.0], [2], [3]]), np.array([2.0, 1, 2]))
    assert {name: float(values[0]) for name, values in found.items()} == dict.fromkeys(OF_SCIPY, 1.0)


def test_p_is_uniform_where_there_is_nothing():
    random = rng(9)
    found = permutation_p(random.normal(size=(50, 400)), random.normal(size=50), 199, random)
    for values in found.values():
        # 400 columns: 5 % are 20 +- 4.4.
        assert 4 <= (values <= 0.05).sum() <= 38
        assert values.mean() == pytest.approx(0.5, abs=0.08)


def test_points_that_depend_on_each_other_raise_p():
    x, y = points(10, 60)
    x = x[:, :2]
    plain = permutation_p(x, y, 500, rng())
    same = permutation_p(x, y, 500, rng(), np.ones((2, 2)))
    wider = permutation_p(x, y, 500, rng(), np.array([[1.0, 3.0], [3.0, 1.0]]))
    assert all((plain[name] == same[name]).all() for name in plain)
    assert wider["pearson"][0] == plain["pearson"][0]
    assert wider["pearson"][1] > plain["pearson"][1]
    assert wider["spearman"][0] > plain["spearman"][0]
    assert wider["spearman"][1] == plain["spearman"][1]


@pytest.mark.parametrize("n", [5, 20])
def test_what_never_differs_has_no_p(n):
    x, y = points(11, n)
    flat = x.copy()
    flat[:, 1] = 0.1
    for name, found in p_values(flat, y).items():
        assert np.isnan(found).tolist() == [False, True, False]
        assert found[[0, 2]].tolist() == p_values(x, y)[name][[0, 2]].tolist()
    assert all(np.isnan(found).all() for found in p_values(x, np.full(n, 0.1)).values())


def noisy_metrics(seed, n, metrics=3):
    """Ratings, and metrics that follow them less and less."""
    random = rng(seed)
    y = random.normal(size=n)
    return np.column_stack([y + (1 + place) * random.normal(size=n) for place in range(metrics)]), y


def standard(x):
    return (x - x.mean(0)) / x.std(0)


def exchanged(x, a, b, mask):
    return np.where(mask, x[:, b], x[:, a]), np.where(mask, x[:, a], x[:, b])


def brute_swaps(x, masks, correlation, added):
    """P of each pair: the share of swaps in which `correlation` of the two columns differs as much."""
    found = {}
    for a, b in combinations(range(x.shape[1]), 2):
        observed = abs(correlation(x[:, a]) - correlation(x[:, b]))
        both = [exchanged(x, a, b, mask) for mask in masks]
        far = sum(abs(correlation(one) - correlation(other)) >= observed - 1e-9 for one, other in both)
        found[a, b] = (far + added) / (len(masks) + added)
    return found


def all_masks(count):
    return [np.array(mask, bool) for mask in product((0, 1), repeat=count)]


def random_masks(count, swaps, seed):
    """Those that the module draws from the same seed."""
    return list(rng(seed).integers(2, size=(swaps, count), dtype=np.int8).astype(bool))


# Points


@pytest.mark.parametrize("seed", range(3))
def test_all_swaps_of_few_points(seed):
    x, y = noisy_metrics(seed, 8)
    expected = brute_swaps(standard(x), all_masks(8), lambda column: np.corrcoef(column, y)[0, 1], added=0)
    assert swap_points(x, y, np.arange(8), 1, rng()) == pytest.approx(expected, abs=1e-12)


def test_random_swaps_of_more():
    x, y = noisy_metrics(3, 20)
    expected = brute_swaps(
        standard(x), random_masks(20, 60, seed=7), lambda column: np.corrcoef(column, y)[0, 1], added=1
    )
    assert swap_points(x, y, np.arange(20), 60, rng(7)) == pytest.approx(expected, abs=1e-12)


def test_up_to_twelve_all_swaps_need_no_seed():
    x, y = noisy_metrics(4, 12)
    assert swap_points(x, y, np.arange(12), 1, rng(1)) == swap_points(x, y, np.arange(12), 9, rng(2))
    x, y = noisy_metrics(4, 13)
    assert swap_points(x, y, np.arange(13), 50, rng(1)) != swap_points(x, y, np.arange(13), 50, rng(2))


@pytest.mark.parametrize("units", [[0, 0, 1, 2, 2, 2, 3, 4, 4, 5], [5, 3, 3, 0, 1, 2, 4, 0, 5, 5]])
def test_whole_units_change_places(units):
    x, y = noisy_metrics(5, 10)
    masks = [mask[units] for mask in all_masks(6)]
    expected = brute_swaps(standard(x), masks, lambda column: np.corrcoef(column, y)[0, 1], added=0)
    assert swap_points(x, y, np.array(units), 1, rng()) == pytest.approx(expected, abs=1e-12)


def test_points_in_another_order():
    x, y = noisy_metrics(6, 9)
    assert swap_points(x, y, np.arange(9)[::-1], 1, rng()) == pytest.approx(
        swap_points(x, y, np.arange(9), 1, rng()), abs=1e-12
    )


def test_blocks_of_swaps(monkeypatch):
    x, y = noisy_metrics(7, 30)
    whole = swap_points(x, y, np.arange(30), 100, rng())
    monkeypatch.setattr(permutations, "SWAP_CELLS", 70)
    assert swap_points(x, y, np.arange(30), 100, rng()) == pytest.approx(whole, abs=1e-12)


def test_spearman_exchanges_ranks():
    x, y = noisy_metrics(8, 7)
    x, y = np.round(x), np.round(y)
    expected = brute_swaps(
        standard(ranks(x.T).T), all_masks(7), lambda column: np.corrcoef(column, ranks(y))[0, 1], added=0
    )
    assert swap_points(ranks(x.T).T, ranks(y), np.arange(7), 1, rng()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [10, 50])
def test_the_same_metric_twice(n):
    x, y = noisy_metrics(9, n, 1)
    both = np.column_stack([x, x, 3 * x + 7])
    assert set(swap_points(both, y, np.arange(n), 200, rng()).values()) == {1.0}


def test_a_metric_against_noise():
    random = rng(12)
    y = random.normal(size=200)
    x = np.column_stack([y + 0.3 * random.normal(size=200), random.normal(size=(200, 2))])
    found = swap_points(x, y, np.arange(200), 999, rng())
    assert found[0, 1] == found[0, 2] == 0.001
    assert found[1, 2] > 0.05
    # Where all points are one unit, only all of them change places, and the difference stays what it is.
    assert swap_points(x, y, np.zeros(200, np.int64), 999, rng())[0, 1] == 1


def test_p_is_uniform_between_metrics_that_are_equally_good():
    random = rng(11)
    found = []
    for _ in range(100):
        y = random.normal(size=40)
        x = y[:, None] + random.normal(size=(40, 2))
        found.append(swap_points(x, y, np.arange(40), 99, random)[0, 1])
    # 5 % of 100 are 5 +- 2.2; the mean is 0.5 +- 0.03.
    assert sum(p <= 0.05 for p in found) <= 14
    assert np.mean(found) == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("n", [8, 30])
def test_what_never_differs_is_not_tested(n):
    x, y = noisy_metrics(12, n)
    flat = x.copy()
    flat[:, 1] = 0.1
    found = swap_points(flat, y, np.arange(n), 50, rng())
    assert [pair for pair, p in found.items() if np.isnan(p)] == [(0, 1), (1, 2)]
    assert found[0, 2] == pytest.approx(swap_points(x, y, np.arange(n), 50, rng())[0, 2], abs=1e-12)
    assert np.isnan(list(swap_points(x, np.ones(n), np.arange(n), 50, rng()).values())).all()


# Systems


SYSTEMS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3])


def by_system(column):
    return np.array([column[system == SYSTEMS].mean() for system in range(4)])


@pytest.mark.parametrize("name", ROWS)
def test_entries_change_places_before_they_are_averaged(name):
    x, y = noisy_metrics(13, 9, 2)
    people = by_system(y)
    expected = brute_swaps(
        standard(x), all_masks(9), lambda column: OF_SCIPY[name](by_system(column), people).statistic, added=0
    )
    found = swap_entries(x, people, SYSTEMS, 1, rng(), ROWS[name])
    assert found == pytest.approx(expected, abs=1e-12)


def test_random_swaps_of_entries():
    systems = np.repeat(np.arange(4), 5)
    x, y = noisy_metrics(14, 20, 2)
    people = y.reshape(4, 5).mean(1)

    def correlation(column):
        return np.corrcoef(column.reshape(4, 5).mean(1), people)[0, 1]

    expected = brute_swaps(standard(x), random_masks(20, 60, seed=3), correlation, added=1)
    assert swap_entries(x, people, systems, 60, rng(3), pearson_rows) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("n", [4, 6])
def test_whole_systems_change_places(name, n):
    scores, people = noisy_metrics(15, n)
    expected = brute_swaps(
        standard(scores), all_masks(n), lambda column: OF_SCIPY[name](column, people).statistic, added=0
    )
    assert swap_systems(scores, people, 1, rng(), ROWS[name]) == pytest.approx(expected, abs=1e-12)


def test_random_swaps_of_systems():
    scores, people = noisy_metrics(16, 14, 2)
    masks = random_masks(14, 60, seed=5)
    expected = brute_swaps(standard(scores), masks, lambda column: np.corrcoef(column, people)[0, 1], added=1)
    assert swap_systems(scores, people, 60, rng(5), pearson_rows) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ROWS)
def test_the_same_scores_twice(name):
    x, y = noisy_metrics(17, 9, 1)
    people = by_system(y)
    both = np.column_stack([x, x, 2 * x - 1])
    assert set(swap_entries(both, people, SYSTEMS, 1, rng(), ROWS[name]).values()) == {1.0}
    scores = np.column_stack([by_system(column) for column in both.T])
    assert set(swap_systems(scores, people, 1, rng(), ROWS[name]).values()) == {1.0}


@pytest.mark.parametrize("name", ROWS)
def test_a_swap_that_leaves_one_score_for_all_systems_shows_no_difference(name):
    # (0, 0, 1) and (1, 0, 0) of people's (1, 2, 3). Exchanging system 1 leaves the second with the same score for all
    # three, exchanging 3 the first; exchanging both, or none, leaves them as far apart; 2 changes nothing: 4 of 8.
    scores = np.array([[0.0, 1], [0, 0], [1, 0]])
    people = np.array([1.0, 2, 3])
    assert swap_systems(scores, people, 1, rng(), ROWS[name]) == {(0, 1): 0.5}


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_systems_with_the_same_mean_are_tied(name):
    # Means 0.5, 0.5, 0.3 and 0.8: standardised, sums that are equal differ by rounding, and must not be ranked by it.
    systems = np.repeat(np.arange(4), 2)
    x = np.column_stack([[0.1, 0.9, 0.7, 0.3, 0.2, 0.4, 0.6, 1.0], [0.3, 0.1, 0.2, 0.4, 0.9, 0.5, 0.7, 0.6]])
    people = np.array([2.0, 1, 3, 5])
    means = np.round([x[systems == system].mean(0) for system in range(4)], 9)
    assert len(set(means[:, 0])) == 3

    def correlation(column):
        found = np.round([column[systems == system].mean() for system in range(4)], 9)
        return OF_SCIPY[name](found, people).statistic if np.ptp(found) else np.nan

    expected = brute_swaps(standard(x), all_masks(8), correlation, added=0)
    assert swap_entries(x, people, systems, 1, rng(), ROWS[name]) == pytest.approx(expected, abs=1e-12)


def test_scores_that_never_differ_are_not_tested():
    x, y = noisy_metrics(18, 9)
    x[:, 1] = 0.1
    people = by_system(y)
    scores = np.column_stack([by_system(column) for column in x.T])
    scores[:, 1] = 0.1
    for found in (
        swap_entries(x, people, SYSTEMS, 1, rng(), spearman_rows),
        swap_systems(scores, people, 1, rng(), spearman_rows),
    ):
        assert [pair for pair, p in found.items() if np.isnan(p)] == [(0, 1), (1, 2)]


@pytest.mark.parametrize(("metrics", "resamples", "expected"), [(2, 1000, 1000), (5, 1000, 1000), (10, 1000, 4500)])
def test_many_pairs_need_more_swaps(metrics, resamples, expected):
    # 10 metrics are 45 pairs, with a hundred swaps each.
    assert swaps_for(metrics, resamples) == expected
