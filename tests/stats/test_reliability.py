"""How well raters agree with each other."""

import itertools
import math
import tracemalloc

import krippendorff
import numpy as np
import pytest
from scipy import stats

from dialogauge.stats.reliability import (
    halves,
    krippendorff_alpha,
    one_and_others,
    ordinal_alpha,
    rating_table,
    reliability,
    spearman_brown,
)

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units.
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def rng(seed=0):
    return np.random.default_rng(seed)


def with_gaps(seed, items=40, raters=6, kept=0.6):
    """Ratings of items that differ, by raters with noise of their own, some missing; as people give them, 1 to 5."""
    random = rng(seed)
    quality = random.normal(3, 1, size=(items, 1))
    values = np.clip(np.round(quality + random.normal(size=(items, raters))), 1, 5)
    present = random.random(values.shape) < kept
    return [
        [float(value) if here else None for value, here in zip(*row, strict=True)]
        for row in zip(values, present, strict=True)
    ]


def as_matrix(ratings):
    """Raters by items, NaN where there is none, as the package krippendorff takes it."""
    return np.array([[math.nan if value is None else value for value in item] for item in ratings]).T


def same(one, other):
    return np.array_equal(np.array(one), np.array(other), equal_nan=True)


def alpha(ratings):
    return krippendorff_alpha(rating_table(ratings))


def test_alpha_of_the_published_table():
    raters = [[None if cell == "." else float(cell) for cell in line.split()] for line in PUBLISHED.split("\n") if line]
    items = list(zip(*raters, strict=True))
    assert alpha(items) == pytest.approx(0.849, abs=5e-4)
    assert ordinal_alpha(rating_table(items)) == pytest.approx(0.815, abs=5e-4)


