"""The worst and the best replies of each system under a metric that has a value for every turn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dialogauge import tables
from dialogauge.corpus.frames import CorpusLike
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.listed_replies import ListedReplies, Reply, find_turns
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.score_table import BETTER
from dialogauge.metrics.base import Metric
from dialogauge.metrics.registry import Request
from dialogauge.numbers import COUNT, check_whole

SCHEMA = "dialogauge.replies/1"

Order = Literal["worst", "best"]


@dataclass(frozen=True, repr=False)
class RankedReplies(ListedReplies):
    """The `worst` or `best` first; of equal values, the smaller id."""

    order: Order
    higher_is_better: bool
    asked: int
    without_value: dict[str, int]
    """Turns of each system that have no value and so are not among those listed from."""
    tied: dict[str, int]
    """Turns of each system that are not listed and are no better (or worse) than the last that is."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "metric": self.metric,
            "order": self.order,
            "higher_is_better": self.higher_is_better,
            "replies": self.to_records(),
            "without_value": self.without_value,
            "tied": self.tied,
        }

    def number_header(self) -> tables.Header:
        return tables.Header(self.metric, BETTER[self.higher_is_better])

    def label(self) -> str:
        return f"{self.order}-{self.metric}"

    def notes(self) -> list[str]:
        replies = tables.counted(self.asked, "reply", "replies")
        notes = [f"the {self.order} by {self.metric}: {replies} of each system, {self.order} first, equal ones by id"]
        same = f"as {'bad' if self.order == 'worst' else 'good'} as the last one listed"
        for counts, what in ((self.tied, same), (self.without_value, "without a value")):
            if counts:
                each = ", ".join(f"{number} of {system}" for system, number in counts.items())
                notes.append(f"not listed, {what}: {each}")
        return notes


def worst_replies(result: Result, corpus: CorpusLike, metric: str, count: int = 10) -> RankedReplies:
    """The worst replies of each system.

    Args:
        result: What `evaluate` gave for this corpus.
        corpus: The same turns again: the Corpus, or whatever `evaluate` takes.
        metric: One that has a value for single turns.
        count: How many of each system.

    Examples:
        >>> import dialogauge
        >>> corpus = dialogauge.load("examples/everyday.jsonl")
        >>> result = dialogauge.evaluate(corpus, "rouge_l")
        >>> worst = dialogauge.worst_replies(result, corpus, "rouge_l", 1).replies[0]
        >>> worst.system, worst.id, worst.response
        ('good', '10', 'Really? Who won?')
    """
    return rank_replies(result, corpus, [metric], {"worst": count})["worst"][0]


def best_replies(result: Result, corpus: CorpusLike, metric: str, count: int = 10) -> RankedReplies:
    """The best replies of each system; arguments as for `worst_replies`."""
    return rank_replies(result, corpus, [metric], {"best": count})["best"][0]


def rank_replies(
    result: Result, corpus: CorpusLike, metrics: Collection[str], counts: Mapping[Order, int]
) -> dict[Order, list[RankedReplies]]:
    """For each order and metric so many replies. Ranking needs ids and values alone, which a result has of all turns,
    however many; the corpus is gone through once, for the texts."""
    samples = {metric: _samples(result, metric) for metric in metrics}
    rankable((Request(mine[0].metric) for mine in samples.values()), counts)
    ranked = [
        (order, metric, {sample.system: _first(sample, order, counts[order]) for sample in samples[metric]})
        for order in counts
        for metric in metrics
    ]
    picked = [{system: first.values for system, first in systems.items()} for _, _, systems in ranked]
    turns = find_turns(picked, corpus)
    found: dict[Order, list[RankedReplies]] = {order: [] for order in counts}
    for order, metric, systems in ranked:
        listed = RankedReplies(
            metric=metric,
            replies=[
                Reply.from_turn(turns[system, name], value)
                for system, first in systems.items()
                for name, value in first.values.items()
            ],
            order=order,
            higher_is_better=bool(samples[metric][0].metric.direction("")),
            asked=counts[order],
            without_value=_above_zero({name: result.systems[name] - first.defined for name, first in systems.items()}),
            tied=_above_zero({name: first.tied for name, first in systems.items()}),
        )
        found[order].append(listed)
    return found


def rankable(requests: Iterable[Request], counts: Mapping[Order, int]) -> tuple[list[str], list[Caveat]]:
    """The metrics by which single replies can be ranked, each once, and why the others cannot."""
    for order, count in counts.items():
        check_whole(order, count, 1, COUNT)
    metrics: dict[str, None] = {}
    refused = []
    for request in requests:
        if reason := _unrankable(request):
            refused.append(f"{request.name} ({reason})")
        else:
            metrics[request.label] = None
    message = f"replies cannot be ranked by {', '.join(refused)}"
    if not metrics:
        raise InputError(message)
    return list(metrics), [Caveat("unranked", message)] if refused else []


def _unrankable(request: Request) -> str:
    metric = request.metric
    if type(metric).per_turn is Metric.per_turn:
        return "it has no value for a single turn"
    if request.part is not None:
        return f"single turns have a value of {request.label} alone"
    if metric.direction("") is None:
        return "neither more nor less of it is better"
    return ""


def _samples(result: Result, metric: str) -> list[Sample]:
    found = [sample for sample in result.samples if sample.label == metric]
    if not found:
        known = ", ".join(dict.fromkeys(sample.label for sample in result.samples))
        raise InputError(f"replies cannot be ranked by {metric}: the result has {known}")
    return found


@dataclass(frozen=True)
class _First:
    values: dict[str, float]
    tied: int
    defined: int


def _first(sample: Sample, order: Order, count: int) -> _First:
    """The replies that come first, and how many more would do as well."""
    values = np.asarray([] if sample.values is None else sample.values, dtype=np.float64)
    places = np.flatnonzero(np.isfinite(values))
    if not len(places):
        return _First({}, 0, 0)
    small_first = values[places] if sample.metric.direction("") is (order == "worst") else -values[places]
    last = np.partition(small_first, min(count, len(places)) - 1)[min(count, len(places)) - 1]
    near = np.flatnonzero(small_first <= last)
    ranked = sorted(near.tolist(), key=lambda place: (small_first[place], sample.ids[places[place]]))[:count]
    first = {sample.ids[place]: float(values[place]) for place in places[ranked]}
    return _First(first, len(near) - len(first), len(places))


def _above_zero(numbers: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number}
