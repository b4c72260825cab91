"""Systems compared by their distances from real responses, from turns and from saved runs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from dialogauge import compare, compare_runs, evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import all_pairs
from dialogauge.metrics.distance.fbd import Fbd
from tests.encode.models import build
from tests.evaluation.measuring.test_real import conversations, talk
from tests.evaluation.test_floors import beside, paired

DISTANCES = ["fbd", "fbd[est=extrapolated]", "prd[runs=2]", "mmd", "mmd[kernel=gaussian]", "prdc"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("model") / "bert", hidden_size=8, num_attention_heads=2))


def answers(system, count=40, seed=0, words=5, start=0):
    """On contexts numbered from `start`. With as many words as references have, nothing tells them apart."""
    said = np.random.default_rng([seed, 1])
    turns = []
    for number in range(start, start + count):
        shared = np.random.default_rng([number, 2])
        context, reference = f"{talk(shared)} {number}", talk(shared)
        turns.append(Turn(str(number), talk(said, words), (context,), (reference,), system))
    return turns


def test_prd_of_more_and_fewer_turns_is_not_tested(model):
    """Codebooks come from all turns of a system, and fewer turns leave codes empty: both say nothing of its replies."""
    turns = [*answers("many", 40), *answers("few", 12, seed=1, start=40)]
    (pair,) = compare(Corpus(turns), "prd[runs=2]", encoder=model).pairs
    assert (pair.p, pair.test, pair.better) == (None, None, None)
    (same,) = compare(Corpus([*turns[:12], *turns[40:]]), "prd[runs=2]", encoder=model).pairs
    assert same.p is not None


# Synthetic samples


def named(sample, system):
    return replace(sample, system=system)


@pytest.mark.parametrize("make", [paired, beside])
def test_the_difference_of_fbd_has_the_jackknife_of_the_differences(make):
    real, one, noise = np.random.default_rng(0).normal(size=(3, 40, 3))
    near, far = named(make(Fbd(), real, one), "near"), named(make(Fbd(), real, one + 1 + 0.3 * noise), "far")
    (pair,) = all_pairs([near, far], "", Settings())
    resampler = Resampler([near, far], Settings())
    statistics = [resampler.jackknife(sample)[""] for sample in (near, far)]
    value = statistics[0].value - statistics[1].value
    # Of n single units, the variance is (n - 1) / n times the sum of squares of the values without each.
    without = statistics[0].without - statistics[1].without
    n = 40 if make is paired else 80
    error = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    reach = t.ppf(0.975, n - 1) * error
    assert pair.difference == pytest.approx(value)
    assert (pair.low, pair.high) == pytest.approx((value - reach, value + reach))
    assert pair.p == pytest.approx(2 * t.sf(abs(value) / error, n - 1))
    assert (pair.test, pair.better, pair.units) == ("jackknife", "near", 40)


def test_what_both_systems_share_does_not_widen_the_difference():
    """Each score has a wide interval, but not the difference of two systems that answer nearly alike."""
    rng = np.random.default_rng(1)
    real, one = rng.normal(size=(2, 60, 3))
    first = named(paired(Fbd(), real, one), "first")
    second = named(paired(Fbd(), real, one + rng.normal(0, 0.02, size=(60, 3))), "second")
    (pair,) = all_pairs([first, second], "", Settings())
    (score, _) = Resampler([first, second], Settings()).estimates(floors=False)
    assert pair.high - pair.low < 0.2 * (score[""].interval.high - score[""].interval.low)


@pytest.mark.parametrize("make", [paired, beside])
def test_extrapolated_distances_differ_by_their_estimates(make):
    metric = Fbd(estimate="extrapolated")
    real, one, other = np.random.default_rng(2).normal(size=(3, 40, 3))
    samples = [named(make(metric, real, one), "one"), named(make(metric, real, 2 * other), "other")]
    (pair,) = all_pairs(samples, "", Settings())
    resampler = Resampler(samples, Settings())
    statistics = [resampler.jackknife(sample)[""] for sample in samples]
    assert pair.difference == pytest.approx(statistics[0].estimate - statistics[1].estimate)
    assert pair.difference != pytest.approx(statistics[0].value - statistics[1].value, rel=1e-3)
    assert (pair.low + pair.high) / 2 == pytest.approx(pair.difference)
    assert pair.better == "one"


# Turns and runs


@pytest.fixture(scope="module")
def corpus():
    return Corpus([*answers("good", seed=1), *answers("long", seed=2, words=11)])


@pytest.fixture(scope="module")
def real():
    return Corpus(conversations(20, 2, seed=3))


@pytest.mark.parametrize("given", [False, True])
def test_better_follows_the_direction_of_each_distance(corpus, real, model, given):
    found = compare(corpus, "fbd,prd,mmd,prdc", encoder=model, real=real if given else None)
    assert len(found.pairs) == 4
    for pair in found.pairs:
        assert pair.test == "jackknife"
        assert pair.units == 40
        assert (pair.difference > 0) == pair.metric.startswith("prd"), pair.metric
    assert found.pairs[0].better == "good"


def test_systems_on_other_contexts_are_tested_against_the_same_real_conversations(real, model):
    apart = Corpus([*answers("good", seed=1), *answers("long", seed=2, words=11, start=100)])
    found = compare(apart, "fbd,length", encoder=model, real=real)
    fbd, length = found.pairs
    assert fbd.units == length.units == 0
    assert fbd.p is not None
    assert fbd.low < fbd.difference < fbd.high < 0
    assert fbd.better == "good"
    assert (fbd.test, fbd.paired) == ("jackknife", False)
    # In standard deviations of a unit: with 40 of each, the standard error is that times the root of 1/40 + 1/40.
    error = (fbd.high - fbd.low) / 2 / 1.98
    assert fbd.effect == pytest.approx(fbd.difference / (error * 20**0.5), rel=0.02)
    assert (length.test, length.paired) == ("permutation", False)
    (alone,) = compare(apart, "fbd", encoder=model).pairs
    assert (alone.test, alone.better) == ("welch", "good")


def test_nothing_is_said_of_shared_contexts_where_none_are_needed(real, model):
    apart = Corpus([*answers("one", seed=1), *answers("other", seed=2, start=100)])
    codes = {caveat.code for caveat in compare(apart, "fbd", encoder=model, real=real).caveats}
    assert "unpaired" in codes
    assert not codes & {"few_shared", "untested_pairs"}


def test_systems_of_one_distribution_on_other_contexts_are_not_told_apart(real, model):
    apart = Corpus([*answers("one", seed=1), *answers("other", seed=2, start=100)])
    (pair,) = compare(apart, "fbd", encoder=model, real=real).pairs
    assert pair.p > 0.05
    assert pair.low < 0 < pair.high


def test_distances_that_grow_with_fewer_turns_are_compared_at_one_size(real, model):
    corpus = Corpus([*answers("long", 120, seed=1), *answers("short", 30, seed=2, start=500)])
    found = compare(corpus, f"fbd[encoder={model}],mmd[encoder={model}]", real=real)
    assert [(pair.first_units, pair.second_units) for pair in found.pairs] == [(30, 30), (120, 30)]
    assert found.pairs[0].p > 0.05
    assert "the larger system is cut by chance to as many" in str(found)


def test_only_shared_contexts_count_and_all_real_conversations(real, model):
    half = Corpus([*answers("good", seed=1), *answers("long", seed=2, words=11, start=20)])
    shared = Corpus([turn for turn in half if 20 <= int(turn.id) < 40])
    (found,) = compare(half, "fbd", encoder=model, real=real).pairs
    (expected,) = compare(shared, "fbd", encoder=model, real=real).pairs
    assert found.units == 20
    assert found.difference == pytest.approx(expected.difference)
    assert (found.low, found.high, found.p) == pytest.approx((expected.low, expected.high, expected.p))


def save(turns, metrics, folder, **given):
    """A run for each system."""
    return [
        evaluate(Corpus(own), metrics, **given).save(folder / system) for system, own in Corpus(turns).by_system.items()
    ]


@pytest.mark.parametrize("metric", DISTANCES)
@pytest.mark.parametrize("given", [False, True], ids=["references", "real"])
def test_runs_compare_as_their_turns_would(corpus, real, model, tmp_path, metric, given):
    given = {"encoder": model, "real": real if given else None}
    runs = save(corpus.turns, metric, tmp_path, **given)
    (direct,) = compare(corpus, metric, **given).pairs
    (found,) = compare_runs(runs).pairs
    if "gaussian" not in metric:
        assert found == direct
    # A bandwidth may be kept with fewer digits.
    assert (found.difference, found.low, found.high) == pytest.approx((direct.difference, direct.low, direct.high))
    assert (found.test, found.better) == (direct.test, direct.better)
    assert found.units == 40


def test_a_run_of_two_systems_against_real_conversations(corpus, real, model, tmp_path):
    given = {"encoder": model, "real": real}
    run = evaluate(corpus, "fbd", **given).save(tmp_path / "run")
    assert compare_runs([run]).pairs == compare(corpus, "fbd", **given).pairs
    assert {score.units for score in compare_runs([run]).scores} == {40}


def test_runs_on_other_contexts_against_the_same_real_conversations(real, model, tmp_path):
    apart = [*answers("good", seed=1), *answers("long", seed=2, words=11, start=100)]
    given = {"encoder": model, "real": real}
    runs = save(apart, "fbd", tmp_path, **given)
    (found,) = compare_runs(runs).pairs
    (direct,) = compare(Corpus(apart), "fbd", **given).pairs
    assert found == direct
    assert found.better == "good"


def test_runs_against_other_real_conversations_are_refused(corpus, real, model, tmp_path):
    good = [turn for turn in corpus if turn.system == "good"]
    others = Corpus(conversations(20, 2, seed=4))
    runs = [
        evaluate(Corpus(good), "fbd", encoder=model, real=given).save(tmp_path / str(number))
        for number, given in enumerate((real, others))
    ]
    with pytest.raises(InputError, match="fbd.* was measured another way"):
        compare_runs(runs)


def test_parts_are_compared(corpus, model):
    found = compare(corpus, "fbd,fbd.mean,fbd.covariance", encoder=model).pairs
    whole, mean, covariance = (pair.difference for pair in found)
    assert whole == pytest.approx(mean + covariance)
    assert len({pair.metric for pair in found}) == 3


def test_a_stream_compares_as_rows_do(corpus, real, model, monkeypatch):
    (rows,) = compare(corpus, "fbd", encoder=model, real=real).pairs
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 30)
    (streamed,) = compare(corpus, "fbd", encoder=model, real=real).pairs
    assert streamed.difference == pytest.approx(rows.difference)
    assert streamed.test == "jackknife"
    assert streamed.units == 40
    assert streamed.better == "good"


def test_a_comparison_has_no_floors(corpus, model):
    """They cost as much as everything else, and say nothing about which of two systems is better."""
    found = compare(corpus, "fbd", encoder=model)
    assert len(found.scores) == 6
    assert {score.floor for score in found.scores} == {None}
