"""What a metric rewards: length, repetition of itself, order, its own family; what it notices; whether people agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Unpack

import numpy as np

from dialogauge.agreement.correlate_corpora import correlate
from dialogauge.agreement.result import Agreement, AgreementRow
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.errors import InputError, unknown
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.evaluate_corpus import evaluate
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, Settings, takes_run_options
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request
from dialogauge.stats.correlations import Resampling
from dialogauge.stats.resampling import IntervalEstimate
from dialogauge.studies.audit_result import NO_DIRECTION, QUESTIONS, Audit, AuditFinding, Question
from dialogauge.studies.damage import WHOLE, damage_findings
from dialogauge.studies.length_bias import LENGTH, length_bias
from dialogauge.studies.own_family import own_family
from dialogauge.studies.perturb import KINDS, references_as_system
from dialogauge.studies.sensitivity import check_plan
from dialogauge.studies.single_answers import first_preferred, flips_of_repeats, single_answers, spread_of_repeats
from dialogauge.studies.unit_bootstrap import over_units
from dialogauge.tables import in_words

RATIOS = (0.25, 0.5, 1.0)
"""The shares of responses that are damaged for the curve."""
APART = ("damage", "curve")
"""Questions that are asked of damaged corpora."""
NOT_RATED = "no turn is rated that it has a value for"
WHAT = {
    "position": "the reply shown first",
    "repeats": "answers about one reply",
    "flips": "pairs of answers about one reply",
}
ASKED_ONCE = "a judge is asked once about each reply; add samples=3,temperature=1,logprobs=false"
VALUES = {"position": first_preferred, "repeats": spread_of_repeats, "flips": flips_of_repeats}
NOT_REPEATED = {
    "position": "only a judge with a pairwise prompt chooses between two",
    "flips": ASKED_ONCE,
    "repeats": ASKED_ONCE,
}


@takes_run_options
def audit(
    corpus: CorpusLike,
    metrics: Metrics,
    *,
    questions: str | Iterable[str] = tuple(QUESTIONS),
    kinds: str | Iterable[str] = tuple(KINDS),
    ratios: Iterable[float] = RATIOS,
    of: Literal["response", "reference"] = "response",
    dimension: str | None = None,
    **options: Unpack[RunKeywords],
) -> Audit:
    """What a judge, or any other metric, rewards and what it notices.

    Args:
        corpus: Whatever holds turns, as for `evaluate`; with ratings, people's judgement is held against the metric's.
        metrics: As for `evaluate`.
        questions: Some of "length", "damage", "curve", "position", "repeats", "flips", "family" and "agreement".
        kinds: Ways to damage responses, those of `perturb`.
        ratios: Shares of the responses that are damaged for "curve".
        of: What is damaged: "response", or "reference" for people's replies, which have furthest to fall.
        dimension: What was rated, where there are several; by default "overall", else the first.
        **options: The fields of `RunOptions`.

    Returns:
        One finding for each metric and question, with its interval, what to hold it against, and a verdict; and what
        could not be asked, with the reason.

    Examples:
        >>> import dialogauge
        >>> found = dialogauge.audit("examples/rated.jsonl", "rouge_l", questions="length,agreement", resamples=200)
        >>> finding = found.finding("rouge_l", "agreement")
        >>> round(finding.value, 2), finding.verdict
        (0.36, 'agrees with people')
    """
    asked = _questions(questions)
    kinds, ratios = check_plan(kinds, ratios)
    if of not in ("response", "reference"):
        raise unknown("text to damage", of, ("response", "reference"))
    run = RunOptions(**options)
    requests = [request for request in run.requests(metrics) if request.label != LENGTH]
    if not requests:
        raise InputError(f"expected a metric to audit, found {LENGTH} alone")
    turns = as_corpus(corpus).select(run.systems or None)
    options["systems"] = None
    result = evaluate(turns, [*requests, LENGTH], **options)
    requests = [request for request in requests if request.name in result.columns]
    agreement = _agreement(turns, requests, dimension, options) if {"length", "agreement", "family"} & asked else None
    findings: list[AuditFinding] = []
    left_out: dict[tuple[str, str], list[str]] = {}
    for request in requests:
        for question in (each for each in QUESTIONS if each in asked and each not in APART):
            found = _ask(question, request, turns, result, agreement, run.settings)
            if isinstance(found, str):
                left_out.setdefault((request.label, found), []).append(question)
            else:
                findings += found
    wanted = {"damage": [WHOLE], "curve": [ratio for ratio in ratios if ratio]}
    wanted = {question: shares for question, shares in wanted.items() if question in asked}
    if wanted:
        base = references_as_system(turns) if of == "reference" else turns
        before = evaluate(base, requests, **options) if of == "reference" else result
        for request, name, each in damage_findings(requests, base, before, kinds, wanted, run.settings, options):
            if isinstance(each, str):
                left_out.setdefault((request.label, each), []).append(name)
            else:
                findings.append(each)
    return Audit(
        findings=sorted(findings, key=lambda each: ([r.name for r in requests].index(each.metric), _place(each))),
        left_out=[
            f"{in_words([each for each in QUESTIONS if each in named])} of {label}: {reason}"
            for (label, reason), named in left_out.items()
        ],
        metrics=[request.name for request in requests],
        signatures={request.name: _signature(result, request) for request in requests},
        systems=result.systems,
        files=result.files,
        caveats=list(result.caveats),
        settings=run.settings,
        unit=result.unit,
    )


def _place(finding: AuditFinding) -> int:
    return list(QUESTIONS).index(finding.question)


def _questions(given: str | Iterable[str]) -> set[Question]:
    names = [name.strip() for name in (given.split(",") if isinstance(given, str) else given)]
    for name in names:
        if name not in QUESTIONS:
            raise unknown("question", name, QUESTIONS)
    return {question for question in QUESTIONS if question in names}


def _signature(result: Result, request: Request) -> str:
    return next(sample.signature for sample in result.samples if sample.label == request.label)


def _views(result: Result, request: Request) -> list[tuple[Sample, Sample]]:
    """Each system's sample of the metric beside that of `length`."""
    lengths = {sample.system: sample for sample in result.samples if sample.label == LENGTH}
    return [(sample, lengths[sample.system]) for sample in result.samples if sample.label == request.label]


