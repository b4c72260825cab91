"""Runs metrics over a corpus and gives every score its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation import caveats
from dialogauge.evaluation.resampling import (
    NO_INTERVAL,
    Interval,
    bootstrap_values,
    bootstrap_weights,
    jackknife_groups,
    jackknife_intervals,
    percentile_interval,
)
from dialogauge.evaluation.result import Result, Score, Settings, TurnScores
from dialogauge.evaluation.units import Units, units_of
from dialogauge.metrics.base import Metric
from dialogauge.metrics.registry import Request, parse_requests

BATCH = 2048


@dataclass
class Sample:
    """What one metric noted about one system, and what follows from it."""

    label: str
    system: str
    metric: Metric
    turns: list[Turn]
    units: NDArray[np.int64]
    measures: Any
    summary: Any
    intervals: dict[str, Interval]


def evaluate(
    corpus: Corpus,
    metrics: str | Metric | Request | Iterable[str | Metric | Request],
    *,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
    progress: bool = False,
) -> Result:
    """Scores every system of the corpus under every metric.

    `metrics` is a comma-separated string as on the command line ("bleu,distinct.1"), or a sequence of such
    strings and of Metric objects. Intervals come from resampling dialogues (else contexts), with the same
    resamples for all systems. The same corpus, metrics and seed give the same result.
    """
    settings = Settings(seed, resamples, confidence)
    requests = parse_requests(metrics)
    prepared = {label: _ready(metric, corpus) for label, metric in {r.label: r.metric for r in requests}.items()}
    units = units_of(corpus)
    samples = _measure_all(prepared, corpus, units, progress)
    bootstrap_rng, jackknife_rng = np.random.default_rng(settings.seed).spawn(2)
    _bootstrap([s for s in samples if s.metric.resampling == "bootstrap"], units, settings, bootstrap_rng)
    _jackknife([s for s in samples if s.metric.resampling == "jackknife"], units, settings, jackknife_rng)
    scores = [score for request in requests for score in _scores(request, samples)]
    return Result(
        scores=list(dict.fromkeys(scores)),
        columns=[_name(request.label, request.part or "") for request in requests],
        systems={system: len(turns) for system, turns in corpus.by_system.items()},
        files=corpus.files,
        caveats=[
            *corpus.caveats,
            *caveats.of_corpus(corpus, units, prepared.values()),
            *_of_metrics(samples, corpus),
        ],
        settings=settings,
        unit=units.kind,
        turns=[values for sample in samples if (values := _turn_scores(sample)) is not None],
    )


def _ready(metric: Metric, corpus: Corpus) -> Metric:
    """The metric prepared for the corpus, if the corpus has what it needs."""
    if not any(_usable(metric, turn) for turn in corpus):
        wanted = " or ".join(" and ".join(sorted(need)) for need in metric.needs)
        raise InputError(f"{metric.name} needs {wanted}, and none of the corpus's {len(corpus)} turns has any")
    return metric.prepare(corpus)


def _usable(metric: Metric, turn: Turn) -> bool:
    given = {name for name in ("references", "context", "facts") if getattr(turn, name)}
    return any(need <= given for need in metric.needs)


def _measure_all(metrics: dict[str, Metric], corpus: Corpus, units: Units, progress: bool) -> list[Sample]:
    from tqdm import tqdm

    samples = []
    with tqdm(total=len(metrics) * len(corpus), unit="turn", disable=not progress, leave=False) as bar:
        for label, metric in metrics.items():
            bar.set_description(label)
            for system, turns in corpus.by_system.items():
                usable = [place for place, turn in enumerate(turns) if _usable(metric, turn)]
                kept = [turns[place] for place in usable]
                batches = []
                for start in range(0, max(len(kept), 1), BATCH):
                    batches.append(metric.measure(kept[start : start + BATCH]))
                    bar.update(len(batches[-1]))
                bar.update(len(turns) - len(kept))
                measures = metric.join(batches)
                summary = metric.summarise(measures)
                samples.append(Sample(label, system, metric, kept, units.of[system][usable], measures, summary, {}))
    return samples


def _bootstrap(samples: Sequence[Sample], units: Units, settings: Settings, rng: np.random.Generator) -> None:
    values: list[dict[str, list[Any]]] = [defaultdict(list) for _ in samples]
    for weights in bootstrap_weights(units.count, settings.resamples, rng):
        for sample, found in zip(samples, values, strict=True):
            for part, block in bootstrap_values(sample.metric, sample.measures, sample.units, weights).items():
                found[part].append(block)
    for sample, found in zip(samples, values, strict=True):
        enough = len(np.unique(sample.units)) > 1
        sample.intervals = {
            part: percentile_interval(np.concatenate(blocks), settings.confidence) if enough else NO_INTERVAL
            for part, blocks in found.items()
        }


def _jackknife(samples: Sequence[Sample], units: Units, settings: Settings, rng: np.random.Generator) -> None:
    groups = jackknife_groups(units.count, rng)
    for sample in samples:
        sample.intervals = jackknife_intervals(
            sample.metric, sample.measures, sample.units, groups, settings.confidence
        )


def _scores(request: Request, samples: Sequence[Sample]) -> list[Score]:
    return [
        _score(sample, part, value)
        for sample in samples
        if sample.label == request.label
        for part, value in sample.metric.conclude(sample.summary).items()
        if request.part in (None, part)
    ]


def _score(sample: Sample, part: str, value: Any) -> Score:
    # Where all resamples agree, their values may differ from the value by rounding.
    bounds = (value if np.isclose(bound, value, rtol=1e-12, atol=0) else bound for bound in sample.intervals[part])
    low, high = map(_defined, bounds)
    return Score(
        system=sample.system,
        metric=_name(sample.label, part),
        value=_defined(value),
        low=low,
        high=high,
        n=int(sample.summary.n),
        higher_is_better=sample.metric.higher_is_better,
        signature=sample.metric.signature,
        interval=None if low is None else sample.metric.resampling,
        units=len(np.unique(sample.units)),
    )


def _turn_scores(sample: Sample) -> TurnScores | None:
    values = sample.metric.per_turn(sample.measures)
    if values is None:
        return None
    return TurnScores(sample.system, sample.label, [turn.id for turn in sample.turns], values)


def _of_metrics(samples: Sequence[Sample], corpus: Corpus) -> list[Caveat]:
    found: list[Caveat] = []
    for label in dict.fromkeys(sample.label for sample in samples):
        mine = [sample for sample in samples if sample.label == label]
        total = reduce(add, (sample.summary for sample in mine))
        found += caveats.of_metric(label, mine[0].metric, sum(len(s.turns) for s in mine), total, len(corpus))
    return found


def _name(label: str, part: str) -> str:
    return f"{label}.{part}" if part else label


def _defined(value: Any) -> float | None:
    number = float(value)
    return number if np.isfinite(number) else None
