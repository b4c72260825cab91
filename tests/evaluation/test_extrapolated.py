"""Distances extrapolated to ever larger samples, and what intervals of distances are about."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dialogauge import evaluate
from dialogauge.corpus import Corpus
from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.options import Settings
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.distance.mmd import Mmd
from dialogauge.stats.resampling import Jackknife
from tests.encode.models import build
from tests.evaluation.measuring.test_real import conversations, responses
from tests.evaluation.test_floors import beside, estimates, paired

PLAIN, EXTRAPOLATED = Fbd(), Fbd(estimate="extrapolated")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("model") / "bert", hidden_size=8, num_attention_heads=2))


def squared_mean(values, groups):
    """The jackknife of the square of the mean, whose bias is the variance over n."""
    groups = np.asarray(groups)
    without = [values[groups != group].mean() ** 2 for group in range(groups.max() + 1)]
    return Jackknife(values.mean() ** 2, np.array(without), np.bincount(groups), extrapolated=True)


def test_a_bias_of_one_over_n_is_taken_away():
    # mean² has the expectation μ² + σ²/n; with single units the jackknife takes away exactly s²/n. By hand, for 1, 2
    # and 6: mean 3, s² = (4 + 1 + 9) / 2 = 7, so 9 - 7/3 = 20/3. Without each it is 16, 12.25 and 2.25, on average
    # 30.5/3, and 3·9 - 2·30.5/3 = 20/3.
    values = np.array([1.0, 2.0, 6.0])
    found = squared_mean(values, [0, 1, 2])
    assert found.without == pytest.approx([16, 12.25, 2.25])
    assert found.estimate == pytest.approx(20 / 3)
    assert found._replace(extrapolated=False).estimate == 9
    many = np.random.default_rng(0).normal(2, 3, size=30)
    assert squared_mean(many, np.arange(30)).estimate == pytest.approx(many.mean() ** 2 - many.var(ddof=1) / 30)


def test_a_bias_of_one_over_n_is_taken_away_with_groups_of_unequal_size():
    # 0 and 3 | 9, groups of 2 and 1 units: mean 4, so 16. Without the first 81, without the second 1.5² = 2.25.
    # The estimate is 2·16 - (1 - 2/3)·81 - (1 - 1/3)·2.25 = 32 - 27 - 1.5 = 3.5.
    found = squared_mean(np.array([0.0, 3.0, 9.0]), [0, 0, 1])
    assert found.estimate == pytest.approx(3.5)
    # A statistic that is a + b/n: without n_g of 10 units it is a + b/(10 - n_g), and the estimate is a whatever the
    # sizes. 2 + 5/10 = 2.5.
    sizes = np.array([1, 2, 3, 4])
    line = Jackknife(2.5, 2 + 5 / (10 - sizes), sizes, extrapolated=True)
    assert line.estimate == pytest.approx(2)


def test_groups_without_units_do_not_count():
    sizes, gap = np.array([1, 2, 3, 4]), np.array([1, 0, 2, 3, 4])
    without = 2 + 5 / (10 - gap)
    found = Jackknife(2.5, without, gap, extrapolated=True)
    assert found.estimate == pytest.approx(2)
    assert found.error == pytest.approx(Jackknife(2.5, 2 + 5 / (10 - sizes), sizes).error)
    assert np.isnan(Jackknife(2.5, np.array([2.5]), np.array([4]), extrapolated=True).estimate)


def test_the_interval_lies_around_the_estimate():
    found = squared_mean(np.random.default_rng(1).normal(1, 1, 20), np.arange(20))
    low, high = found.interval(0.95)
    assert (low + high) / 2 == pytest.approx(found.estimate)
    around_value = found._replace(extrapolated=False).interval(0.95)
    assert sum(around_value) / 2 == pytest.approx(found.value)
    assert high - low == pytest.approx(around_value.high - around_value.low)
    difference = found.minus(squared_mean(np.random.default_rng(2).normal(1, 1, 20), np.arange(20)))
    assert difference.extrapolated


@pytest.mark.parametrize("make", [paired, beside])
def test_the_extrapolated_distance_is_nearly_free_of_the_sizes_bias(make):
    # Both sides are of one distribution, whose distance from itself is 0; what 30 vectors in 6 dimensions score is
    # bias alone.
    rng, plain, extrapolated = np.random.default_rng(3), [], []
    for _ in range(60):
        x, y = rng.normal(size=(2, 30, 6))
        sample = make(EXTRAPOLATED, x, y)
        statistic = Resampler([sample], Settings()).jackknife(sample)[""]
        plain.append(statistic.value)
        extrapolated.append(statistic.estimate)
    assert np.mean(plain) > 0.8
    assert abs(np.mean(extrapolated)) < 0.15 * np.mean(plain)


@pytest.mark.parametrize("make", [paired, beside])
def test_the_plain_interval_is_for_another_sample(make):
    """Whose score varies as much as this one's: the interval is sqrt(2) times as wide as for the expected score."""
    x, y = np.random.default_rng(4).normal(size=(2, 50, 3))
    sample = make(PLAIN, x, y + 2)
    own = Resampler([sample], Settings()).jackknife(sample)[""].interval(0.95)
    found = estimates(sample)[""]
    assert found.interval.high - found.interval.low == pytest.approx(np.sqrt(2) * (own.high - own.low))
    assert sum(found.interval) / 2 == pytest.approx(found.value)


