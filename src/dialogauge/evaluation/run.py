"""Runs metrics over a corpus and gives every score its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.load import Loading
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.intervals import Resampler, method
from dialogauge.evaluation.measure import measure
from dialogauge.evaluation.resampling import Interval
from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.settings import Settings
from dialogauge.metrics.base import Metric
from dialogauge.metrics.registry import Request, parse_requests


def evaluate(
    corpus: Corpus | Loading,
    metrics: str | Metric | Request | Iterable[str | Metric | Request],
    *,
    systems: Sequence[str] | None = None,
    compat: str | None = None,
    encoder: str | None = None,
    dtype: str | None = None,
    cache: bool = True,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
    progress: bool = False,
) -> Result:
    """Scores every system of the corpus under every metric.

    `metrics` is a comma-separated string as on the command line ("bleu,distinct.1"), or a sequence of such
    strings and of Metric objects. Intervals come from resampling dialogues (else contexts), with the same
    resamples for all systems; past 200,000 turns, from the jackknife over groups of them. The same corpus,
    metrics and seed give the same result. `corpus` may also be a stream of turns (`dialogauge.stream`).

    `encoder` ("minilm", "roberta-base", a directory, "static:glove.txt") and `dtype` ("float32", "bfloat16") go to all
    metrics given by name that take one and have none of their own. What is encoded is kept on disk unless `cache` is
    off.
    """
    settings = Settings(seed, resamples, confidence)
    requests = parse_requests(metrics, compat, {"encoder": encoder, "dtype": dtype})
    measured = measure(corpus, requests, systems, compat, cache, progress)
    return Result(
        scores=score_all(measured.samples, requests, settings),
        columns=[request.name for request in requests],
        systems=measured.systems,
        files=measured.files,
        caveats=measured.caveats,
        settings=settings,
        unit=measured.unit,
        samples=measured.samples,
        compat=compat,
    )


def score_all(samples: Sequence[Sample], requests: Sequence[Request], settings: Settings) -> list[Score]:
    """The scores that were asked for, in the order of the requests, each once."""
    intervals = Resampler(samples, settings).intervals()
    scores = [
        score
        for request in requests
        for sample, bounds in zip(samples, intervals, strict=True)
        if sample.label == request.label
        for score in _scores(sample, bounds, request.part)
    ]
    return list(dict.fromkeys(scores))


def _scores(sample: Sample, intervals: Mapping[str, Interval], wanted: str | None) -> list[Score]:
    """The main value and the parts, or only the part that is wanted."""
    values = sample.metric.conclude(sample.summary)
    return [_score(sample, part, values[part], intervals[part]) for part in values if wanted in (None, part)]


def _score(sample: Sample, part: str, value: Any, interval: Interval) -> Score:
    # Where all resamples agree, their values may differ from the value by rounding.
    low, high = (defined(value if np.isclose(bound, value, rtol=1e-12, atol=0) else bound) for bound in interval)
    return Score(
        system=sample.system,
        metric=f"{sample.label}.{part}" if part else sample.label,
        value=defined(value),
        low=low,
        high=high,
        n=int(sample.summary.n),
        higher_is_better=sample.metric.higher_is_better,
        signature=sample.signature,
        interval=None if low is None else method(sample),
        units=sample.unit_count,
    )
