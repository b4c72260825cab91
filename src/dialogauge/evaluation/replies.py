"""Replies picked out of a corpus for a number: the worst and the best of each system, with their texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dialogauge import tables
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_source
from dialogauge.corpus.turn import Turn
from dialogauge.errors import COUNT, Caveat, InputError, check_whole
from dialogauge.evaluation.digits import format_estimates
from dialogauge.evaluation.forms import MetricForms
from dialogauge.evaluation.result import BETTER, Result
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request

SHOWN = 44
"""Characters of a text that the table shows."""

Picked = Mapping[str, Mapping[str, float]]
"""For each system the ids of replies, with the number that they were picked for."""

SCHEMA = "dialogauge.replies/1"

Order = Literal["worst", "best"]


@dataclass(frozen=True)
class Reply:
    """One response in its setting, and the number for which it was picked."""

    system: str
    id: str
    value: float
    context: tuple[str, ...]
    response: str
    references: tuple[str, ...]

    @classmethod
    def from_turn(cls, turn: Turn, value: float) -> Reply:
        return cls(turn.system, turn.id, value, turn.context, turn.response, turn.references)


@dataclass(frozen=True, repr=False)
class ListedReplies(MetricForms):
    """Replies under a metric, system by system."""

    metric: str
    replies: list[Reply]
    shows_references: ClassVar[bool] = True

    @abstractmethod
    def numbers(self) -> list[tuple[tables.Header, list[float]]]:
        """Columns with a number for each reply."""

    @abstractmethod
    def label(self) -> str:
        """Of the table, for references to it."""

    @abstractmethod
    def notes(self) -> list[str]:
        """What stands below the table."""

    def contents(self) -> str:
        return f"{self.metric}, {tables.counted(len(self.replies), 'response')}"

    def names(self) -> list[str]:
        return list(dict.fromkeys([self.metric, *(reply.system for reply in self.replies)]))

    def to_records(self) -> list[dict[str, Any]]:
        return [asdict(reply) for reply in self.replies]

    def to_table(self, digits: int | None = None) -> tables.Table:
        headers = [
            tables.Header("system", align="left"),
            tables.Header("id", align="left"),
            *(header for header, _ in self.numbers()),
            tables.Header("after", align="left"),
            tables.Header("response", align="left"),
        ]
        if self.shows_references:
            headers.append(tables.Header("reference", align="left", spare=True))
        columns = [
            [number for number, _ in format_estimates([(value, None, None) for value in values], digits)]
            for _, values in self.numbers()
        ]
        rows = [
            _row(reply, numbers)[: len(headers)]
            for reply, numbers in zip(self.replies, zip(*columns, strict=True), strict=True)
        ]
        return tables.Table(headers, rows, self.notes(), self.label())


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

    def numbers(self) -> list[tuple[tables.Header, list[float]]]:
        header = tables.Header(self.metric, BETTER[self.higher_is_better])
        return [(header, [reply.value for reply in self.replies])]

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


def find_turns(picked: Iterable[Picked], corpus: CorpusLike) -> dict[tuple[str, str], Turn]:
    """The turns of those picked by system and id; the corpus is gone through once."""
    wanted = {(system, name) for systems in picked for system, values in systems.items() for name in values}
    source = as_source(corpus)
    turns = source if isinstance(source, Corpus) else source.turns()
    found: dict[tuple[str, str], Turn] = {}
    for turn in turns:
        place = (turn.system, turn.id)
        if place in wanted and found.setdefault(place, turn) is not turn:
            raise InputError(f"two turns of {turn.system!r} have the id {turn.id!r}, by which replies are told apart")
    if missing := wanted - found.keys():
        system, name = min(missing)
        raise InputError(f"the result is of another corpus: this one has no turn {name!r} of {system!r}")
    return found


def _row(reply: Reply, numbers: Iterable[str]) -> list[tables.Cell]:
    more = f"(+{len(reply.references) - 1})" if len(reply.references) > 1 else ""
    return [
        tables.Cell(reply.system),
        tables.Cell(reply.id),
        *map(tables.Cell, numbers),
        tables.Cell(_end(reply.context[-1] if reply.context else "")),
        tables.Cell(_short(reply.response)),
        tables.Cell(_short(reply.references[0] if reply.references else ""), more),
    ]


def _short(text: str) -> str:
    return tables.cut(" ".join(text.split()), SHOWN)


def _end(text: str) -> str:
    """What the response answers stands at the end."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else "…" + text[1 - SHOWN :]


def _unrankable(request: Request) -> str:
    metric = request.metric
    if not metric.scores_turns:
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
    ids, known = sample.turn_values()
    values = np.asarray([] if known is None else known, dtype=np.float64)
    places = np.flatnonzero(np.isfinite(values))
    if not len(places):
        return _First({}, 0, 0)
    small_first = values[places] if sample.metric.direction("") is (order == "worst") else -values[places]
    last = np.partition(small_first, min(count, len(places)) - 1)[min(count, len(places)) - 1]
    near = np.flatnonzero(small_first <= last)
    ranked = sorted(near.tolist(), key=lambda place: (small_first[place], ids[places[place]]))[:count]
    first = {ids[place]: float(values[place]) for place in places[ranked]}
    return _First(first, len(near) - len(first), len(places))


def _above_zero(numbers: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number}
