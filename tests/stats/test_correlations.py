"""Correlations of two lists, against scipy and by hand; of resamples, against copying points and starting over."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from dialogauge.stats.correlations import (
    Resampling,
    concordance,
    fitted_line,
    kendall,
    kendall_influence,
    kendall_rows,
    pairwise_accuracy,
    pearson,
    pearson_rows,
    ranks,
    spearman,
    spearman_rows,
    standard_rows,
    standardised_slope,
    uncentred_correlation,
)
from dialogauge.stats.resampling import point_weights

SCIPY = {pearson: stats.pearsonr, spearman: stats.spearmanr, kendall: stats.kendalltau}
ROWS = {pearson: pearson_rows, spearman: spearman_rows, kendall: kendall_rows}
few = settings(max_examples=25, deadline=None)
pairs_of_small_numbers = st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=2, max_size=30)


def rng(seed=0):
    return np.random.default_rng(seed)


def two_lists(seed, n=60, tied=False, offset=0.0):
    random = rng(seed)
    x = random.normal(size=n)
    y = 0.5 * x + random.normal(size=n)
    if tied:
        x, y = np.round(2 * x) / 2, np.round(y)
    return x + offset, y - offset


def brute_accuracy(x, y):
    """acc_eq as it is defined: over all pairs, those ordered alike and those tied in both."""
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in combinations(range(len(x)), 2)]
    return sum(a == b for a, b in signs) / len(signs)


@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_as_scipy_has_it(coefficient, tied, seed):
    x, y = two_lists(seed, tied=tied)
    assert coefficient(x, y) == pytest.approx(SCIPY[coefficient](x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_where_a_scale_has_its_zero_does_not_matter(coefficient, offset):
    # Halves and wholes beside 1e6 are exact, so nothing but the arithmetic of the correlation is tested.
    x, y = two_lists(5, tied=True)
    assert coefficient(x + offset, y - offset) == pytest.approx(coefficient(x, y), abs=1e-12)
    assert coefficient(x + offset, y) == pytest.approx(SCIPY[coefficient](x + offset, y).statistic, abs=1e-12)


@pytest.mark.parametrize("coefficient", SCIPY)
@few
@given(pairs=pairs_of_small_numbers)
def test_many_ties(coefficient, pairs):
    x, y = (np.array(side, float) for side in zip(*pairs, strict=True))
    assume(np.ptp(x) and np.ptp(y))
    assert coefficient(x, y) == pytest.approx(SCIPY[coefficient](x, y).statistic, abs=1e-12)
    assert coefficient(y, x) == pytest.approx(coefficient(x, y), abs=1e-12)
    assert coefficient(-x, y) == pytest.approx(-coefficient(x, y), abs=1e-12)


@pytest.mark.parametrize("scale", [1e-231, 1e-160, 1e200])
def test_very_small_and_very_large_numbers(scale):
    # BLEU without smoothing gives such: 1e-231 where no word is shared.
    x, y = np.array([1.0, 2.0, 9.0, 4.0]), np.array([1.0, 3.0, 4.0, 2.0])
    assert pearson(scale * x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert uncentred_correlation(scale * x, y) == pytest.approx(uncentred_correlation(x, y), abs=1e-12)


def test_pearson_by_hand():
    # Deviations (-1, 0, 1) and (-5, -2, 7) / 3: 4 / sqrt(2 * 26/3) = sqrt(12/13).
    assert pearson([1, 2, 3], [1, 2, 5]) == pytest.approx(math.sqrt(12 / 13), abs=1e-15)


def test_kendall_by_hand():
    # x ties once, y never. Of 6 pairs, 1 is tied, 4 are concordant, 1 is discordant: 3 / sqrt(5 * 6).
    assert kendall([1, 1, 2, 3], [1, 2, 4, 3]) == pytest.approx(3 / math.sqrt(30), abs=1e-15)


def test_cosine_by_hand():
    # (3 + 8) / (sqrt(5) * 5); not centred, so lists of one number have it too, and adding 1 changes it.
    assert uncentred_correlation([1, 2], [3, 4]) == pytest.approx(11 / (5 * math.sqrt(5)), abs=1e-15)
    assert uncentred_correlation([2, 2], [3, 3]) == pytest.approx(1, abs=1e-15)
    assert uncentred_correlation([1, -1], [1, 1]) == 0
    assert uncentred_correlation([1, 2], [-1, -2]) == pytest.approx(-1, abs=1e-15)
    assert math.isnan(uncentred_correlation([0, 0], [1, 2]))
    assert math.isnan(uncentred_correlation([], []))


def test_pairwise_accuracy_by_hand():
    # Pairs 12, 13, 23: x ties in 12 alone, y never. 13 and 23 are concordant: 2 of 3.
    assert pairwise_accuracy([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / 3, abs=1e-15)
    # The same, told from the other side.
    assert pairwise_accuracy([1, 2, 3], [1, 1, 2]) == pytest.approx(2 / 3, abs=1e-15)
    # Tied in both in 12, concordant in 13 and 23: all.
    assert pairwise_accuracy([1, 1, 2], [5, 5, 9]) == 1
    # Tied in both in 12, discordant in 13 and 23: one of three.
    assert pairwise_accuracy([1, 1, 2], [9, 9, 5]) == pytest.approx(1 / 3, abs=1e-15)
    # A metric that never differs is right where people see no difference, in 1 of 3 pairs.
    assert pairwise_accuracy([7, 7, 7], [9, 9, 5]) == pytest.approx(1 / 3, abs=1e-15)
    assert pairwise_accuracy([7, 7, 7], [2, 2, 2]) == 1
    assert pairwise_accuracy([-0.0, 0.0, 1.0], [2, 2, 3]) == 1


def test_concordance_by_hand():
    # y differs in 13 and 23; x orders 13 as y does, and 23 the other way round.
    assert concordance([2, 5, 3], [1, 1, 2]) == pytest.approx(1 / 2)
    # Of the three pairs that differ in y, x is right in two and tied in 12: two and a half.
    assert concordance([1, 1, 2], [1, 2, 3]) == pytest.approx(2.5 / 3)
    assert concordance([7, 7, 7], [1, 2, 3]) == 0.5
    assert math.isnan(concordance([1, 2, 3], [5, 5, 5]))
    assert math.isnan(concordance([], []))


@few
@given(pairs=pairs_of_small_numbers)
def test_concordance_is_what_counting_pairs_gives(pairs):
    x, y = (np.array(side, float) for side in zip(*pairs, strict=True))
    right = [(np.sign(x[i] - x[j]) + 1) / 2 for i in range(len(x)) for j in range(len(x)) if y[i] > y[j]]
    assert concordance(x, y) == pytest.approx(np.mean(right) if right else np.nan, abs=1e-12, nan_ok=True)


@few
@given(pairs=pairs_of_small_numbers)
def test_pairwise_accuracy_is_what_counting_pairs_gives(pairs):
    x, y = (np.array(side, float) for side in zip(*pairs, strict=True))
    assert pairwise_accuracy(x, y) == pytest.approx(brute_accuracy(x, y), abs=1e-12)


def test_pairwise_accuracy_of_numbers_that_differ():
    x, y = two_lists(7, n=25)
    assert pairwise_accuracy(x, y) == pytest.approx(brute_accuracy(x, y), abs=1e-12)
    # Without ties, tau is twice the accuracy less one.
    assert pairwise_accuracy(x, y) == pytest.approx((1 + kendall(x, y)) / 2, abs=1e-12)


def test_pairwise_accuracy_with_a_value_that_is_undefined():
    assert math.isnan(pairwise_accuracy([1, math.nan, 3], [1, 2, 3]))


@pytest.mark.parametrize("coefficient", [pearson, spearman, kendall])
@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1], [2]), ([3, 3, 3], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1]), ([0.1] * 7, [0.3] * 7)],
)
def test_undefined(coefficient, x, y):
    assert math.isnan(coefficient(x, y))


@pytest.mark.parametrize("coefficient", ROWS)
def test_undefined_where_a_value_is(coefficient):
    assert math.isnan(coefficient([1, math.nan, 3], [1, 2, 3]))
    assert np.isnan(ROWS[coefficient](np.array([[1, math.nan, 3]]), np.array([[1.0, 2, 3]]))).all()


@pytest.mark.parametrize("x", [[], [1]])
def test_no_pairs(x):
    assert math.isnan(pairwise_accuracy(x, x))


@pytest.mark.parametrize("coefficient", ROWS)
def test_rows_are_single_lists(coefficient):
    x = np.array([two_lists(seed, n=12, tied=seed % 2 == 0)[0] for seed in range(6)])
    y = np.array([two_lists(seed, n=12, tied=seed < 3)[1] for seed in range(6)])
    x[4] = 0.1
    expected = [coefficient(*pair) for pair in zip(x, y, strict=True)]
    assert ROWS[coefficient](x, y) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert np.isnan(ROWS[coefficient](x, y)).tolist() == [False] * 4 + [True, False]


@pytest.mark.parametrize("coefficient", ROWS)
def test_one_row_goes_with_all(coefficient):
    x = rng().normal(size=(5, 9))
    expected = [coefficient(row, x[0]) for row in x]
    assert ROWS[coefficient](x, x[:1]) == pytest.approx(expected, abs=1e-12)


def test_ranks_share_the_mean_of_theirs():
    assert ranks([10, 20, 10, 5]).tolist() == [2.5, 4, 2.5, 1]
    assert ranks([[3, 1], [1, 1]]).tolist() == [[2, 1], [1.5, 1.5]]


def test_standard_rows():
    found = standard_rows(np.array([[1.0, 2, 3], [5, 5, 5]]))
    # (-1, 0, 1) has length sqrt(2).
    assert found[0] == pytest.approx([-math.sqrt(0.5), 0, math.sqrt(0.5)], abs=1e-15)
    assert np.isnan(found[1]).all()


def test_single_lists_are_ranked_as_rows_are():
    for x in (np.array([2.0, 2, 1, 2, 5]), np.array([]), np.array([1.0, math.nan, 0]), rng().normal(size=40)):
        assert np.array_equal(ranks(x), stats.rankdata(x), equal_nan=True)


def test_the_line_is_that_of_least_squares():
    x = np.arange(20.0)
    along, height, band = fitted_line(x, 3 - 2 * x, np.arange(20), 0.95)
    assert height == pytest.approx(3 - 2 * along)
    assert band == pytest.approx(np.zeros(50), abs=1e-9)


def test_independent_points_have_the_textbook_band():
    """Where the noise is the same everywhere, the sandwich comes to the usual formula."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20000)
    y = x + rng.normal(size=x.size)
    along, _, band = fitted_line(x, y, np.arange(x.size), 0.95)
    expected = 1.96 * np.sqrt(1 / x.size + (along - x.mean()) ** 2 / (x.size * x.var()))
    assert band == pytest.approx(expected, rel=0.05)