def _ask(
    question: Question,
    request: Request,
    corpus: Corpus,
    result: Result,
    agreement: Agreement | None,
    settings: Settings,
) -> list[AuditFinding] | str:
    """What is found, or why nothing is."""
    if question in ("length", "family") and request.metric.direction("") is None:
        return NO_DIRECTION
    if question == "length":
        rated = _rated_length(request, agreement)
        return rated or _plain_length(request, _views(result, request), settings)
    if question == "agreement":
        rows = [row for row in agreement.rows if row.metric == request.name] if agreement else []
        return [_agrees(row, agreement) for row in rows if agreement] or NOT_RATED
    if question == "family":
        return own_family(request, agreement, settings)
    return _repeated(question, request, corpus, result, settings)


def _agreement(
    corpus: Corpus, requests: Sequence[Request], dimension: str | None, options: RunKeywords
) -> Agreement | None:
    """At turn level, with `length` beside; None where nothing is rated, or no metric has values of single turns."""
    if not any(turn.ratings for turn in corpus):
        return None
    scoring = [request for request in requests if request.metric.scores_turns]
    if not scoring:
        return None
    return correlate(corpus, [*scoring, LENGTH], level="turn", dimension=dimension, **options)


def _agrees(row: AgreementRow, agreement: Agreement) -> AuditFinding:
    ceiling = agreement.ceiling(row.scope)
    if row.spearman is None or row.spearman_low is None or row.spearman_high is None:
        verdict = "undefined"
    elif row.spearman_low > 0:
        verdict = "agrees with people"
    else:
        verdict = "points the wrong way" if row.spearman_high < 0 else "no agreement shown"
    beside = None if ceiling is None else ceiling.reachable
    return AuditFinding(
        row.metric,
        "agreement",
        row.dimension,
        row.spearman,
        row.spearman_low,
        row.spearman_high,
        row.n,
        beside,
        verdict,
    )


def _rated_length(request: Request, agreement: Agreement | None) -> list[AuditFinding]:
    if agreement is None:
        return []
    found = [bias for bias in length_bias(agreement) if bias.metric == request.name]
    return [
        _slope(request.name, f"given {bias.dimension}", bias.given_rating, bias.n, defined(bias.people.value))
        for bias in found
    ]


def _plain_length(
    request: Request, views: Sequence[tuple[Sample, Sample]], settings: Settings
) -> list[AuditFinding] | str:
    """Without ratings, quality cannot be held: the slope is the metric's on length, whatever the quality."""
    values, lengths, units = [], [], []
    for sample, beside in views:
        if sample.values is None or beside.values is None:
            return "the metric has no values of single turns"
        by_id = dict(zip(beside.ids, np.asarray(beside.values).tolist(), strict=True))
        values += np.asarray(sample.values).tolist()
        lengths += [by_id[name] for name in sample.ids]
        units += sample.own_keys.tolist()
    sign = -1.0 if request.metric.direction("") is False else 1.0
    if len(values) < 3:
        return "fewer than three turns have a value"
    table = Resampling(sign * np.array(values)[:, None], np.log1p(np.array(lengths)))
    estimate = over_units(
        lambda weights: table.pearson(weights)[:, 0], np.unique(units, return_inverse=True)[1], settings
    )
    return [_slope(request.name, "quality not held", estimate, len(values), None)]


def _slope(metric: str, what: str, slope: IntervalEstimate, n: int, people: float | None) -> AuditFinding:
    value, low, high = map(defined, slope)
    if low is None or high is None:
        verdict = "undefined"
    else:
        verdict = "rewards length" if low > 0 else "punishes length" if high < 0 else "no slope shown"
    return AuditFinding(metric, "length", what, value, low, high, n, people, verdict)


def _repeated(
    question: Question, request: Request, corpus: Corpus, result: Result, settings: Settings
) -> list[AuditFinding] | str:
    """From a judge's single answers, which are kept by now."""
    from dialogauge.metrics.judge.judge import ModelJudge

    if not isinstance(request.metric, ModelJudge) or result.endpoints is None:
        return "only a judge answers more than once"
    found = single_answers(request.metric, corpus, result.endpoints)
    if isinstance(found, str):
        return found
    noted = [(unit, value) for unit, answers in found if (value := VALUES[question](answers)) is not None]
    if not noted:
        return NOT_REPEATED[question]
    values = np.array([value for _, value in noted])
    units = np.unique(np.array([unit for unit, _ in noted], dtype=np.uint64), return_inverse=True)[1]
    estimate = over_units(lambda weights: weights @ values / weights.sum(1), units, settings)
    value, low, high = map(defined, estimate)
    beside = 0.5 if question == "position" else 0.0
    if low is None or high is None:
        verdict = "undefined"
    elif question == "position":
        verdict = "prefers the first" if low > 0.5 else "prefers the second" if high < 0.5 else "no preference shown"
    else:
        verdict = "answers differ" if low > 0 else "answers agree"
    return [AuditFinding(request.name, question, WHAT[question], value, low, high, len(values), beside, verdict)]
