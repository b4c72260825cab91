import json
import math

import numpy as np
import pytest

from dialogauge import compare, compare_runs, evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.kept.saved import load_runs
from dialogauge.evaluation.measure import measure
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import Pair, all_pairs, holm
from dialogauge.metrics.dialogue.distinct import Distinct
from dialogauge.metrics.overlap.bleu import Bleu
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


@pytest.mark.slow
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

    from dialogauge.evaluation.sample import jackknife
    from dialogauge.metrics.dialogue.length import Column
    from dialogauge.stats.resampling import t_test

    rng = np.random.default_rng(3)
    a, b = rng.normal(size=30), rng.normal(0.3, 1, size=30)
    metric, ones = Column(column="v"), np.ones(30, dtype=np.int64)
    first, second = (
        jackknife(metric, metric.summarise(x[:, None]), [metric.summarise(np.array([[v]])) for v in x], ones)[""]
        for x in (a, b)
    )
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
    assert comparison.beats("s0", "column[name=v]") == [f"s{k}" for k in range(1, 11)]


def test_only_shared_contexts_count_and_apart_systems_are_two_samples():
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
    assert (found.units, found.test, found.paired) == (0, "permutation", False)
    assert found.low < found.difference < found.high
    assert "untested_pairs" not in [caveat.code for caveat in apart.caveats]


def test_missing_values_are_not_shared_contexts():
    # a has numbers on the first fifty contexts only, b on the others: nothing can be paired.
    rows = [
        Turn(str(i), "x", (f"q{i}",), system=system, extra={"v": float(i)} if (i < 50) == (system == "a") else {})
        for system in "ab"
        for i in range(100)
    ]
    comparison = compare(Corpus(rows), "column[name=v]")
    (found,) = comparison.pairs
    assert (found.units, found.paired, found.first_units, found.second_units) == (0, False, 50, 50)
    assert "unpaired" in {caveat.code for caveat in comparison.caveats}


def test_one_shared_context_does_not_pair_systems():
    (found,) = compare(Corpus([*turns("a", range(50)), *turns("b", range(50), start=49)]), "column[name=v]").pairs
    assert (found.units, found.test, found.p) == (1, "permutation", 1.0)


def test_a_system_of_one_turn_is_not_tested():
    comparison = compare(Corpus([*turns("a", range(50)), *turns("b", [3], start=60)]), "column[name=v]")
    (found,) = comparison.pairs
    assert (found.low, found.p, found.effect, found.test) == (None, None, None, None)
    assert "untested_pairs" in [caveat.code for caveat in comparison.caveats]


@pytest.mark.parametrize("scale", [1e-155, 1e-13, 1.0, 1e12])
def test_tiny_and_huge_values_are_tested_alike(scale):
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.4, 1, 40), rng.normal(0, 1, 40)
    assert compare_values(a * scale, b * scale).p == compare_values(a, b).p
    assert compare_values(a * scale, b * scale).effect == pytest.approx(compare_values(a, b).effect)


def test_sums_beyond_all_numbers_are_undefined_and_numpy_says_nothing():
    found = compare_values([1e308] * 6, [1e308] * 6)  # any warning is an error here
    assert (found.difference, found.low, found.p, found.effect) == (None, None, None, None)


def test_ties_count_as_differing_as_much():
    # The differences 1 and -1 in turn: of the exchanges of n = 2, half give |0| >= 0 and all count.
    assert compare_values([1e6 + 1, 1e6], [1e6, 1e6 + 1]).p == 1.0


def test_a_constant_difference_has_no_effect_size():
    found = compare_values(np.arange(30) / 7 + 0.1, np.arange(30) / 7)
    assert found.effect is None
    assert found.better == "a"


def test_a_system_without_values_is_not_tested():
    rows = [*turns("a", range(30)), *(Turn(str(i), "x", (f"q{i}",), system="b") for i in range(30))]
    (found,) = compare(Corpus(rows), "column[name=v]").pairs
    assert (found.difference, found.p) == (None, None)


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


def test_a_run_is_concluded_once_to_see_whether_it_is_whole(two_runs, monkeypatch):
    concluded = []
    for metric in (Bleu, Distinct):
        plain = metric.conclude
        monkeypatch.setattr(
            metric, "conclude", lambda self, summary, plain=plain: concluded.append(self.name) or plain(self, summary)
        )
    load_runs(two_runs)
    assert sorted(concluded) == ["bleu", "bleu", "distinct", "distinct"]


