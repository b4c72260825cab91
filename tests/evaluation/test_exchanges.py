"""Exchanges that all pairs of systems share, and what takes their place where systems are very many."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.compare_systems import write_turns

from dialogauge import compare
from dialogauge.corpus import Corpus, Turn, load
from dialogauge.evaluation import exchanges
from dialogauge.evaluation.exchanges import exchanges_for
from dialogauge.evaluation.options import Settings
from dialogauge.metrics.registry import parse_request


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Six systems on twelve contexts."""
    path = tmp_path_factory.mktemp("turns") / "six.jsonl"
    write_turns(path, 6, contexts=12)
    return load(path)


def p_values(corpus, metrics="rouge_l,length", **options):
    found = compare(corpus, metrics, resamples=200, **options)
    return {(pair.metric, pair.first, pair.second): pair.p for pair in found.pairs}


def test_one_product_for_all_pairs_gives_what_each_pair_alone_would(corpus, monkeypatch):
    at_once = p_values(corpus)
    monkeypatch.setattr(exchanges, "_sums_of_means", lambda *_arguments: None)
    assert p_values(corpus) == at_once
    # As many numbers are drawn, in the same order, whatever is worked on at a time.
    for name in ("CACHED_CELLS", "CELLS_AT_ONCE"):
        monkeypatch.setattr(exchanges, name, 9000)
    assert p_values(corpus) == at_once
    monkeypatch.undo()
    monkeypatch.setattr(exchanges, "CACHED_CELLS", 9000)
    assert p_values(corpus) == at_once


def test_by_hand():
    """Four contexts, differences 1, 1, 1 and 3: of the 16 ways to turn signs, two differ by as much as 6."""
    turns = [
        Turn(str(place), "w " * (2 + (more if system == "b" else 0)), system=system)
        for place, more in enumerate((1, 1, 1, 3))
        for system in "ab"
    ]
    (p,) = p_values(Corpus(turns), "length", seed=3).values()
    assert p == pytest.approx(2 / 16, abs=0.06)


def test_systems_with_other_numbers_of_turns_in_a_dialogue_are_exchanged_one_by_one(monkeypatch):
    """After an exchange a system has another number of turns, by which its mean is divided."""
    rng = np.random.default_rng(0)
    turns = [
        Turn(
            f"{place}.{turn}",
            "w " * int(rng.integers(1, 9)),
            context=(f"q{place}",),
            system=system,
            dialogue=f"d{place}",
        )
        for place in range(8)
        for system, count in (("a", 1), ("b", 2))
        for turn in range(count)
    ]
    found = []
    count = exchanges._count_anew
    monkeypatch.setattr(exchanges, "_count_anew", lambda *given: found.append(1) or count(*given))
    p_values(Corpus(turns), "length")
    assert found


def test_how_many_exchanges():
    mean, total = (parse_request(name).metric for name in ("rouge_l", "bleu"))
    settings = Settings(resamples=1000)
    assert exchanges_for(mean, "", 2, settings) == 1000
    assert exchanges_for(mean, "", 11, settings) == exchanges_for(total, "", 11, settings) == 200 * 55
    assert exchanges_for(mean, "", 100, settings) == 200 * 4950
    assert exchanges_for(total, "", 41, settings) == exchanges_for(mean, "", 101, settings) == 0


def test_past_the_most_systems_the_jackknife_tests(corpus, monkeypatch):
    monkeypatch.setattr(exchanges, "MOST_SYSTEMS_BY_MEANS", 5)
    found = compare(corpus, "rouge_l", resamples=200)
    assert {pair.test for pair in found.pairs} == {"jackknife"}
    (caveat,) = [caveat for caveat in found.caveats if caveat.code == "many_systems"]
    assert caveat.message.startswith("6 systems are too many to exchange their replies for every pair")
    # Student's test of the differences, context by context.
    from scipy.stats import ttest_rel

    values = {sample.system: sample.values for sample in found.samples}
    for pair in found.pairs:
        expected = ttest_rel(values[pair.first], values[pair.second])
        assert pair.p == pytest.approx(expected.pvalue, rel=1e-6)
        assert pair.difference == pytest.approx(values[pair.first].mean() - values[pair.second].mean())


def test_past_the_most_systems_two_samples_have_welchs_test(monkeypatch):
    monkeypatch.setattr(exchanges, "MOST_SYSTEMS_BY_MEANS", 1)
    rng = np.random.default_rng(1)
    turns = [
        Turn(f"{system}{place}", "w " * int(rng.integers(1, 9)), context=(f"{system} asks {place}",), system=system)
        for system in "ab"
        for place in range(20)
    ]
    (pair,) = compare(Corpus(turns), "length", resamples=200).pairs
    assert (pair.test, pair.paired) == ("welch", False)


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "metric"), [(100, "rouge_l"), (100, "bleu"), (200, "rouge_l")])
def test_many_systems_stay_within_time_and_memory(tmp_path, systems, metric):
    path = tmp_path / "many.jsonl"
    write_turns(path, systems, contexts=50)
    command = [sys.executable, "-m", "dialogauge", "compare", str(path), "--metrics", metric, "-q", "--format", "csv"]

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (120, 120))

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=limited) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    assert used.ru_maxrss < 1_000_000  # kB
