"""Runs metrics over a corpus and gives every score its interval."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Unpack

import numpy as np

from dialogauge.corpus.frames import CorpusLike, as_source
from dialogauge.evaluation.answer import answer_by_default, answer_caveats
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.floors import floor_caveats
from dialogauge.evaluation.intervals import Estimate, Resampler, method
from dialogauge.evaluation.measure import measure
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.options import Metrics, RunKeywords, RunOptions, Settings, takes_run_options
from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import one_blas_thread


@takes_run_options
@one_blas_thread()
def evaluate(
    corpus: CorpusLike,
    metrics: Metrics | None = None,
    *,
    keep_texts: bool = False,
    keep_values: bool = True,
    **options: Unpack[RunKeywords],
) -> Result:
    """Scores every system of the corpus under every metric.

    Intervals come from resampling dialogues (else contexts), with the same resamples for all systems; past 200,000
    turns, from the jackknife over groups of them. The same corpus, metrics and seed give the same result.

    Args:
        corpus: Whatever holds turns: a Corpus, a path or several, a list of dicts or of Turns, a pandas or polars
            DataFrame, a Hugging Face `Dataset`, or a stream of turns (`dialogauge.stream`).
        metrics: A comma-separated string as on the command line ("bleu,distinct.1"), or a sequence of such strings and
            of Metric objects. A group ("overlap", "all") stands for its metrics. Left out, the default set: `gauge`
            where there are contexts, `bertscore` where there are references, `distinct` and `length`;
            `self_repetition` where a system has several turns in a dialogue; with `real` also `fbd` and `mmd`.
        keep_texts: Whether texts of a stream past 200,000 turns go to a temporary file as they pass, so that
            `Result.save` can write them. Those of anything smaller are at hand anyway.
        keep_values: Whether the values of so many turns go to a temporary file, for `turns_to_frame` and `save`.
        **options: The fields of `RunOptions`.

    Returns:
        The scores, each with its interval and signature, and what the reader must know of them.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.evaluate("examples/everyday.jsonl", "bleu,length", seed=1)
        >>> score = result.score("good", "bleu")
        >>> round(score.value, 2), round(score.low, 1), round(score.high, 1), score.n
        (18.06, 14.8, 21.2, 64)

        >>> records = [{"response": "so it is", "references": ["it is"]}, {"response": "why?", "references": ["no"]}]
        >>> dialogauge.evaluate(records, "rouge_l").score("system", "rouge_l").value
        0.4
    """
    run = RunOptions(**options)
    measured = measure_run(corpus, metrics, run, keep_texts=keep_texts, keep_values=keep_values)
    return concluded(measured, run)


def concluded(measured: Measured, run: RunOptions) -> Result:
    """The scores of what was measured."""
    columns = [request.name for request in measured.requests]
    scores = score_all(
        measured.samples, measured.requests, run.settings, measured.foreign, floors=True, progress=run.progress
    )
    caveats = [*answer_caveats(measured), *floor_caveats(scores, columns, measured.unit)]
    return Result(
        scores=scores,
        columns=columns,
        systems=measured.systems,
        files=measured.files,
        caveats=[*measured.caveats, *caveats],
        settings=run.settings,
        unit=measured.unit,
        samples=measured.samples,
        compat=run.compat,
        answer=answer_by_default(measured, scores, run.settings),
        texts=measured.texts,
        endpoints=measured.endpoints,
    )


def measure_run(
    corpus: CorpusLike,
    metrics: Metrics | None,
    run: RunOptions,
    *,
    keep_texts: bool = False,
    keep_values: bool = True,
) -> Measured:
    """What was asked for, and what its metrics noted about the corpus."""
    requests = run.requests(metrics)
    source, real = as_source(corpus), run.real_turns()
    return measure(
        source,
        requests,
        run.systems,
        run.compat,
        run.cache,
        run.progress,
        real,
        keep_texts=keep_texts,
        keep_values=keep_values,
        asking=run.asking,
        engine=run.engine_choice,
        language=run.language,
    )


def score_all(
    samples: Sequence[Sample],
    requests: Sequence[Request],
    settings: Settings,
    foreign: Collection[str] = (),
    floors: bool = False,
    progress: bool = False,
) -> list[Score]:
    """The scores that were asked for, in the order of the requests, each once. `foreign` are the labels of metrics that
    were made for other languages."""
    estimates = Resampler(samples, settings).estimates(floors, progress)
    scores = [
        score
        for request in requests
        for sample, found in zip(samples, estimates, strict=True)
        if sample.label == request.label
        for part, estimate in found.items()
        if request.part in (None, part)
        for score in [_score(sample, part, estimate, sample.label in foreign)]
    ]
    return list(dict.fromkeys(scores))


def _score(sample: Sample, part: str, estimate: Estimate, foreign: bool) -> Score:
    value, floor = estimate.value, estimate.floor
    # Where all resamples agree, their values may differ from the value by rounding.
    low, high = (
        defined(value if np.isclose(bound, value, rtol=1e-12, atol=0) else bound) for bound in estimate.interval
    )
    return Score(
        system=sample.system,
        metric=f"{sample.label}.{part}" if part else sample.label,
        value=defined(value),
        low=low,
        high=high,
        n=int(sample.summary.n),
        higher_is_better=sample.metric.direction(part),
        signature=sample.signature,
        interval=None if low is None else method(sample),
        interval_of=None if low is None else sample.metric.interval_of,
        units=sample.unit_count,
        floor=defined(floor.value) if floor else None,
        p=defined(floor.p) if floor else None,
        needed=defined(floor.needed) if floor else None,
        floor_from=floor.way if floor and defined(floor.value) is not None else None,
        other_language=foreign,
    )
