import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.resampling import (
    bootstrap_weights,
    jackknife_groups,
    jackknife_intervals,
    percentile_interval,
)
from dialogauge.metrics.column import Column
from dialogauge.metrics.distinct import Distinct


def test_every_resample_draws_as_many_units_as_there_are():
    blocks = list(bootstrap_weights(7, 1000, np.random.default_rng(0)))
    weights = np.concatenate(blocks)
    assert weights.shape == (1000, 7)
    assert (weights.sum(axis=1) == 7).all()
    # Each unit is drawn once on average, with the binomial's variance 1 - 1/7.
    assert weights.mean() == pytest.approx(1)
    assert weights.var() == pytest.approx(1 - 1 / 7, rel=0.05)


def test_large_corpora_come_in_blocks(monkeypatch):
    monkeypatch.setattr("dialogauge.evaluation.resampling.CELLS_AT_ONCE", 30)
    blocks = list(bootstrap_weights(10, 100, np.random.default_rng(3)))
    assert [len(block) for block in blocks] == [3] * 33 + [1]
    assert (np.concatenate(blocks).sum(axis=1) == 10).all()


def test_bootstrap_interval_of_a_mean_covers_the_truth():
    # 1,000 draws of n = 100 from an exponential distribution of mean 1, each with its own 1,000 resamples.
    rng, draws, n = np.random.default_rng(2026), 1000, 100
    samples = rng.exponential(size=(draws, n))
    covered = 0
    for sample in samples:
        (weights,) = bootstrap_weights(n, 1000, rng)
        low, high = percentile_interval(weights @ sample / n, 0.95)
        covered += low <= 1 <= high
    assert 930 <= covered <= 970


def test_bootstrap_interval_of_evaluate_is_that_of_the_mean():
    # The bootstrap distribution of a mean is nearly normal with standard error s / sqrt(n).
    values = np.random.default_rng(1).normal(size=400)
    corpus = Corpus([Turn(str(i), "x", extra={"v": float(v)}) for i, v in enumerate(values)])
    score = evaluate(corpus, "column[name=v]", resamples=4000).scores[0]
    reach = 1.96 * values.std() / 20
    assert score.low == pytest.approx(values.mean() - reach, abs=0.01)
    assert score.high == pytest.approx(values.mean() + reach, abs=0.01)


def test_jackknife_of_a_mean_is_the_textbook_standard_error():
    # Deleting single turns, the jackknife standard error of a mean is exactly s / sqrt(n).
    from scipy.stats import t

    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])
    units = np.arange(8)
    interval = jackknife_intervals(Column(column="v"), values[:, None], units, units, 0.95)[""]
    reach = t.ppf(0.975, 7) * values.std(ddof=1) / np.sqrt(8)
    assert interval == pytest.approx((values.mean() - reach, values.mean() + reach), rel=1e-12)


def test_jackknife_of_groups_covers_the_truth():
    # 230 units in 50 groups of 4 or 5: the interval of a mean still covers 93 to 97 %.
    rng = np.random.default_rng(5)
    metric, units, covered = Column(column="v"), np.arange(230), 0
    groups = jackknife_groups(230, rng)
    for _ in range(1000):
        values = rng.normal(size=(230, 1))
        low, high = jackknife_intervals(metric, values, units, groups, 0.95)[""]
        covered += low <= 0 <= high
    assert 930 <= covered <= 970


def test_groups_are_of_nearly_one_size():
    sizes = np.bincount(jackknife_groups(230, np.random.default_rng(0)))
    assert len(sizes) == 50
    assert set(sizes.tolist()) == {4, 5}
    assert sorted(jackknife_groups(7, np.random.default_rng(0)).tolist()) == list(range(7))


def test_jackknife_interval_of_distinct_contains_its_value_and_narrows():
    rng = np.random.default_rng(0)
    vocabulary = [f"w{i}" for i in range(300)]
    widths = []
    for n in (40, 640):
        turns = [Turn(str(i), " ".join(rng.choice(vocabulary, 8))) for i in range(n)]
        score = evaluate(Corpus(turns), "distinct").scores[0]
        assert score.low < score.value < score.high
        widths.append(score.high - score.low)
    assert widths[1] < widths[0]


def test_jackknife_interval_stays_within_the_bounds():
    turns = [Turn(str(i), f"a{i} b{i}") for i in range(9)] + [Turn("9", "a1 b1 c d e f g h")]
    score = evaluate(Corpus(turns), "distinct").scores[0]
    assert score.high <= 1


@pytest.mark.parametrize("metric", [Distinct(), Column(column="v")])
def test_a_single_unit_has_no_interval(metric):
    corpus = Corpus([Turn("0", "hello you", context=("hi",), extra={"v": 1.0})])
    score = evaluate(corpus, metric).scores[0]
    assert (score.value, score.low, score.high, score.interval) == (1.0, None, None, None)