def test_points_that_are_there_twice_tell_nothing_new():
    rng = np.random.default_rng(0)
    x, y, units = rng.normal(size=30), rng.normal(size=30), np.arange(30)
    once = fitted_line(x, y, units, 0.95)
    twice = fitted_line(*(np.concatenate([part, part]) for part in (x, y, units)), 0.95)
    assert twice[2] == pytest.approx(once[2])


def test_few_units_have_no_band_and_one_place_no_line():
    x = np.arange(9.0)
    assert fitted_line(x, x, np.arange(9), 0.95)[2] is None
    assert fitted_line(np.ones(9), x, np.arange(9), 0.95) is None


def columns(seed, n=30):
    """Three columns, one with many ties and one far from 0, and ratings with ties."""
    random = rng(seed)
    truth = random.normal(size=n)
    x = np.column_stack([truth, np.round(truth + random.normal(size=n)), 1e6 + random.normal(size=n)])
    return x, np.clip(np.round(truth + random.normal(size=n)), -1, 1)


def copied(values, weights):
    return np.repeat(values, weights.astype(int))


def all_weights(units, resamples, seed=0):
    return np.concatenate(list(point_weights(np.array(units), resamples, rng(seed))))


@pytest.mark.parametrize("name", ["pearson", "spearman"])
@pytest.mark.parametrize("seed", range(3))
def test_as_if_points_were_copied(name, seed):
    x, y = columns(seed)
    weights = all_weights(np.arange(len(y)), 20, seed)
    found = getattr(Resampling(x, y), name)(weights)
    assert found.shape == (20, 3)
    of_scipy = stats.pearsonr if name == "pearson" else stats.spearmanr
    for row, drawn in zip(found, weights, strict=True):
        expected = [of_scipy(copied(column, drawn), copied(y, drawn)).statistic for column in x.T]
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_every_point_once_is_the_list_itself(name):
    x, y = columns(4)
    of_scipy = stats.pearsonr if name == "pearson" else stats.spearmanr
    found = getattr(Resampling(x, y), name)(np.ones((1, len(y))))[0]
    assert found == pytest.approx([of_scipy(column, y).statistic for column in x.T], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    points=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.1, 0.2, 0.3]), st.integers(0, 3)), min_size=2, max_size=12
    )
)
def test_few_points_with_ties_and_resamples_that_never_differ(points):
    x, y, weights = (np.array(side, float) for side in zip(*points, strict=True))
    if not weights.any():
        weights[:] = 1
    resampling = Resampling(x[:, None], y)
    chosen = copied(x, weights), copied(y, weights)
    for found, of_scipy in (
        (resampling.pearson(weights[None]), stats.pearsonr),
        (resampling.spearman(weights[None]), stats.spearmanr),
    ):
        expected = of_scipy(*chosen).statistic if np.ptp(chosen[0]) and np.ptp(chosen[1]) else np.nan
        assert found[0, 0] == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_a_resample_that_never_differs(name):
    x, y = np.array([[0.1], [0.1], [0.7], [0.2]]), np.array([0.3, 0.6, 0.3, 0.3])
    weights = np.array([[2.0, 2, 0, 0], [1, 0, 2, 1], [0, 4, 0, 0], [1, 1, 1, 1]])
    # The first has one score, the second one rating, the third one point.
    found = getattr(Resampling(x, y), name)(weights)[:, 0]
    assert np.isnan(found).tolist() == [True, True, True, False]


