import json
import math

import numpy as np
import pytest

from dialogauge import compare, compare_runs, evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.measure import measure
from dialogauge.evaluation.pairs import Pair, all_pairs, holm
from dialogauge.evaluation.settings import Settings
from dialogauge.metrics.registry import parse_requests


def turns(system, values, start=0):
    return [
        Turn(str(i), f"well w{i}", (f"q{i}",), system=system, extra={"v": float(value)})
        for i, value in enumerate(values, start=start)
    ]


def compare_values(first, second, **more):
    corpus = Corpus([*turns("a", first), *turns("b", second)])
    return compare(corpus, "column[name=v]", **more).pairs[0]


def pair(first, second, p, difference=1.0):
    return Pair("m", first, second, difference, 0.0, 2.0, p, None, 1.0, 10, "randomisation", None)


def test_a_p_value_counted_by_hand():
    # Four contexts in which a is ahead by 1, 2, 3 and 4. Of the 16 exchanges only "none" and "all" differ by 10/4,
    # so p is 2/16; with 20,000 random exchanges the estimate lies within 3 standard errors of 0.0023.
    found = compare_values([1, 2, 3, 4], [0, 0, 0, 0], resamples=20_000)
    assert found.difference == 2.5
    assert found.p == pytest.approx(2 / 16, abs=0.007)
    assert found.test == "randomisation"


def test_effect_is_cohens_d_of_paired_samples():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.5, 1, 200), rng.normal(0, 1, 200)
    found = compare_values(a, b, resamples=5000)
    assert found.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1), rel=0.05)


def test_the_interval_is_that_of_the_paired_differences():
    # b is a plus noise: paired, the noise alone matters, not the large spread that both share.
    rng = np.random.default_rng(1)
    a = rng.normal(0, 50, 100)
    noise = rng.normal(0.3, 1, 100)
    found = compare_values(a + noise, a)
    reach = 1.96 * noise.std() / 10
    assert found.low == pytest.approx(noise.mean() - reach, abs=0.05)
    assert found.high == pytest.approx(noise.mean() + reach, abs=0.05)
    assert found.better == "a"


def test_the_randomisation_test_holds_its_level():
    # 1,000 pairs of equal systems on 60 contexts: 4 to 6 % are called different at 5 % (benchmarks/level.py draws
    # ten times as many).
    rng, rejected = np.random.default_rng(103), 0
    (request,) = parse_requests("column[name=v]")
    for _ in range(1000):
        shared = rng.normal(size=60)
        a, b = (shared + rng.exponential(size=60) for _ in range(2))
        corpus = Corpus([*turns("a", a), *turns("b", b)])
        samples = measure(corpus, [request]).samples
        (found,) = all_pairs(samples, "", Settings(seed=int(rng.integers(2**31)), resamples=999))
        rejected += found.p <= 0.05
    assert 40 <= rejected <= 60


def test_the_jackknife_test_holds_its_level_for_a_mean():
    # The jackknife's t-test of a mean is the paired t-test: compare with its formula.
    from scipy.stats import ttest_rel

    from dialogauge.evaluation.pairs import t_test
    from dialogauge.evaluation.resampling import jackknife
    from dialogauge.metrics.column import Column

    rng = np.random.default_rng(3)
    a, b = rng.normal(size=30), rng.normal(0.3, 1, size=30)
    metric, ones = Column(column="v"), np.ones(30, dtype=np.int64)
    first, second = (jackknife(metric, [metric.summarise(np.array([[v]])) for v in x], ones)[""] for x in (a, b))
    assert t_test(first.minus(second)) == pytest.approx(ttest_rel(a, b).pvalue, rel=1e-9)


def test_equal_systems_are_never_told_apart():
    values = np.random.default_rng(0).normal(size=30)
    found = compare_values(values, values)
    assert (found.difference, found.p, found.better) == (0.0, 1.0, None)
    corpus = Corpus([*turns("a", values), *turns("b", values)])
    (found,) = compare(corpus, "distinct").pairs
    assert (found.difference, found.p, found.better) == (0.0, 1.0, None)


def test_holm_by_hand():
    # Sorted p 0.01, 0.02, 0.04 times 3, 2, 1: 0.03, 0.04, 0.04 (never falling).
    pairs = [pair("a", "b", 0.02), pair("a", "c", 0.01), pair("b", "c", 0.04), pair("a", "d", None)]
    assert [p.p_holm for p in holm(pairs, True)] == pytest.approx([0.04, 0.03, 0.04, None])
    assert [p.p_holm for p in holm([pair("a", "b", 0.9), pair("a", "c", 0.8)], True)] == [1.0, 1.0]


@pytest.mark.parametrize(("higher_is_better", "better"), [(True, "a"), (False, "b"), (None, None)])
def test_better_follows_the_direction(higher_is_better, better):
    assert holm([pair("a", "b", 0.001)], higher_is_better)[0].better == better
    assert holm([pair("a", "b", 0.2)], higher_is_better)[0].better is None


def test_many_pairs_can_still_be_told_apart():
    # 11 systems make 55 pairs: with 1,000 exchanges no corrected p-value could fall below 55/1001.
    rng = np.random.default_rng(0)
    rows = [row for k in range(11) for row in turns(f"s{k}", rng.normal(3.0 * (k == 0), 1, 40))]
    comparison = compare(Corpus(rows), "column[name=v]")
    assert comparison.beaten_by("s0", "column[name=v]") == [f"s{k}" for k in range(1, 11)]