def test_runs_measured_another_way_are_refused(two_runs, tmp_path):
    first = two_runs[0]
    rows = [Turn(str(i), "a b", (f"q{i}",), ("a b c1",), "bot") for i in range(60)]
    other = evaluate(Corpus(rows), "bleu[lowercase=true]").save(tmp_path / "other")
    with pytest.raises(InputError, match="no metric in common"):
        compare_runs([first, other])
    with pytest.raises(InputError, match="bleu is not in every run"):
        compare_runs([first, other], "bleu")
    record = json.loads((first / "run.json").read_text())
    for sample in record["samples"]:
        sample["signature"] = sample["signature"].replace("dialogauge:", "dialogauge:9.")
    (first / "run.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="cannot be compared by version"):
        compare_runs(two_runs, "bleu")


def test_a_damaged_run_is_named(two_runs):
    path = two_runs[1] / "measures.npz"
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for damaged in [b"PK\x03\x04 nothing", whole[: len(whole) // 2], *(_mutated(whole, rng) for _ in range(60))]:
        path.write_bytes(damaged)
        try:
            compare_runs(two_runs, "length")
        except InputError as error:
            refused += 1
            assert str(error).startswith(f"{two_runs[1]}: is not a whole run")  # noqa: PT017
    assert refused > 10


def _mutated(content, rng):
    changed = bytearray(content)
    for place in rng.integers(len(content), size=3):
        changed[place] ^= int(rng.integers(1, 256))
    return bytes(changed)


def test_a_run_whose_parts_do_not_fit_is_refused(two_runs):
    record = json.loads((two_runs[1] / "run.json").read_text())
    (two_runs[1] / "run.json").write_text(json.dumps({**record, "systems": {}}))
    with pytest.raises(InputError, match="do not fit together"):
        compare_runs(two_runs)


def test_the_same_run_twice_is_refused(two_runs):
    with pytest.raises(InputError, match="the same run is given twice"):
        compare_runs([two_runs[0], two_runs[0].parent / "." / "monday"])


def test_runs_on_other_contexts_are_said_to_be_unpaired(tmp_path):
    for name, start in (("x", 0), ("y", 40)):
        evaluate(Corpus(turns(name, range(60), start=start)), "column[name=v],distinct").save(tmp_path / name)
    comparison = compare_runs([tmp_path / "x", tmp_path / "y"])
    assert "unpaired" in [caveat.code for caveat in comparison.caveats]
    assert {pair.units for pair in comparison.pairs} == {20}


def test_each_system_is_held_against_the_one_of_its_name(tmp_path):
    rng = np.random.default_rng(8)
    base = rng.normal(size=60)
    for day, better in (("monday", 2.0), ("tuesday", 0.0)):
        rows = [*turns("good", base + 9 + better), *turns("poor", base + rng.normal(0, 0.1, 60))]
        evaluate(Corpus(rows), "column[name=v]").save(tmp_path / day)
    comparison = compare_runs([tmp_path / "monday", tmp_path / "tuesday"])
    guarded = {pair.second: pair.better for pair in comparison.against_baselines("column[name=v]")}
    assert guarded == {"tuesday/good": "monday/good", "tuesday/poor": None}
    turned = compare_runs([tmp_path / "monday", tmp_path / "tuesday"], systems=["tuesday/good", "monday/good"])
    (pair,) = turned.against_baselines("column[name=v]")
    assert (pair.first, pair.second, pair.better) == ("monday/good", "tuesday/good", "monday/good")
    assert (pair.low, pair.difference, pair.high) == pytest.approx((2, 2, 2))


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


def test_runs_with_one_encoder_in_two_places_are_compared(tmp_path):
    """Wherever the vectors lie and whatever their folders are called, what counts is what is in them."""
    turns = [Turn(str(i), f"hello w{i % 3}", (f"q{i}",), ("hello w1",), "bot") for i in range(30)]
    runs = []
    for name in ("a", "b,c]"):
        (tmp_path / name).mkdir()
        vectors = tmp_path / name / "g,[1].txt"
        vectors.write_text("hello 1 0\nw0 0 1\nw1 1 1\nw2 0 2\n")
        result = evaluate(Corpus(turns), "embedding_average", encoder=f"static:{vectors}")
        assert result.columns == ["embedding_average[encoder=static:g__1_.txt]"]
        runs.append(result.save(tmp_path / f"run{len(runs)}"))
    (pair,) = compare_runs(runs).pairs
    assert pair.difference == 0


def test_a_guard_is_found_without_its_options(tmp_path, capsys):
    from dialogauge.cli.main import main

    turns = [Turn(str(i), f"hello w{i % 3}", (f"q{i}",), ("hello w1",), "bot") for i in range(30)]
    runs = [str(evaluate(Corpus(turns), "bleu[lowercase=true]").save(tmp_path / name)) for name in ("one", "two")]
    assert main(["compare", *runs, "--fail-if-worse", "bleu"]) == 0
    assert main(["compare", *runs, "--fail-if-worse", "meteor"]) == 2
    assert "the runs have only bleu[lowercase=true]" in capsys.readouterr().err


def test_a_pair_on_part_of_its_contexts_says_so():
    rng = np.random.default_rng(9)
    turns = [
        Turn(f"{system}{i}", "x y", (f"question {i}",), system=system, extra={"v": rng.normal()})
        for system, contexts in (("a", range(40)), ("b", range(15, 55)))
        for i in contexts
    ]
    found = compare(Corpus(turns), "column[name=v]")
    assert [(pair.units, pair.paired) for pair in found.pairs] == [(25, True)]
    note = "a pair is compared on the contexts that both systems have"
    assert note in str(found)
    both = [turn for turn in turns if 15 <= int(turn.id[1:]) < 40]
    assert note not in str(compare(Corpus(both), "column[name=v]"))