def test_alpha_by_hand():
    # Items (1, 2), (3, 3, 6) and a single 9, which is left out. n = 5, the mean of all is 3,
    # SS = 4 + 1 + 0 + 0 + 9 = 14. Within: (1, 2) has SS 1/2 and m / (m - 1) = 2: 1; (3, 3, 6) has mean 4,
    # SS 1 + 1 + 4 = 6 and m / (m - 1) = 3/2: 9. So alpha = 1 - 4/5 * (1 + 9) / 14 = 1 - 4/7 = 3/7.
    assert alpha([[1, 2], [None, 3, 3, 6], [9], []]) == pytest.approx(3 / 7, abs=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_equals_the_package_krippendorff(seed):
    ratings = with_gaps(seed, kept=rng(seed).uniform(0.3, 1))
    expected = krippendorff.alpha(reliability_data=as_matrix(ratings), level_of_measurement="interval")
    assert alpha(ratings) == pytest.approx(expected, abs=1e-12)


def test_alpha_equals_the_package_on_numbers_of_any_kind():
    ratings = [list(item) for item in rng(3).normal(1e3, 2, size=(15, 4))]
    expected = krippendorff.alpha(reliability_data=as_matrix(ratings), level_of_measurement="interval")
    assert alpha(ratings) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_ordinal_alpha_equals_the_package_krippendorff(seed):
    ratings = with_gaps(seed)
    expected = krippendorff.alpha(reliability_data=as_matrix(ratings), level_of_measurement="ordinal")
    assert ordinal_alpha(rating_table(ratings)) == pytest.approx(expected, abs=1e-12)


def test_ordinal_alpha_knows_the_order_alone():
    ratings = with_gaps(1)
    cubed = [[None if rating is None else rating**3 for rating in item] for item in ratings]
    assert ordinal_alpha(rating_table(cubed)) == pytest.approx(ordinal_alpha(rating_table(ratings)), abs=1e-14)
    assert alpha(cubed) != pytest.approx(alpha(ratings), abs=1e-3)


def test_ordinal_alpha_is_undefined_where_nothing_differs():
    assert math.isnan(ordinal_alpha(rating_table([[3, 3], [3, 3]])))
    assert math.isnan(ordinal_alpha(rating_table([[1], []])))


def test_alpha_knows_no_order_of_items_or_raters():
    ratings = with_gaps(1)
    shuffled = [list(rng(place).permutation(np.array(item, object))) for place, item in enumerate(ratings)]
    assert alpha(shuffled[::-1]) == pytest.approx(alpha(ratings), abs=1e-14)


@pytest.mark.parametrize(
    "ratings", [[], [[]], [[1, 2]], [[1, 2], [3, None]], [[0.1, 0.1], [0.1, 0.1, 0.1]], [[None, None]]]
)
def test_alpha_is_undefined(ratings):
    assert math.isnan(alpha(ratings))


def test_missing_ratings_count_nowhere():
    ratings = with_gaps(2)
    without = [[value for value in item if value is not None] for item in ratings]
    assert alpha(ratings) == alpha(without)
    for draw in (halves, one_and_others):
        assert same(draw(rating_table(ratings), 5, rng()), draw(rating_table(without), 5, rng()))
    assert reliability(ratings, None, 7) == reliability(without, None, 7)
    for one, other in (
        halves(rating_table([[5, None, 5, None]]), 50, rng()),
        one_and_others(rating_table([[None, 5, 5, None]]), 50, rng()),
    ):
        assert (one == 5).all()
        assert (other == 5).all()


def test_halves_are_every_split_equally_often():
    # Sums of different powers of two tell which ratings are in a half.
    first, second = halves(rating_table([[1, None, 2, 4, 8]]), 6000, rng())
    assert (first + second == 7.5).all()
    splits, times = np.unique(first * 2, return_counts=True)
    assert splits.tolist() == [3, 5, 6, 9, 10, 12]
    # A binomial of 6000 draws with 1/6 has a standard deviation of 28.9.
    assert abs(times - 1000).max() < 130


def test_the_second_half_of_an_odd_number_is_the_larger():
    first, second = halves(rating_table([[1, 2, 4]]), 3000, rng())
    pairs, times = np.unique(np.column_stack([first[:, 0], second[:, 0]]), axis=0, return_counts=True)
    assert pairs.tolist() == [[1, 3], [2, 2.5], [4, 1.5]]
    assert abs(times - 1000).max() < 130


def test_one_and_others():
    one, others = one_and_others(rating_table([[1, None, 2, 6], [7, 8]]), 3000, rng())
    pairs, times = np.unique(np.column_stack([one[:, 0], others[:, 0]]), axis=0, return_counts=True)
    assert pairs.tolist() == [[1, 4], [2, 3.5], [6, 1.5]]
    assert abs(times - 1000).max() < 130
    assert (one[:, 1] + others[:, 1] == 15).all()


def test_items_and_draws_are_independent():
    first, _ = halves(rating_table([[0, 1]] * 40), 400, rng())
    between_items = np.corrcoef(first.T)[np.triu_indices(40, 1)]
    between_draws = np.corrcoef(first[:40])[np.triu_indices(40, 1)]
    # 400 numbers have correlations of 0 +- 0.05, 40 numbers 0 +- 0.16.
    assert abs(between_items).max() < 0.25
    assert abs(between_draws).max() < 0.75


@pytest.mark.parametrize("draw", [halves, one_and_others])
def test_items_with_fewer_than_two_ratings(draw):
    one, other = draw(rating_table([[3], [1, 1], [], [None, 2]]), 4, rng())
    for side in (one, other):
        assert side.shape == (4, 4)
        assert (side[:, 1] == 1).all()
        assert np.isnan(side[:, [0, 2, 3]]).all()
    for ratings in ([], [[]], [[None]]):
        one, other = draw(rating_table(ratings), 3, rng())
        assert one.shape == other.shape == (3, len(ratings))
        assert np.isnan(one).all()
        assert np.isnan(other).all()


@pytest.mark.parametrize(("r", "doubled"), [(0.5, 2 / 3), (1, 1), (0, 0), (-0.5, -0.5), (-1, -1), (math.nan, math.nan)])
def test_spearman_brown(r, doubled):
    assert spearman_brown(r) == pytest.approx(doubled, nan_ok=True)


def test_reliability_by_hand():
    # (1, 1), (2, 2), (3, 5): only the third item's halves differ, so every draw correlates (1, 2, 3) with (1, 2, 5)
    # or the other way round. The deviations are (-1, 0, 1) and (-5, -2, 7) / 3: r = 4 / sqrt(2 * 26 / 3), which is
    # sqrt(12 / 13), and doubled 2r / (1 + r). Both have the ranks 1, 2, 3. One rater and the other are the same halves.
    # Alpha: n = 6, the mean is 7/3, SS = 1 + 1 + 4 + 4 + 9 + 25 - 6 * 49/9 = 34/3, within 2 * 2 = 4:
    # 1 - 5/6 * 4 * 3/34 = 1 - 5/17.
    r = math.sqrt(12 / 13)
    found = reliability([[1, 1], [2, None, 2], [3, 5], [9], []], None, 0)
    assert (found.n, found.fewest_raters, found.most_raters) == (3, 2, 2)
    assert found.alpha == pytest.approx(12 / 17, abs=1e-12)
    assert found.split_half == pytest.approx(2 * r / (1 + r), abs=1e-10)
    assert found.pearson == pytest.approx(r, abs=1e-10)
    assert found.spearman == pytest.approx(1, abs=1e-12)


def test_reliability_is_the_mean_over_every_choice():
    ratings = [[1, 2, 4], [3, 3, 1], [5, 4, 2], [2, 5, 5]]
    choices = list(itertools.product(range(3), repeat=4))
    one = np.array([[item[i] for item, i in zip(ratings, choice, strict=True)] for choice in choices])
    others = (np.array([sum(item) for item in ratings]) - one) / 2
    pearson = np.array(
        [stats.pearsonr(*pair).statistic for pair in zip(one, others, strict=True) if np.ptp(pair, 1).all()]
    )
    spearman = np.array(
        [stats.spearmanr(*pair).statistic for pair in zip(one, others, strict=True) if np.ptp(pair, 1).all()]
    )
    found = reliability(ratings, None, 0)
    # Four standard errors of a mean over 200 draws.
    assert found.pearson == pytest.approx(pearson.mean(), abs=4 * pearson.std() / math.sqrt(200))
    assert found.spearman == pytest.approx(spearman.mean(), abs=4 * spearman.std() / math.sqrt(200))
    # Of three ratings, the first half is one and the second the others.
    assert found.split_half == pytest.approx(spearman_brown(pearson.mean()), abs=0.3)


def test_raters_who_agree():
    found = reliability([[value] * (2 + value % 3) for value in range(20)], None, 0)
    assert (found.n, found.fewest_raters, found.most_raters) == (20, 2, 4)
    assert (found.alpha, found.split_half, found.pearson, found.spearman) == pytest.approx((1, 1, 1, 1), abs=1e-9)


def test_raters_who_answer_at_random():
    found = reliability(rng(5).integers(1, 6, size=(2000, 4)).astype(float).tolist(), None, 0)
    # Correlations of 2000 pairs are 0 +- 0.022; doubling doubles that.
    assert abs(found.alpha) < 0.05
    assert abs(found.split_half) < 0.1
    assert abs(found.pearson) < 0.05
    assert abs(found.spearman) < 0.05


def test_split_half_is_the_reliability_of_the_mean():
    # Quality and noise have variance 1: the mean over 4 raters has reliability 1 / (1 + 1/4) = 0.8, one rater
    # correlates with the mean of three others by 1 / sqrt(2 * 4/3) = 0.612, and alpha is 1 / 2.
    random = rng(6)
    ratings = random.normal(size=(5000, 1)) + random.normal(size=(5000, 4))
    found = reliability(ratings.tolist(), None, 0)
    assert found.split_half == pytest.approx(0.8, abs=0.015)
    assert found.pearson == pytest.approx(math.sqrt(3 / 8), abs=0.02)
    assert found.alpha == pytest.approx(0.5, abs=0.02)


def test_the_seed_decides():
    ratings = with_gaps(4)
    assert reliability(ratings, None, 1) == reliability(ratings, None, 1)
    assert reliability(ratings, None, 1) != reliability(ratings, None, 2)


def test_blocks_of_draws_are_as_good_as_one(monkeypatch):
    ratings = with_gaps(4)
    whole = reliability(ratings, None, 1)
    monkeypatch.setattr("dialogauge.stats.reliability._CELLS", 1000)
    cut = reliability(ratings, None, 1)
    assert cut != whole
    for number in ("split_half", "pearson", "spearman"):
        assert getattr(cut, number) == pytest.approx(getattr(whole, number), abs=0.03)


def test_nobody_rated_twice():
    assert reliability([], None, 0) is None
    assert reliability([[1], [None, 2], []], np.array([0, 0, 1]), 0) is None


@pytest.mark.parametrize("groups", [None, np.array([5, 5, 2, 2])])
def test_fewer_than_three_points(groups):
    found = reliability([[1, 2], [3, 5]] if groups is None else [[1, 2], [3, 5], [2, 2], [4, 1]], groups, 0)
    assert math.isfinite(found.alpha)
    assert np.isnan([found.split_half, found.pearson, found.spearman]).all()


@pytest.mark.parametrize("value", [3, 0.1])
def test_ratings_that_never_differ(value):
    found = reliability([[value] * count for count in (2, 3, 4, 5, 6, 7)], None, 0)
    assert found.n == 6
    assert np.isnan([found.alpha, found.split_half, found.pearson, found.spearman]).all()


def test_means_that_differ_by_rounding_are_ties():
    # Sums of three to nine equal ratings round differently; without care they would be ranked by that.
    ratings = [[value] * count for value in (0.1, 0.2, 0.3, 0.7) for count in range(3, 10)]
    assert reliability(ratings, None, 0).spearman == pytest.approx(1, abs=1e-12)


def test_groups_by_hand():
    # Again r = sqrt(12 / 13): group 4 is (1, 1), group 8 with (0, 0) and (4, 4) is (2, 2), and group 1 with (2, 6) and
    # (4, 4) is (3, 5). The 100s that one rater alone gave stay out.
    ratings = [[100], [1, 1], [0, 0], [4, 4], [100, None], [2, 6], [4, 4]]
    groups = np.array([8, 4, 8, 8, 1, 1, 1])
    r = math.sqrt(12 / 13)
    found = reliability(ratings, groups, 0)
    assert found.n == 5
    assert found.split_half == pytest.approx(2 * r / (1 + r), abs=1e-10)
    assert found.pearson == pytest.approx(r, abs=1e-10)
    assert found.spearman == pytest.approx(1, abs=1e-12)
    # Alpha is of the items themselves.
    assert found.alpha == alpha(ratings)


def test_noise_averages_out_within_groups():
    random = rng(8)
    groups = np.repeat(np.arange(100), 30)
    ratings = (random.normal(size=100)[groups, None] + random.normal(0, 3, size=(3000, 3))).tolist()
    # One item: 1 of quality, 9 of noise; the mean over 30 items: 1 of quality, 0.3 of noise.
    assert reliability(ratings, None, 0).pearson < 0.25
    assert reliability(ratings, groups, 0).pearson > 0.7


def test_memory_is_bounded_by_what_comes_back():
    table = rng().random((10_000, 10))
    tracemalloc.start()
    try:
        halves(table, 20, rng())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # 1.6 MB for each of the two arrays, and a few of 0.8 MB for the draw; all draws at once would take over 48 MB.
    assert peak < 16e6
