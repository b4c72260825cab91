"""Systems on dialogues of their own."""

from dataclasses import dataclass, replace
from math import comb

import numpy as np
import pytest
from scipy.stats import ttest_ind

from dialogauge import compare
from dialogauge.corpus import Corpus, Turn
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import two_sample_test
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.dialogue.distinct import Distinct, word_rows
from dialogauge.metrics.dialogue.length import Column
from dialogauge.stats.significance import UnitSums


def sample(rows, dialogues=None, metric=None, system="s"):
    metric = metric or Column(column="v")
    units = np.arange(len(rows)) if dialogues is None else np.asarray(dialogues)
    return Sample(metric.label, system, metric, len(rows), "", units.astype(np.uint64), metric.summarise(rows), rows)


def numbers(*values):
    return np.array(values, dtype=np.float64)[:, None]


def drawn(rng, dialogues, spread=1.0, shift=0.0):
    """Dialogues of one to five turns that share a part of their score."""
    lengths = rng.integers(1, 6, size=dialogues)
    dialogue = np.repeat(np.arange(dialogues), lengths)
    values = shift + spread * (rng.normal(size=dialogues)[dialogue] + rng.normal(size=len(dialogue)))
    return sample(values[:, None], dialogue)


def test_a_p_value_counted_by_hand():
    # Of the 6 ways to deal out 0, 1, 3 and 4 in twos, {3, 4} against {0, 1} has the largest t, 3 / sqrt(1/4 + 1/4), and
    # so has its mirror; {0, 3} against {1, 4} has 1 / sqrt(9/4 + 9/4). p = 2/6, here within 3 standard errors.
    found = two_sample_test(sample(numbers(3, 4)), sample(numbers(0, 1)), "", Settings(), 20_000)
    assert found.values == (3.5, 0.5)
    assert found.p == pytest.approx(2 / comb(4, 2), abs=0.01)
    assert found.effect == pytest.approx(3 / 0.5**0.5)
    assert (found.test, found.units) == ("permutation", (2, 2))


def test_single_turns_have_welchs_statistic():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 25), rng.normal(0.5, 3, 60)
    found = UnitSums(np.concatenate([a, b]), np.ones(85)).studentised(np.repeat([1.0, 0.0], [25, 60])[None, :])
    expected = ttest_ind(a, b, equal_var=False)
    assert found[0] == pytest.approx(abs(expected.statistic))
    interval = two_sample_test(sample(a[:, None]), sample(b[:, None]), "", Settings(), 20_000).interval
    assert tuple(interval) == pytest.approx(tuple(expected.confidence_interval()), abs=0.05)


def test_dialogues_have_the_variance_of_a_ratio():
    # Two dialogues of 1 and 3 turns, with sums 1 and 9: the mean is 2.5; sums less size times mean are -1.5, 1.5;
    # 2/1 (1.5² + 1.5²) / 4² = 0.75².
    assert UnitSums(np.array([1.0, 9.0]), np.array([1.0, 3.0])).error(np.ones((1, 2))) == pytest.approx(0.75)


@dataclass(frozen=True)
class Jackknifed(Column):
    resampling = "jackknife"