def test_only_shared_contexts_count_and_apart_systems_are_not_tested():
    rng = np.random.default_rng(0)
    half = Corpus([*turns("a", rng.normal(5, 1, 30)), *turns("b", rng.normal(0, 1, 30), start=15)])
    (found,) = compare(half, "column[name=v]").pairs
    assert found.units == 15
    assert found.better == "a"
    expected = np.mean([t.extra["v"] for t in half if t.system == "a"][15:]) - np.mean(
        [t.extra["v"] for t in half if t.system == "b"][:15]
    )
    assert found.difference == pytest.approx(expected)
    apart = compare(Corpus([*turns("a", [5, 6, 7]), *turns("b", [1, 2, 4], start=50)]), "column[name=v]")
    (found,) = apart.pairs
    assert (found.units, found.p, found.better) == (0, None, None)
    assert found.low < found.difference < found.high
    assert "untested_pairs" in [caveat.code for caveat in apart.caveats]


def test_one_system_cannot_be_compared():
    with pytest.raises(InputError, match="only the system 'a'"):
        compare(Corpus(turns("a", [1, 2])), "column[name=v]")


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(4)
    shifts = {"best": 2.0, "middle": 1.0, "worst": 0.0}
    rows = [row for name, shift in shifts.items() for row in turns(name, rng.normal(shift, 1, 80))]
    return compare(Corpus(rows), "column[name=v],length")


def test_marks_follow_the_tests(comparison):
    lines = str(comparison).split("\n")
    assert [line.split()[:2] for line in lines[2:5]] == [["a", "best"], ["b", "middle"], ["c", "worst"]]
    assert [" ".join(line.split()[3:-1]) for line in lines[2:5]] == ["b c", "c", ""]
    for found in comparison.pairs:
        significant = found.p_holm < 0.05 and found.metric != "length"
        assert (found.better is not None) == significant
    assert "(1000 exchanges, seed 0)" in str(comparison)


def test_forms(comparison):
    document = json.loads(comparison.to_json())
    assert document["schema"] == "dialogauge.comparison/1"
    assert len(document["pairs"]) == 6
    assert document["pairs"][0]["first"] == "best"
    assert len(comparison.to_csv().split("\n")) == 7
    assert len(comparison.to_frame()) == 6
    assert "\\toprule" in comparison.to_latex()
    assert comparison.to_markdown().count("\n| --- |") == 2
    assert math.isclose(comparison.pair("best", "worst", "column[name=v]").difference, 2, abs_tol=0.5)


@pytest.fixture
def two_runs(tmp_path):
    rng = np.random.default_rng(6)
    for name, shift in (("monday", 1.0), ("tuesday", 0.0)):
        rows = [
            Turn(str(i), f"a b{i % 9} c{int(shift)}", (f"q{i}",), ("a b c1",), "bot", extra={"v": float(v)})
            for i, v in enumerate(rng.normal(shift, 1, 60))
        ]
        evaluate(Corpus(rows), "column[name=v],bleu,rouge_l,distinct,length").save(tmp_path / name)
    return [tmp_path / "monday", tmp_path / "tuesday"]


def test_runs_compare_as_their_turns_would(two_runs):
    found = compare_runs(two_runs)
    assert list(found.systems) == ["monday/bot", "tuesday/bot"]
    assert found.columns == ["column[name=v]", "bleu", "rouge_l", "distinct", "length"]
    rng = np.random.default_rng(6)
    rows = []
    for name, shift in (("monday", 1.0), ("tuesday", 0.0)):
        rows += [
            Turn(str(i), f"a b{i % 9} c{int(shift)}", (f"q{i}",), ("a b c1",), f"{name}/bot", extra={"v": float(v)})
            for i, v in enumerate(rng.normal(shift, 1, 60))
        ]
    direct = compare(Corpus(rows), "column[name=v],bleu,rouge_l,distinct,length")
    assert found.pairs == direct.pairs
    assert found.pairs[0].better == "monday/bot"


def test_runs_measured_another_way_are_refused(two_runs, tmp_path):
    first = two_runs[0]
    rows = [Turn(str(i), "a b", (f"q{i}",), ("a b c1",), "bot") for i in range(60)]
    other = evaluate(Corpus(rows), "bleu[lowercase=true]").save(tmp_path / "other")
    with pytest.raises(InputError, match="no metric"):
        compare_runs([first, other])
    with pytest.raises(InputError, match="bleu is not in every run"):
        compare_runs([first, other], "bleu")
    record = json.loads((first / "run.json").read_text())
    for sample in record["samples"]:
        sample["signature"] = sample["signature"].replace("dialogauge:", "dialogauge:9.")
    (first / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="cannot be compared with this version's"):
        compare_runs(two_runs, "bleu")


def test_a_damaged_run_is_named(two_runs):
    (two_runs[1] / "measures.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InputError) as error:
        compare_runs(two_runs)
    assert str(error.value).startswith(f"{two_runs[1]}: is not a whole run")


def test_compare_from_group_summaries(monkeypatch):
    rng = np.random.default_rng(0)
    shared = rng.normal(size=2000)
    corpus = Corpus([*turns("a", shared + rng.normal(0.1, 0.5, 2000)), *turns("b", shared + rng.normal(0, 0.5, 2000))])
    (rows,) = compare(corpus, "column[name=v]").pairs
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    (grouped,) = compare(corpus, "column[name=v]").pairs
    assert (rows.test, grouped.test) == ("randomisation", "jackknife")
    assert grouped.difference == pytest.approx(rows.difference)
    assert grouped.high - grouped.low == pytest.approx(rows.high - rows.low, rel=0.3)
    assert grouped.better == rows.better == "a"
