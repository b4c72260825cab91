"""P-values of single correlations, against going through all orders."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from dialogauge.stats.permutations import kendall_permutation_p, permutation_p

OF_SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


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
    far = [abs(of_scipy(x, np.array(order)).statistic) >= observed - 1e-9 for order in permutations(y)]
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
        orders = np.array(list(permutations(y)))
        found = (orders - y.mean()) @ (x - x.mean())
        return float((np.abs(found) >= abs(found[0]) - 1e-9).mean())
    first, second = np.triu_indices(len(y), 1)
    orders = np.array(list(permutations(y)))
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
