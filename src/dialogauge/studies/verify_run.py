"""Whether a kept run's numbers follow from what it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.turn import Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.endpoint.chat import is_chat
from dialogauge.errors import InputError
from dialogauge.evaluation.answer import find_answer
from dialogauge.evaluation.evaluate_corpus import score_all
from dialogauge.evaluation.forms import Forms
from dialogauge.evaluation.load_result import load_result
from dialogauge.evaluation.measure import Measured
from dialogauge.evaluation.pairs import all_pairs
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample, measure_all
from dialogauge.evaluation.saved import ANSWERS, is_run, load_runs, open_plain
from dialogauge.metrics.judge.judge import ModelJudge
from dialogauge.metrics.judge.replay import replayed_judge
from dialogauge.metrics.prepared import AnyPrepared, PlainMetric
from dialogauge.progress import progress_bar
from dialogauge.stats.arrays import one_blas_thread
from dialogauge.tables import Cell, Header, Table, counted

SCHEMA = "dialogauge.verification/1"
CLOSE = 1e-9
"""Two numbers agree where they differ by no more than this share of them: other processors round otherwise."""
ANSWER = {"url": str, "sample": int, "request": dict, "status": int, "answer": dict}
"""What a line of answers.jsonl holds."""
SHOWN = 20
"""As many numbers that differ are named in a table."""
ESTIMATES = ("value", "low", "high", "n", "units", "floor", "p", "needed")
PAIRS = ("difference", "low", "high", "p", "p_holm", "effect")
MEASURES, JUDGED, TURNS, SCORES, TESTS = "measures", "judgements", "values of turns", "scores", "tests between systems"
SOURCES = {
    MEASURES: "the kept texts",
    JUDGED: "the kept answers",
    TURNS: "the kept measures",
    SCORES: "the kept measures",
    TESTS: "the kept measures",
}
"""What each kind of number is derived from."""


@dataclass(frozen=True)
class CheckedNumbers:
    """One kind of number of one system under one metric: how many there are, and how many do not follow."""

    metric: str
    system: str
    kind: str
    numbers: int
    differ: int
    example: str = ""
    """One that differs: what is kept, and what follows."""


@dataclass(frozen=True, repr=False)
class Verification(Forms):
    """What `verify_run` gives."""

    run: str
    checks: list[CheckedNumbers]
    underived: list[str]
    """What does not follow from anything the run holds, and why."""

    @property
    def agrees(self) -> bool:
        return not any(check.differ for check in self.checks)

    def contents(self) -> str:
        return self.sentence()

    def sentence(self) -> str:
        """What it comes to."""
        numbers, differ = (sum(getattr(check, name) for check in self.checks) for name in ("numbers", "differ"))
        if not numbers:
            return "no number could be derived again"
        if not differ:
            return f"all {counted(numbers, 'number')} derived again agree with what is kept"
        return f"{differ} of {counted(numbers, 'number')} derived again differ from what is kept"

    def to_records(self) -> list[dict[str, Any]]:
        """One per kind of number, metric and system."""
        return [asdict(check) for check in self.checks]

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        found = {"schema": SCHEMA, "run": self.run, "agrees": self.agrees}
        return found | {"checks": self.to_records(), "not_derived": self.underived}

    def to_table(self) -> Table:
        """One row for each metric and kind of number."""
        headers = [
            Header("metric", align="left"),
            Header("numbers of", align="left"),
            Header("derived from", align="left"),
        ]
        headers += [Header("derived"), Header("agree"), Header("differ")]
        counts: dict[tuple[str, str], tuple[int, int]] = {}
        for check in self.checks:
            numbers, differ = counts.get((check.metric, check.kind), (0, 0))
            counts[check.metric, check.kind] = numbers + check.numbers, differ + check.differ
        rows = [
            [Cell(text) for text in (metric, kind, SOURCES[kind], str(numbers), str(numbers - differ), str(differ))]
            for (metric, kind), (numbers, differ) in counts.items()
        ]
        wrong = [check for check in self.checks if check.differ]
        notes = [self.sentence()]
        notes += [f"{check.metric} of {check.system}, {check.kind}: {check.example}" for check in wrong[:SHOWN]]
        notes += [f"and {len(wrong) - SHOWN} more: --format json"] if len(wrong) > SHOWN else []
        notes += [f"not derived: {text}" for text in self.underived]
        return Table(headers, rows, notes, "verification")


@one_blas_thread()
def verify_run(run: str | Path, *, progress: bool = False) -> Verification:
    """Derives every number of a kept run again from what it holds, and says which agree.

    Scores, intervals, floors, tests and values of single turns follow from the measures; the measures of metrics that
    look at texts alone follow from the texts, where they are kept. Measures that took a model cannot be derived
    without it, and are named.

    Args:
        run: A directory that `score --out` or `Result.save` wrote.
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
    if not is_run(path):
        raise InputError("expected a directory that `score --out` wrote, found none", path)
    kept = load_result(path)
    if not kept.samples:
        reason = "the run was too large to keep what it measured (more than 200,000 turns)"
        return Verification(str(run), [], [f"every number: {reason}"])
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
    checks, underived = [], dict[str, str]()
    with progress_bar(samples, shown=progress, unit="sample") as bar:
        for sample in bar:
            own = turns.get(sample.system, [])
            if isinstance(sample.metric, ModelJudge):
                try:
                    ready = replayed_judge(sample.metric, _answers(path), corpus)
                    checks.append(_measured_again(sample, own, ready, JUDGED))
                except InputError as error:  # answers that are gone
                    underived[sample.label] = error.message
            elif reason := _not_measured_again(sample):
                underived[sample.label] = reason
            else:
                ready = sample.metric.prepare(corpus, None, Encoders(None))
                checks.append(_measured_again(sample, own, ready, MEASURES))
    return checks, [f"what {label} noted of each turn: {reason}" for label, reason in underived.items()]


