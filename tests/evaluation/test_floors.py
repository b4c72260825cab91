"""Floors on vectors whose sides are known to be exchangeable, or not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dialogauge.encode.base import fully_covered
from dialogauge.evaluation.evaluate_corpus import score_all
from dialogauge.evaluation.floors import ALPHA, EXCHANGES, SWAPS, floor_caveats, floor_of, floors_of
from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.result import Score
from dialogauge.evaluation.sample import Groups, Sample
from dialogauge.metrics.distance.codebooks import codebooks
from dialogauge.metrics.distance.distribution import PreparedDistribution, RealPairs, RealSide
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.distance.frechet import frechet_distance
from dialogauge.metrics.distance.mmd import Mmd
from dialogauge.metrics.distance.paired_rows import PairedRows
from dialogauge.metrics.distance.prd import Codebooks, Prd, PreparedPrd
from dialogauge.metrics.distance.prdc import Prdc
from dialogauge.metrics.registry import Request

EXTRAPOLATED = Fbd(estimate="extrapolated")


def prepared(metric, real=None):
    """Of a metric, or of `prd` with its codebooks."""
    if isinstance(metric, PreparedPrd):
        return replace(metric, known=replace(metric.known, real=real))
    return PreparedDistribution(metric, RealSide(real), None)


def noted(ready, vectors):
    """What is noted of vectors: themselves, or of `prd` their codes."""
    return ready._codes(vectors, "s") if isinstance(ready, PreparedPrd) else vectors


def paired(metric, real, generated, units=None):
    """Row i of both sides answers one context."""
    keys = np.asarray(np.arange(len(real)) if units is None else units, dtype=np.uint64)
    uncut = np.zeros(len(real), dtype=np.bool_)
    ones = np.ones(len(real), dtype=np.int64)
    ready = prepared(metric)
    rows, metric = PairedRows.from_vectors(noted(ready, real), ones, noted(ready, generated), keys, uncut), ready.asked
    return Sample(metric.label, "s", metric, len(real), "", keys, metric.summarise(rows), rows)


def beside(metric, real, generated, size=1):
    """Real conversations other than the generated ones, both in dialogues of `size` rows."""
    own = np.asarray(np.arange(len(generated)) // size, dtype=np.uint64)
    keys = np.asarray(10**6 + np.arange(len(real)) // size, dtype=np.uint64)
    uncut, order = np.zeros(len(real), dtype=np.bool_), np.arange(len(real))
    pairs = RealPairs(real, keys, uncut, "digest", order, fully_covered(len(real)))
    ready = prepared(metric, pairs)
    none, uncut = np.zeros(len(generated), dtype=np.int64), np.zeros(len(generated), dtype=np.bool_)
    mine = PairedRows.from_vectors(noted(ready, real[:0]), none, noted(ready, generated), own, uncut)
    people, metric, m = ready.real_rows("s"), ready.asked, len(generated)
    rows = metric.join([mine, people])
    summary = metric.summarise(rows)
    return Sample(metric.label, "s", metric, m, "", rows.unit, summary, rows, real_units=keys, real_rows=people)


def estimates(sample, seed=0):
    return Resampler([sample], Settings(seed)).estimates()[0]


def estimate(sample, seed=0):
    return estimates(sample, seed)[""]


def dialogues(rng, count, size, d):
    """Rows of one dialogue share a third of their variance."""
    shared = np.repeat(rng.normal(size=(count, d)), size, axis=0)
    return (shared + np.sqrt(2) * rng.normal(size=(count * size, d))) / np.sqrt(3)


def null_swaps(metric, rng):
    """Responses and references share half their variance with their context, and nothing tells them apart."""
    context, x, y = rng.normal(size=(3, 30, 2))
    return estimate(paired(metric, x + context, y + context)).floor.p


def null_splits(metric, rng):
    return estimate(beside(metric, dialogues(rng, 20, 3, 2), dialogues(rng, 20, 3, 2), 3)).floor.p


@pytest.mark.slow
@pytest.mark.parametrize("draw", [null_swaps, null_splits])
@pytest.mark.parametrize("metric", [Fbd(), Mmd()], ids=lambda metric: metric.name)
def test_p_values_of_exchangeable_sides_are_roughly_uniform(metric, draw):
    # 60 p-values. Uniform ones lie below 0.05 three times on average, and more than nine times with a chance of 0.1 %;
    # the median's standard deviation is 0.5 / sqrt(60) = 0.065.
    rng = np.random.default_rng(4)
    found = np.array([draw(metric, rng) for _ in range(60)])
    assert np.mean(found < 0.05) <= 0.15
    assert 0.3 < np.median(found) < 0.7
    # And they are spread over the whole range.
    assert found.min() < 0.15
    assert found.max() > 0.85


def test_rows_of_one_dialogue_are_not_taken_for_independent_ones():
    """Twenty dialogues of five nearly equal rows: dealt out row by row, every dialogue would lie on both sides, and any
    other twenty dialogues would look different."""
    rng, found = np.random.default_rng(0), []
    for _ in range(8):
        real, generated = (np.repeat(rng.normal(size=(20, 2)), 5, axis=0) for _ in range(2))
        noise = rng.normal(0, 0.01, size=(2, 100, 2))
        found.append(estimate(beside(Fbd(), real + noise[0], generated + noise[1], 5)).floor)
    assert np.mean([floor.p < 0.05 for floor in found]) <= 0.25
    by_rows = estimate(beside(Fbd(), real + noise[0], generated + noise[1])).floor
    assert by_rows.value < 0.5 * found[-1].value
    assert by_rows.needed < 0.5 * found[-1].needed


@pytest.mark.parametrize("metric", [Fbd(), EXTRAPOLATED, Mmd(), Prdc()], ids=lambda metric: metric.label)
@pytest.mark.parametrize(("make", "draws"), [(paired, SWAPS), (beside, EXCHANGES)])
def test_a_shifted_side_has_the_smallest_p_there_is(metric, make, draws):
    x, y = np.random.default_rng(1).normal(size=(2, 40, 3))
    found = estimate(make(metric, x, y + 3))
    assert found.floor.p == 1 / (draws + 1)
    assert estimate(make(metric, x, y)).floor.p > ALPHA
    # Between the floor and the score lies what would be called different.
    ordered = [found.floor.value, found.floor.needed, found.value]
    assert ordered == sorted(ordered, reverse=metric.higher_is_better)
    assert len(set(ordered)) == 3


def test_the_floor_is_the_mean_over_all_exchanges_of_three_contexts():
    # Of the 8 exchanges of 3 contexts each is drawn 25 times in 200, give or take 5: the mean of the draws lies within
    # 3 standard errors (their deviation over sqrt(200)) of the mean of the 8.
    x, y = np.random.default_rng(2).normal(size=(2, 3, 2))
    values = []
    for swap in product([False, True], repeat=3):
        chosen = np.array(swap)[:, None]
        values.append(frechet_distance(np.where(chosen, y, x), np.where(chosen, x, y)))
    found = estimate(paired(Fbd(), x, y))
    assert found.value == pytest.approx(values[0], rel=1e-12)
    assert found.floor.value == pytest.approx(np.mean(values), abs=3 * np.std(values) / np.sqrt(SWAPS))
    as_bad = np.mean(np.array(values) >= values[0] * (1 - 1e-9))
    assert found.floor.p == pytest.approx(as_bad, abs=3 * 0.5 / np.sqrt(SWAPS))


class InTurn:
    """Draws all choices of two contexts, one after the other, in place of random ones."""

    def integers(self, high, size):
        assert (high, size) == (2, (SWAPS, 2))
        return np.array([[number % 2, number // 2 % 2] for number in range(SWAPS)])


def test_the_floor_of_two_contexts_by_hand(monkeypatch):
    # In one dimension, real 0 and 2, generated 5 and 9: means 1 and 7, variances 2 and 8.
    # As they are, and with both exchanged: (1 - 7)^2 + 2 + 8 - 2 sqrt(16) = 36 + 2.
    # With the first exchanged, real 5 and 2, generated 0 and 9: (3.5 - 4.5)^2 + 4.5 + 40.5 - 2 sqrt(182.25) = 1 + 18.
    # With the second, real 0 and 9, generated 5 and 2: the same. The floor is the mean, 18.5 + 10. Half of the draws
    # are as bad as the score: p = (1 + 100) / (1 + 200). For the covariances all are as bad as its 2.
    sample = paired(Fbd(), np.array([[0.0], [2.0]]), np.array([[5.0], [9.0]]))
    groups = Groups([sample.metric.summarise(sample.rows[[place]]) for place in range(2)], np.array([1, 1]))
    values = sample.metric.conclude(sample.summary)
    assert values == pytest.approx({"": 38, "mean": 36, "covariance": 2})
    monkeypatch.setattr(np.random, "default_rng", lambda *_: InTurn())
    found = floors_of(sample, sample.metric, groups, Settings())
    assert found[""][:3] == pytest.approx((28.5, 101 / 201, 38))
    assert found["mean"][:3] == pytest.approx((18.5, 101 / 201, 36))
    assert found["covariance"][:3] == pytest.approx((10, 1, 18))


def test_turns_of_one_context_change_places_together():
    # Two contexts of two turns each have two different exchanges: none and one of them. With half of the draws at the
    # larger value, the score needed is exactly that; single turns would reach larger ones.
    x, y = np.random.default_rng(1).normal(size=(2, 4, 1))

    def largest(blocks):
        values = []
        for swap in product([False, True], repeat=len(blocks)):
            chosen = np.zeros((4, 1), dtype=np.bool_)
            for block, of_block in zip(blocks, swap, strict=True):
                chosen[block] = of_block
            values.append(frechet_distance(np.where(chosen, y, x), np.where(chosen, x, y)))
        return max(values)

    assert largest([[0], [1], [2], [3]]) > 2 * largest([[0, 1], [2, 3]])
    assert estimate(paired(Fbd(), x, y, [0, 0, 1, 1])).floor.needed == pytest.approx(largest([[0, 1], [2, 3]]))


@pytest.mark.parametrize(("make", "draws"), [(paired, SWAPS), (beside, EXCHANGES)])
def test_where_higher_is_better_a_low_score_is_the_bad_one(make, draws):
    x, y = np.random.default_rng(3).normal(size=(2, 60, 2))
    alike, apart = (
        estimates(
            make(
                PreparedPrd(Prd(clusters=5, runs=2), Codebooks(None, {"s": codebooks(x, other, 5, 2)}), None), x, other
            )
        )
        for other in (y, y + 2)
    )
    for part in ("", "f8", "f1_8"):
        assert apart[part].floor.p == 1 / (draws + 1), part
        assert apart[part].value < apart[part].floor.needed < apart[part].floor.value < 1
        assert alike[part].floor.p > 0.05, part
        assert alike[part].floor.needed < alike[part].value
    # How far clusterings differ is no distance.
    assert apart["spread"].floor is None


@pytest.mark.parametrize(("n", "m"), [(60, 60), (120, 30), (60, 120)])
def test_splits_are_brought_to_the_sizes_at_hand(n, m):
    """On average over samples, the floor of n real rows and m generated ones is what m rows of the same distribution
    score. The parts of a split themselves are smaller, and would score about 1 + m / n times as high."""
    rng, d = np.random.default_rng(5), 4
    scores = [frechet_distance(rng.normal(size=(n, d)), rng.normal(size=(m, d))) for _ in range(200)]
    floors = [estimate(beside(Fbd(), *_both(rng, n, m, d))).floor.value for _ in range(10)]
    assert np.mean(floors) == pytest.approx(np.mean(scores), rel=0.15)


def _both(rng, n, m, d):
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


@pytest.mark.parametrize("n", [40, 240])
def test_swaps_give_what_exchangeable_sides_score(n):
    """Also for more than 200 contexts, which change places in groups."""
    rng, d = np.random.default_rng(7), 3
    scores = [frechet_distance(*rng.normal(size=(2, n, d))) for _ in range(200)]
    floors = [estimate(paired(Fbd(), *rng.normal(size=(2, n, d)))).floor.value for _ in range(10)]
    assert np.mean(floors) == pytest.approx(np.mean(scores), rel=0.15)


@pytest.mark.parametrize("make", [paired, beside])
def test_the_extrapolated_distance_has_a_floor_near_zero(make):
    rng = np.random.default_rng(8)
    plain, extrapolated = [], []
    for _ in range(5):
        x, y = rng.normal(size=(2, 60, 3))
        plain.append(estimate(make(Fbd(), x, y)).floor.value)
        extrapolated.append(estimate(make(EXTRAPOLATED, x, y)).floor.value)
    assert np.mean(plain) > 0.1
    assert abs(np.mean(extrapolated)) < 0.15 * np.mean(plain)


@pytest.mark.parametrize("higher", [True, False])
def test_scores_beyond_what_is_needed_are_called_different(higher):
    draws = np.random.default_rng(9).normal(size=100)
    needed = floor_of(draws, draws, 0.0, 0.0, higher, "swaps").needed
    worse = -1e-6 if higher else 1e-6
    at, beyond = (floor_of(draws, draws, needed + more, 0.0, higher, "swaps") for more in (0.0, worse))
    assert at.p > ALPHA >= beyond.p
    assert (at.value, at.needed) == (beyond.value, beyond.needed)


def test_the_test_of_an_extrapolated_score_is_that_of_the_plain_one():
    """Its level is exact; the score needed is moved by what extrapolation does to chance."""
    x, y = np.random.default_rng(9).normal(size=(2, 40, 3))
    for make in (paired, beside):
        plain, extrapolated = (estimate(make(metric, x, y)).floor for metric in (Fbd(), EXTRAPOLATED))
        assert plain.p == extrapolated.p
        assert plain.needed > extrapolated.needed


@pytest.mark.parametrize("make", [paired, beside])
@pytest.mark.parametrize("metric", [Fbd(), EXTRAPOLATED, Mmd(), Prdc()], ids=lambda metric: metric.label)
def test_same_seed_same_floor(metric, make):
    x, y = np.random.default_rng(10).normal(size=(2, 30, 3))
    first, again, other = (estimate(make(metric, x, y), seed) for seed in (1, 1, 2))
    assert first.floor == again.floor
    assert first.value == pytest.approx(other.value)
    assert first.floor.value != pytest.approx(other.floor.value)


def test_a_floor_does_not_depend_on_which_samples_stand_beside_it():
    x, y = np.random.default_rng(11).normal(size=(2, 30, 3))
    alone, other = paired(Fbd(), x, y), paired(Mmd(), x, y)
    (_, found) = Resampler([other, alone], Settings()).estimates()
    assert found == estimates(alone)


def test_the_way_follows_where_the_real_side_comes_from():
    """Never splits where both sides answer the same contexts, and never swaps where they do not."""
    x, y = np.random.default_rng(12).normal(size=(2, 30, 3))
    for metric in (Fbd(), Mmd(), Prdc()):
        ways = [{found.floor.way for found in estimates(make(metric, x, y)).values()} for make in (paired, beside)]
        assert ways == [{"swaps"}, {"splits"}]


def scores_of(sample):
    return {score.metric: score for score in score_all([sample], [Request(sample.metric)], Settings(), floors=True)}


def test_without_anything_to_exchange_there_is_no_floor():
    x, y = np.random.default_rng(13).normal(size=(2, 12, 2))
    for sample in (
        paired(Fbd(), x, y, np.zeros(12)),  # one context alone
        beside(Fbd(), x, y, 12),  # one dialogue on a side
        beside(Fbd(), x[:1], y),  # one real row
    ):
        score = scores_of(sample)["fbd"]
        assert (score.floor, score.p, score.needed, score.floor_from) == (None, None, None, None)


@pytest.mark.parametrize(
    ("score", "draws", "floor"),
    [
        # One of three draws is as bad as 2.5: p = (1 + 1) / (1 + 3).
        (2.5, [1.0, 2.0, np.nan, 3.0], (2.0, 0.5, 3.0)),
        (4.0, [1.0, np.nan], (1.0, 0.5, 1.0)),
        (2.5, [np.nan, np.nan], (np.nan, np.nan, np.nan)),
        (np.nan, [1.0, 2.0], (np.nan, np.nan, np.nan)),
    ],
)
def test_draws_without_a_value_are_left_out(score, draws, floor):
    found = floor_of(np.array(draws), np.array(draws), score, 0.0, False, "swaps")
    assert found[:3] == pytest.approx(floor, nan_ok=True)


@pytest.mark.parametrize("metric", [Fbd(), EXTRAPOLATED, Mmd()], ids=lambda metric: metric.label)
@pytest.mark.parametrize(("n", "m"), [(3, 3), (5, 2), (6, 200), (30, 150)])
def test_few_real_conversations_cause_no_warnings_of_numpy(metric, n, m):
    """Where halves are too small to say how fast the floor falls. (Warnings are errors in these tests.)"""
    rng = np.random.default_rng(15)
    found = estimate(beside(metric, *_both(rng, n, m, 2), size=1 if n < 30 else 3)).floor
    assert found is None or np.isnan(found.p) or 0 < found.p <= 1


def score(system, p, units=100, metric="fbd"):
    return Score(
        system, metric, 1.0, 0.5, 1.5, 50, False, "", "jackknife", "another_sample", units, 0.9, p, 1.4, "swaps"
    )


def test_scores_inside_their_floor_are_named():
    scores = [score("a", 0.4), score("b", 0.05, 30), score("c", 0.051), score("d", None), score("a", 0.9, metric="mmd")]
    (fbd,) = floor_caveats(scores, ["fbd"], "contexts")
    assert fbd.code == "inside_floor"
    assert "for a (p = 0.40), c (p = 0.05): the score is inside its floor" in fbd.message
    # The fewest units of those that are named.
    assert "With 100 contexts the test has little power" in fbd.message
    assert [caveat.message[:4] for caveat in floor_caveats(scores, ["fbd", "mmd"], "contexts")] == ["fbd:", "mmd:"]
    (many,) = floor_caveats([score("a", 0.4, 200)], ["fbd"], "contexts")
    assert "little power" not in many.message
    assert floor_caveats([score("a", 0.05)], ["fbd"], "contexts") == []


def test_an_uneven_split_gives_way_to_exchanges():
    # A split of 40 real units for 600 generated ones would leave two units in one of its parts.
    rng = np.random.default_rng(16)
    scores, floors = [], []
    for _ in range(6):
        found = estimate(beside(Fbd(), *_both(rng, 40, 600, 3), size=1))
        assert found.floor.way == "exchanges"
        scores.append(found.value)
        floors.append(found.floor.value)
    assert np.mean(floors) == pytest.approx(np.mean(scores), rel=0.35)


def test_several_references_have_no_floor():
    """They cannot change places with one response: the draws would have other sizes than the score."""
    rng = np.random.default_rng(17)
    keys = np.arange(20, dtype=np.uint64)
    for counts in (np.full(20, 3), np.full(20, 1)):
        real, generated = rng.normal(size=(counts.sum(), 3)), rng.normal(size=(20, 3))
        rows = PairedRows.from_vectors(real, counts, generated, keys, np.zeros(20, dtype=np.bool_))
        metric = Fbd(refs="all")
        sample = Sample("fbd", "s", metric, 20, "", keys, metric.summarise(rows), rows)
        assert (estimate(sample).floor is None) == (counts[0] == 3)
        assert ("no_floor" in {caveat.code for caveat in prepared(metric).caveats(sample.summary)}) == (counts[0] == 3)


def test_copies_are_called_equal():
    x = np.random.default_rng(18).normal(size=(30, 5))
    for metric in (Fbd(), Fbd(covariance="shrunk"), Mmd()):
        found = estimate(paired(metric, x, x.copy()))
        assert (found.value, found.floor.p) == (0.0, 1.0)


def test_draws_have_the_sizes_that_count(monkeypatch):
    """Of many real vectors only some are compared: a draw must leave the small side as large as it is."""
    monkeypatch.setattr("dialogauge.metrics.distance.mmd.LIMIT", 100)
    rng = np.random.default_rng(19)
    x, y = rng.normal(size=(1000, 4)), rng.normal(size=(50, 4)) + 0.8
    assert estimate(beside(Mmd(), x, y, size=1)).floor.p <= 0.02