@pytest.mark.parametrize("metric", [EXTRAPOLATED, Mmd()], ids=lambda metric: metric.label)
@pytest.mark.parametrize("make", [paired, beside])
def test_intervals_for_the_population_are_the_jackknifes_own(metric, make):
    x, y = np.random.default_rng(5).normal(size=(2, 50, 3))
    sample = make(metric, x, y + 1)
    statistic = Resampler([sample], Settings()).jackknife(sample)[""]
    assert estimates(sample)[""].interval == pytest.approx(statistic.interval(0.95))
    assert estimates(sample)[""].value == pytest.approx(statistic.estimate)


def test_a_plain_interval_stays_above_zero_and_an_extrapolated_one_need_not():
    x, y = np.random.default_rng(6).normal(size=(2, 12, 2))
    plain, extrapolated = (estimates(paired(metric, x, y))[""].interval for metric in (PLAIN, EXTRAPOLATED))
    assert plain.low == 0
    assert extrapolated.low < 0


@pytest.mark.parametrize(("n", "m", "has"), [(3, 3, False), (4, 4, True), (3, 9, False), (9, 3, False), (4, 9, True)])
def test_with_no_more_vectors_than_dimensions_there_is_no_extrapolated_interval(n, m, has):
    rng = np.random.default_rng(7)
    real, generated = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    found, plain = (
        Resampler([sample], Settings()).estimates(floors=False)[0]
        for sample in (beside(EXTRAPOLATED, real, generated), beside(PLAIN, real, generated))
    )
    for part in ("", "mean", "covariance"):
        assert np.isfinite(found[part].value)
        assert np.isfinite(found[part].interval).all() == has
    assert np.isfinite(plain[""].interval).all()


def warnings_of(result, code="few_vectors"):
    return [caveat.message for caveat in result.caveats if caveat.code == code]


@pytest.mark.parametrize("given", [None, Corpus(conversations(40, 1))], ids=["references", "real"])
def test_a_run_says_where_there_is_no_interval(model, given):
    few, enough, many = (
        evaluate(Corpus(responses(count)), "fbd[est=extrapolated]", encoder=model, real=given) for count in (8, 9, 25)
    )
    (score,) = [score for score in few.scores if score.metric == few.columns[0]]
    assert (score.low, score.high, score.interval, score.interval_of) == (None, None, None, None)
    assert score.value is not None
    (message,) = warnings_of(few)
    assert "8 independent vectors on a side in 8 dimensions: with no more vectors than dimensions" in message
    score = enough.scores[0]
    assert score.low < score.value < score.high
    assert (score.interval, score.interval_of) == ("jackknife", "population")
    (message,) = warnings_of(enough)
    assert "9 independent vectors on a side in 8 dimensions: below 24 the interval can miss" in message
    assert warnings_of(many) == []


@pytest.mark.parametrize("few", ["system", "people"])
def test_vectors_of_one_dialogue_are_not_independent(model, few):
    """Twenty turns in five dialogues are five, on whichever side."""
    sizes = {"system": (20, 1), "people": (20, 1), few: (5, 4)}
    turns, people = (
        Corpus(conversations(*sizes[name], seed=seed, system=name)) for seed, name in enumerate(("system", "people"))
    )
    result = evaluate(turns, "fbd[est=extrapolated]", encoder=model, real=people)
    assert (result.scores[0].n, result.scores[0].low) == (20, None)
    (message,) = warnings_of(result)
    assert "5 independent vectors on a side in 8 dimensions" in message


def test_the_size_of_plain_samples_is_warned_of(model):
    few, many = (evaluate(Corpus(responses(count)), "fbd", encoder=model) for count in (23, 24))
    (message,) = warnings_of(few)
    assert (
        "23 independent vectors on a side in 8 dimensions: most of the score comes from the size of the sample"
        in message
    )
    assert few.scores[0].low is not None
    assert warnings_of(many) == []


def test_json_says_what_intervals_are_about(model):
    metrics = "fbd,fbd[est=extrapolated],prd,mmd,prdc,length,distinct"
    result = evaluate(Corpus(responses(30)), metrics, encoder=model, resamples=50)
    columns = [name.partition("[")[0] for name in result.columns]
    assert columns == ["fbd", "fbd", "prd", "mmd", "prdc", "length", "distinct"]
    found = {score["metric"]: score["interval_of"] for score in json.loads(result.to_json())["scores"]}
    assert [found[name] for name in result.columns] == [
        "another_sample",
        "population",
        "another_sample",
        "population",
        "another_sample",
        "expected",
        "expected",
    ]
    text = str(result)
    assert f"interval of {result.columns[0]}, {result.columns[2]}, {result.columns[4]}, which is what another" in text
    assert f"interval of {result.columns[1]}, {result.columns[3]}, for the distance of the populations" in text


def test_confidence_widens_the_interval(model):
    low, high = (
        evaluate(Corpus(responses(30)), "fbd", encoder=model, confidence=confidence).scores[0]
        for confidence in (0.8, 0.99)
    )
    assert high.high - high.low > low.high - low.low
    assert replace(high, low=0, high=0) == replace(low, low=0, high=0)