def _not_measured_again(sample: Sample) -> str | None:
    if not isinstance(sample.metric, PlainMetric):
        return "that takes an encoder or a model"
    if not type(sample.metric).__module__.startswith("dialogauge.") or ".py:" in sample.label:
        return "that takes code of yours, which is not run here"
    if sample.metric.label.startswith("column"):
        return "kept texts have no other columns"
    return None


def _answers(path: Path) -> list[dict[str, Any]]:
    try:
        with open_plain(path / ANSWERS) as file:
            records = [parse_object(line.decode("utf-8")) for line in file]
        for record in records:
            if any(not isinstance(record[name], kind) for name, kind in ANSWER.items()):
                raise ValueError(f"expected {', '.join(ANSWER)} in every line")
            if record["status"] == 200 and not is_chat(record["answer"]):
                raise ValueError("an answer without choices[0].message")
        return records
    except Exception as error:  # whatever comes of a file that is not as we wrote it
        raise InputError(f"{ANSWERS} cannot be read: {str(error) or type(error).__name__}") from error


def _measured_again(sample: Sample, turns: Sequence[Turn], ready: AnyPrepared, kind: str) -> CheckedNumbers:
    with progress_bar(shown=False) as bar:
        _, rows = measure_all({sample.label: ready}, turns, bar)[sample.label]
    rows = rows[np.flatnonzero(sample.metric.defined(rows))]
    kept, derived = sample.metric.pack(sample.rows), sample.metric.pack(rows)
    pairs = [(name, kept[name], derived.get(name)) for name in kept]
    return _check(sample.label, sample.system, kind, _array_pairs(pairs))


def _values(kept: Result, samples: Sequence[Sample]) -> list[CheckedNumbers]:
    """turns.parquet beside measures.npz."""
    checks = []
    for stored, sample in zip(kept.samples, samples, strict=True):
        derived = sample.metric.per_turn(sample.rows)
        if derived is None or stored.values is None:
            continue
        pairs = [("value", stored.values, np.asarray(derived)[: len(stored.values)])]
        checks.append(_check(sample.label, sample.system, TURNS, _array_pairs(pairs)))
    return checks


def _scores(kept: Result, measured: Measured, progress: bool) -> list[CheckedNumbers]:
    derived = score_all(measured.samples, measured.requests, kept.settings, floors=True, progress=progress)
    found = {(score.system, score.metric): score for score in derived}
    checks = []
    for score in kept.scores:
        again = found.get((score.system, score.metric))
        pairs = _pairs_of(score, again, ESTIMATES)
        checks.append(_check(score.metric, score.system, SCORES, pairs))
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
        checks.append(_check(metric, f"{pair.first} and {pair.second}", TESTS, _pairs_of(pair, again, PAIRS)))
    return checks


def _pairs_of(kept: Any, derived: Any, names: Sequence[str]) -> list[tuple[str, Any, Any]]:
    """The numbers of these names, but for those that neither has."""
    pairs = [(name, getattr(kept, name), getattr(derived, name, None)) for name in names]
    return [pair for pair in pairs if pair[1] is not None or pair[2] is not None]


def _array_pairs(arrays: Iterable[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """The numbers of arrays one by one; arrays of different shapes count as one number that differs."""
    for name, kept, derived in arrays:
        if derived is None or np.shape(kept) != np.shape(derived):
            yield name, f"{np.shape(kept)} numbers", "none" if derived is None else f"{np.shape(derived)}"
            continue
        for place, (one, other) in enumerate(zip(np.ravel(kept).tolist(), np.ravel(derived).tolist(), strict=True)):
            yield f"{name} {place}", one, other


def _check(metric: str, system: str, kind: str, pairs: Iterable[tuple[str, Any, Any]]) -> CheckedNumbers:
    numbers = differ = 0
    example = ""
    for name, kept, derived in pairs:
        numbers += 1
        if not _same(kept, derived):
            differ += 1
            example = example or f"{name} is {_said(kept)}, and {_said(derived)} follows"
    return CheckedNumbers(metric, system, kind, numbers, differ, example)


def _same(kept: Any, derived: Any) -> bool:
    if isinstance(kept, float | int) and isinstance(derived, float | int):
        if math.isnan(kept) or math.isnan(derived):
            return math.isnan(kept) and math.isnan(derived)
        return math.isclose(kept, derived, rel_tol=CLOSE, abs_tol=1e-12)
    return bool(kept == derived)


def _said(value: Any) -> str:
    return "nothing" if value is None else repr(value)