def test_columns_and_ratings_that_never_differ():
    x, y = columns(1)
    weights = all_weights(np.arange(len(y)), 5)
    flat = x.copy()
    flat[:, 1] = 0.1
    for name in ("pearson", "spearman"):
        found = getattr(Resampling(flat, y), name)(weights)
        assert np.isnan(found).all(0).tolist() == [False, True, False]
        assert found[:, [0, 2]] == pytest.approx(getattr(Resampling(x, y), name)(weights)[:, [0, 2]], abs=1e-12)
        assert np.isnan(getattr(Resampling(x, np.full(len(y), 0.1)), name)(weights)).all()


# Kendall's influence


def weighted_tau(x, y, weights):
    """Tau-b where point i stands weights[i] times, which need not be whole: over all ordered pairs."""
    a, b = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    pairs = np.outer(weights, weights)
    return (pairs * a * b).sum() / np.sqrt((pairs * a * a).sum() * (pairs * b * b).sum())


def test_the_weighted_tau_of_these_tests_is_that_of_copies():
    x, y = columns(2)
    weights = np.array(all_weights(np.arange(len(y)), 1)[0])
    expected = stats.kendalltau(copied(x[:, 1], weights), copied(y, weights)).statistic
    assert weighted_tau(x[:, 1], y, weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("column", range(3))
def test_influence_is_the_slope(column):
    x, y = columns(3)
    x = x[:, column]
    influence = kendall_influence(x, y)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    step = 1e-6
    for point in range(len(y)):
        more, less = np.ones(len(y)), np.ones(len(y))
        more[point] += step
        less[point] -= step
        slope = (weighted_tau(x, y, more) - weighted_tau(x, y, less)) / (2 * step)
        assert influence[point] == pytest.approx(slope, abs=1e-8)


def test_influence_follows_the_bootstrap():
    x, y = columns(5, n=400)
    weights = all_weights(np.arange(400), 60)
    linear = kendall(x[:, 0], y) + (weights - 1) @ kendall_influence(x[:, 0], y)
    true = [kendall(copied(x[:, 0], drawn), copied(y, drawn)) for drawn in weights]
    assert np.corrcoef(linear, true)[0, 1] > 0.99
    assert linear == pytest.approx(true, abs=0.02)


def test_influence_does_not_depend_on_blocks(monkeypatch):
    x, y = columns(6)
    whole = kendall_influence(x[:, 1], y)
    monkeypatch.setattr("dialogauge.stats.correlations.PAIRS", 160)
    assert (kendall_influence(x[:, 1], y) == whole).all()


def test_influence_of_what_never_differs():
    x, y = columns(7)
    assert np.isnan(kendall_influence(np.full(len(y), 2.0), y)).all()
    assert np.isnan(kendall_influence(x[:, 0], np.full(len(y), 2.0))).all()


def test_a_standardised_slope_by_hand_and_by_least_squares():
    # All three correlations 1/2: (1/2 - 1/4) / (1 - 1/4).
    assert standardised_slope(*np.full((3, 1), 0.5))[0] == pytest.approx(1 / 3)
    x, z, noise = rng().normal(size=(3, 200))
    y = x - 2 * z + noise
    z = z + x
    columns = [stats.zscore(column) for column in (x, z, y)]
    expected = np.linalg.lstsq(np.column_stack(columns[:2]), columns[2], rcond=None)[0][0]
    found = standardised_slope(*(np.array([pearson(*pair)]) for pair in ((y, x), (y, z), (x, z))))
    assert found[0] == pytest.approx(expected)
    assert math.isnan(standardised_slope(*np.array([[0.5], [0.5], [1.0]]))[0])
