"""Whether a kept run's numbers follow from what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dialogauge.agreement.load_agreement import is_agreement_run
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, quote
from dialogauge.evaluation.answer import find_answer
from dialogauge.evaluation.caveats import why_no_measures
from dialogauge.evaluation.evaluate_corpus import score_all
from dialogauge.evaluation.kept.load_result import load_result
from dialogauge.evaluation.kept.saved import is_run, load_runs
from dialogauge.evaluation.kept.texts import TEXTS
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.pairs import all_pairs
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample, measure_all
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import one_blas_thread
from dialogauge.studies.measured_again import ready_again
from dialogauge.studies.verification import (
    JUDGED,
    MEASURES,
    SCORES,
    TESTS,
    TURNS,
    CheckedNumbers,
    Verification,
    array_pairs,
    check_numbers,
    pairs_of,
)
from dialogauge.studies.verify_agreement import verify_agreement

ESTIMATES = ("value", "low", "high", "n", "units", "floor", "p", "needed")
PAIRS = ("difference", "low", "high", "p", "p_holm", "effect")


@one_blas_thread()
def verify_run(run: str | Path, *, progress: bool = False) -> Verification:
    """Derives every number of a kept run again from what it holds, and says which agree.

    Scores, intervals, floors, tests and values of single turns follow from the measures; the measures of metrics that
    look at texts alone follow from the texts, where they are kept. Measures that took a model cannot be derived
    without it, and are named. Correlations with people, tests between metrics and ceilings follow from the kept values
    and ratings.

    Args:
        run: A directory that `score --out`, `correlate --out`, `Result.save` or `Agreement.save` wrote.
        progress: Whether stderr shows how far it has come.

    Examples:
        >>> import dialogauge, tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run = dialogauge.evaluate("examples/everyday.jsonl", "rouge_l,length").save(Path(folder) / "run")
        ...     dialogauge.verify_run(run).agrees
        True
    """
    path = Path(run)
    if is_agreement_run(path):
        return verify_agreement(path, progress)
    if not is_run(path):
        raise InputError("expected a directory that `score --out` or `correlate --out` wrote, found none", path)
    kept = load_result(path)
    if not kept.samples:
        return Verification(str(run), [], [f"every number: the run {why_no_measures(kept.caveats)}"])
    measured, _ = load_runs([path])
    samples = measured.samples
    checks, underived = _measures(path, kept, samples, progress)
    checks += _values(kept, samples)
    checks += _scores(kept, measured, progress)
    checks += _tests(kept, samples)
    return Verification(str(run), checks, underived)


def _measures(
    path: Path, kept: Result, samples: Sequence[Sample], progress: bool
) -> tuple[list[CheckedNumbers], list[str]]:
    """What metrics noted, noted again where that takes nothing but the texts and the answers of endpoints."""
    if kept.texts is None:
        return [], ["what metrics noted of each turn: the run holds no texts"]
    corpus = Corpus(list(kept.texts))
    turns = corpus.by_system
    if missing := next((sample.system for sample in samples if sample.system not in turns), None):
        raise InputError(f"is not a whole run: {TEXTS}: holds no turn of {quote(missing)}", path)
    checks, underived = [], dict[str, str]()
    with progress_bar(samples, shown=progress, unit="sample") as bar:
        for sample in bar:
            own = turns.get(sample.system, [])
            try:
                ready = ready_again(sample.metric, sample.label, corpus, path)
                checks.append(_measured_again(sample, own, ready))
            except InputError as error:
                underived[sample.label] = error.message
    return checks, [f"what {label} noted of each turn: {reason}" for label, reason in underived.items()]


def _measured_again(sample: Sample, turns: Sequence[Turn], ready: AnyPrepared) -> CheckedNumbers:
    with progress_bar(shown=False) as bar:
        _, rows = measure_all({sample.label: ready}, turns, bar)[sample.label]
    rows = rows[np.flatnonzero(sample.metric.defined(rows))]
    kept, derived = sample.metric.pack(sample.rows), sample.metric.pack(rows)
    pairs = [(name, kept[name], derived.get(name)) for name in kept]
    kind = JUDGED if sample.metric.asks_endpoints else MEASURES
    return check_numbers(sample.label, sample.system, kind, array_pairs(pairs))


def _values(kept: Result, samples: Sequence[Sample]) -> list[CheckedNumbers]:
    """turns.parquet beside measures.npz."""
    checks = []
    for stored, sample in zip(kept.samples, samples, strict=True):
        derived = sample.metric.per_turn(sample.rows)
        if derived is None or stored.values is None:
            continue
        pairs = [("value", stored.values, np.asarray(derived)[: len(stored.values)])]
        checks.append(check_numbers(sample.label, sample.system, TURNS, array_pairs(pairs)))
    return checks


def _scores(kept: Result, measured: Measured, progress: bool) -> list[CheckedNumbers]:
    derived = score_all(
        measured.samples, measured.requests, kept.settings, measured.foreign, floors=True, progress=progress
    )
    found = {(score.system, score.metric): score for score in derived}
    checks = []
    for score in kept.scores:
        again = found.get((score.system, score.metric))
        pairs = pairs_of(score, again, ESTIMATES)
        checks.append(check_numbers(score.metric, score.system, SCORES, pairs))
    return checks


def _tests(kept: Result, samples: Sequence[Sample]) -> list[CheckedNumbers]:
    """Those behind the sentences on which system is ahead."""
    if kept.answer is None:
        return []
    metric = kept.answer.metric
    pairs = all_pairs([sample for sample in samples if sample.label == metric], "", kept.settings)
    scores = [score for score in kept.scores if score.metric == metric]
    derived = find_answer(pairs, scores, kept.unit, kept.settings)
    found = {(pair.first, pair.second): pair for pair in derived.pairs} if derived else {}
    checks = []
    for pair in kept.answer.pairs:
        again = found.get((pair.first, pair.second))
        checks.append(check_numbers(metric, f"{pair.first} and {pair.second}", TESTS, pairs_of(pair, again, PAIRS)))
    return checks