def test_the_jackknife_of_means_gives_welchs_test():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 30), rng.normal(1, 4, 30)
    metric = Jackknifed(column="v")
    found = two_sample_test(sample(a[:, None], metric=metric), sample(b[:, None], metric=metric), "", Settings(), 1)
    expected = ttest_ind(a, b, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert tuple(found.interval) == pytest.approx(tuple(expected.confidence_interval()))
    assert found.effect == pytest.approx((a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
    assert found.test == "welch"


@pytest.mark.parametrize(("sizes", "spreads"), [((20, 60), (1, 1)), ((20, 60), (3, 1)), ((20, 60), (1, 3))])
def test_level(sizes, spreads):
    """400 pairs of equal systems, of which 20 are to be rejected at 5 %; benchmarks/two_sample_level.py has more."""
    rng = np.random.default_rng(3)
    rejected = 0
    for seed in range(400):
        pair = [drawn(rng, size, spread) for size, spread in zip(sizes, spreads, strict=True)]
        rejected += two_sample_test(*pair, "", Settings(seed=seed, resamples=1), 199).p <= 0.05
    assert 8 <= rejected <= 34  # 20 ± 3 standard errors


def test_an_interval_leaves_0_out_where_the_test_finds_a_difference():
    rng = np.random.default_rng(9)
    tests = [two_sample_test(drawn(rng, 20, shift=0.9), drawn(rng, 30), "", Settings(), 199) for _ in range(40)]
    clear = [found for found in tests if found.p != pytest.approx(0.05)]  # there a bound is 0, but for rounding
    different = [found.p < 0.05 for found in clear]
    assert different == [not found.interval.low <= 0 <= found.interval.high for found in clear]
    assert 5 < sum(different) < 35


def test_a_difference_is_found_and_its_interval_holds_it():
    rng = np.random.default_rng(4)
    found = two_sample_test(drawn(rng, 80, shift=1), drawn(rng, 50), "", Settings(), 999)
    assert found.p < 0.01
    assert 0 < found.interval.low < 1 < found.interval.high
    turned = two_sample_test(drawn(rng, 50), drawn(rng, 80, shift=1), "", Settings(), 999)
    assert turned.values[0] < turned.values[1]


@pytest.mark.parametrize("scale", [1e-155, 1e-13, 1e12])
def test_tiny_and_huge_values_are_tested_alike(scale):
    rng = np.random.default_rng(5)
    one, other = drawn(rng, 30, shift=0.5), drawn(rng, 40)
    found = two_sample_test(one, other, "", Settings(), 199)
    scaled = [sample(side.rows * scale, side.units) for side in (one, other)]
    again = two_sample_test(*scaled, "", Settings(), 199)
    assert again.p == found.p
    assert again.effect == pytest.approx(found.effect)


def test_what_cannot_be_tested():
    lone = two_sample_test(sample(numbers(1)), sample(numbers(1, 2, 3)), "", Settings(), 99)
    assert np.isnan(lone.p)
    assert np.isnan(lone.interval.low)
    same = two_sample_test(sample(numbers(1, 1, 1)), sample(numbers(1, 1)), "", Settings(), 99)
    assert same.p == 1.0
    assert np.isnan(same.effect)


def test_a_score_that_changes_with_the_number_of_turns_is_tested_at_one_size():
    rng = np.random.default_rng(6)
    texts = [" ".join(f"w{i}" for i in rng.zipf(1.4, size=8)) for _ in range(330)]
    small, large = (sample(word_rows(part), metric=Distinct()) for part in (texts[:30], texts[30:]))
    found = two_sample_test(small, large, "", Settings(), 99)
    assert found.units == (30, 30)
    assert found.values[1] > 1.1 * Distinct().conclude(large.summary)[""]
    assert found.p > 0.05
    assert two_sample_test(large, small, "", Settings(), 99).units == (30, 30)


def test_a_stream_is_cut_by_groups(monkeypatch):
    rng = np.random.default_rng(7)
    texts = [" ".join(f"w{i}" for i in rng.zipf(1.4, size=8)) for _ in range(1200)]
    turns = [Turn(str(i), text, (f"q{i}",), system="a" if i < 300 else "b") for i, text in enumerate(texts)]
    (rows,) = compare(Corpus(turns), "distinct").pairs
    monkeypatch.setattr("dialogauge.evaluation.measure.ROWS_FIT", 100)
    (streamed,) = compare(Corpus(turns), "distinct").pairs
    assert (rows.test, streamed.test) == ("welch", "welch")
    assert rows.second_units == 300
    assert streamed.second_units == pytest.approx(300, abs=20)
    assert min(rows.p, streamed.p) > 0.05


def test_the_table_says_that_nothing_is_paired():
    rng = np.random.default_rng(8)
    turns = [
        Turn(
            f"{system}{d}{k}", "x y", (f"{system} {d} {k}",), system=system, dialogue=str(d), extra={"v": rng.normal()}
        )
        for system, dialogues in (("a", 25), ("b", 40))
        for d in range(dialogues)
        for k in range(2)
    ]
    found = compare(Corpus(turns), "column[name=v]")
    text = str(found)
    assert (
        "two-sample test over dialogues (25 and 40), not paired since they share none: "
        "studentised permutation (1000 permutations, seed 0)" in text
    )
    assert "paired test over" not in text.replace("not paired", "")
    assert found.pairs_table().rows[0][-2].text == "25 and 40"
    assert found.to_dict()["pairs"][0]["paired"] is False
    assert "unpaired" in {caveat.code for caveat in found.caveats}
    some = [replace(turn, context=("same",)) if turn.dialogue in ("1", "2") else turn for turn in turns]
    assert "not paired since they share only 2: " in str(compare(Corpus(some), "column[name=v]"))


def test_the_test_is_told_in_words_and_cited():
    turns = [
        Turn(f"{system}{i}", "x y", (f"{system} {i}",), system=system, extra={"v": float(i % 7)})
        for system in "ab"
        for i in range(25)
    ]
    told = compare(Corpus(turns), "column[name=v],distinct").citation()
    words = (
        "Systems were compared over contexts of their own by studentised permutation (1000 permutations, seed 0) "
        "[chung2013exact] and Welch's test on the jackknife of each system [welch1947generalization];"
    )
    assert words in told.text()
    assert {"chung2013exact", "welch1947generalization"} <= {*told.bibtex}
