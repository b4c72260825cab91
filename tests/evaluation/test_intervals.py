import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation import compare, evaluate
from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.measure import measure
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import jackknife
from dialogauge.evaluation.units import add_all
from dialogauge.metrics.dialogue.distinct import Distinct
from dialogauge.metrics.dialogue.length import Column
from dialogauge.metrics.registry import parse_requests
from dialogauge.stats.resampling import student_mean


def test_bootstrap_interval_of_evaluate_is_that_of_the_mean():
    # The bootstrap distribution of a mean is nearly normal with standard error s / sqrt(n).
    values = np.random.default_rng(1).normal(size=400)
    corpus = Corpus([Turn(str(i), "x", extra={"v": float(v)}) for i, v in enumerate(values)])
    score = evaluate(corpus, "column[name=v]", resamples=4000).scores[0]
    reach = 1.96 * values.std() / 20
    assert score.low == pytest.approx(values.mean() - reach, abs=0.01)
    assert score.high == pytest.approx(values.mean() + reach, abs=0.01)


def test_intervals_of_few_contexts_are_as_wide_as_students():
    # Plain percentiles of so few resampled contexts would be .78 times as wide.
    values = np.random.default_rng(4).normal(size=(2, 8))
    turns = [
        Turn(str(i), "x", (str(i),), system=system, extra={"v": float(v)})
        for system, row in zip("ab", values, strict=True)
        for i, v in enumerate(row)
    ]
    score = evaluate(Corpus(turns), "column[name=v]", resamples=4000).score("a", "column[name=v]")
    (pair,) = compare(Corpus(turns), "column[name=v]", resamples=4000).pairs
    for ends, own in (((score.low, score.high), values[0]), ((pair.low, pair.high), values[0] - values[1])):
        student = student_mean(own)
        assert ends[1] - ends[0] == pytest.approx(student.high - student.low, rel=0.1)


def jackknife_of_mean(values, groups):
    """The jackknife of the mean of values, each its own unit, leaving out one group after the other."""
    metric = Column(column="v")
    summaries = [metric.summarise(values[groups == group][:, None]) for group in range(groups.max() + 1)]
    return jackknife(metric, add_all(summaries), summaries, np.bincount(groups))[""]


def test_jackknife_of_a_mean_is_the_textbook_standard_error():
    # Deleting single turns, the jackknife standard error of a mean is exactly s / sqrt(n).
    from scipy.stats import t

    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])
    found = jackknife_of_mean(values, np.arange(8))
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(8), rel=1e-12)
    reach = t.ppf(0.975, 7) * found.error
    assert found.interval(0.95) == pytest.approx((values.mean() - reach, values.mean() + reach), rel=1e-12)


def test_jackknife_of_groups_covers_the_truth():
    # 230 units in 50 groups of 4 or 5: the interval of a mean still covers 93 to 97 %.
    rng = np.random.default_rng(5)
    groups, covered = rng.permutation(np.arange(230) % 50), 0
    for _ in range(1000):
        low, high = jackknife_of_mean(rng.normal(size=230), groups).interval(0.95)
        covered += low <= 0 <= high
    assert 930 <= covered <= 970


def test_groups_of_unequal_size_by_hand():
    # Values 0 0 0 | 3 | 6 in groups of 3, 1 and 1 units: h = 5/3, 5, 5. The mean is 9/5; without each group it is
    # 9/2, 6/4, 3/4. Pseudo-values h m - (h - 1) m_j: 0, 3, 6 (the groups' means). Their centre is
    # 3 * 9/5 - (2/5 * 9/2 + 4/5 * 3/2 + 4/5 * 3/4) = 9/5. Variance (1/3) (81/25 / (2/3) + 36/25 / 4 + 441/25 / 4).
    values, groups = np.array([0.0, 0, 0, 3, 6]), np.array([0, 0, 0, 1, 2])
    expected = (81 / 25 * 3 / 2 + 36 / 25 / 4 + 441 / 25 / 4) / 3
    assert jackknife_of_mean(values, groups).error == pytest.approx(np.sqrt(expected), rel=1e-12)


def test_a_group_without_turns_changes_nothing():
    values, groups = np.array([3.0, 1.0, 4.0, 1.5]), np.arange(4)
    plain = jackknife_of_mean(values, groups)
    metric = Column(column="v")
    summaries = [*(metric.summarise(values[groups == g][:, None]) for g in groups), None]
    gap = jackknife(metric, add_all(summaries[:4]), summaries, np.array([1, 1, 1, 1, 0]))[""]
    assert (gap.value, gap.error, gap.freedom) == (plain.value, plain.error, plain.freedom)


def test_jackknife_of_a_difference_is_that_of_the_differences():
    rng = np.random.default_rng(0)
    a, b, groups = rng.normal(size=20), rng.normal(size=20), np.arange(20)
    difference = jackknife_of_mean(a, groups).minus(jackknife_of_mean(b, groups))
    assert difference.error == pytest.approx(jackknife_of_mean(a - b, groups).error, rel=1e-12)


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


def test_sizes_are_counted_in_units_not_turns():
    # Two turns in each of the first three dialogues, one in the others: every unit weighs the same.
    turns = [Turn(str(i), f"w{i % 4} v{i % 3}", dialogue=str(d)) for i, d in enumerate([0, 0, 1, 1, 2, 2, 3, 4, 5])]
    samples = measure(Corpus(turns), parse_requests("distinct")).samples
    found = Resampler(samples, Settings()).jackknife(samples[0])[""]
    assert found.sizes.tolist() == [1] * 6


@pytest.mark.parametrize("metric", [Distinct(), Column(column="v")])
def test_a_single_unit_has_no_interval(metric):
    corpus = Corpus([Turn("0", "hello you", context=("hi",), extra={"v": 1.0})])
    score = evaluate(corpus, metric).scores[0]
    assert (score.value, score.low, score.high, score.interval) == (1.0, None, None, None)
