"""Why a score is what it is: the responses of each system that push a distance most, or that score worst, with what the
parts of their scores say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from dialogauge import tables
from dialogauge.corpus.frames import CorpusLike
from dialogauge.errors import InputError
from dialogauge.evaluation.replies import ListedReplies, RankedReplies, Reply, find_turns, rank_replies
from dialogauge.evaluation.result import BETTER, Result
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import one_blas_thread

SCHEMA = "dialogauge.explanation/1"
WORST = 10


@dataclass(frozen=True, repr=False)
class Explanation(ListedReplies):
    """The responses that push each system's score most, worst first. The value of a reply is by how much the score
    would fall without it, to first order."""

    shows_references: ClassVar[bool] = False

    def to_records(self) -> list[dict[str, Any]]:
        return [
            {
                "system": reply.system,
                "id": reply.id,
                "push": reply.value,
                "context": reply.context,
                "response": reply.response,
                "reference": reply.references[0] if reply.references else None,
            }
            for reply in self.replies
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "metric": self.metric, "pushes": self.to_records()}

    def numbers(self) -> list[tuple[tables.Header, list[float]]]:
        return [(tables.Header("push"), [reply.value for reply in self.replies])]

    def label(self) -> str:
        return "explanation"

    def notes(self) -> list[str]:
        return [f"push: by how much {self.metric} would fall without the response, to first order; worst first"]


@dataclass(frozen=True, repr=False)
class WorstInParts(RankedReplies):
    """The replies of each system that score worst, with the parts of their scores."""

    shows_references: ClassVar[bool] = False

    parts: list[dict[str, float]]
    """Of each reply, by name."""

    def to_records(self) -> list[dict[str, Any]]:
        records = zip(super().to_records(), self.parts, strict=True)
        return [{**record, "parts": parts} for record, parts in records]

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "schema": SCHEMA}

    def label(self) -> str:
        return "explanation"

    def numbers(self) -> list[tuple[tables.Header, list[float]]]:
        names = list(self.parts[0]) if self.parts else []
        better = BETTER[self.higher_is_better]
        return super().numbers() + [
            (tables.Header(name, better), [parts[name] for parts in self.parts]) for name in names
        ]


@one_blas_thread()
def explain(
    result: Result, corpus: CorpusLike, metric: str | None = None, worst: int = WORST
) -> Explanation | WorstInParts:
    """The `worst` responses of each system in a result of this corpus, or of a new stream of it, under the metric named
    or the only one that can be explained. Those that push a distance most come from the summary that the score stands
    on (`Metric.influences`); of a metric whose parts explain it (`Metric.parts_explain`), those that score worst.
    Nothing is measured again."""
    labels = dict.fromkeys(sample.label for sample in result.samples if _unexplained(sample.metric) is None)
    if metric is None and len(labels) > 1:
        raise InputError(f"which metric is to be explained? Name one of {', '.join(labels)}")
    if metric is None and labels:
        (metric,) = labels
    samples = [sample for sample in result.samples if sample.label == metric]
    if metric is None or not samples:
        found = ", ".join(dict.fromkeys(sample.label for sample in result.samples))
        raise InputError(f"cannot explain {metric or 'fbd or gauge'}: the result has {found}")
    for sample in samples:
        check_explained(Request(sample.metric))
        if sample.rows is None:
            raise InputError(f"cannot explain {sample.label}: there are too many turns to keep what was noted of each")
    if samples[0].metric.parts_explain:
        return _in_parts(rank_replies(result, corpus, [metric], {"worst": worst})["worst"][0], samples)
    return _by_push(metric, samples, corpus, worst)


def _in_parts(ranked: RankedReplies, samples: Sequence[Sample]) -> WorstInParts:
    """The replies with the parts that were noted of them."""
    known = {sample.system: dict(zip(sample.ids, sample.rows, strict=True)) for sample in samples}
    metric = samples[0].metric
    columns = {part: metric.mean_of(part) for part in metric.parts}
    parts = [
        {part: float(known[reply.system][reply.id][column]) for part, column in columns.items()}
        for reply in ranked.replies
    ]
    given = {field.name: getattr(ranked, field.name) for field in fields(ranked)}
    return WorstInParts(**given, parts=parts)


def _by_push(metric: str, samples: Sequence[Sample], corpus: CorpusLike, worst: int) -> Explanation:
    picked = {sample.system: _worst(sample, worst) for sample in samples}
    turns = find_turns([picked], corpus)
    # Real conversations beside the corpus stand in for its references.
    references = {sample.system: sample.metric.references for sample in samples if sample.real_units is None}
    replies = [
        replace(Reply.from_turn(turn, push), references=references[system](turn) if system in references else ())
        for system, pushes in picked.items()
        for name, push in pushes.items()
        for turn in [turns[system, name]]
    ]
    return Explanation(metric, replies)


def check_explained(request: Request) -> None:
    """Refuses what cannot be explained, before any work is done."""
    if reason := _unexplained(request.metric):
        raise InputError(f"cannot explain {request.name}: {reason}")
    if request.part is not None:
        own = "which shows its parts" if request.metric.parts_explain else "which its parts add up to"
        raise InputError(f"cannot explain {request.name}: ask for {request.label}, {own}")


def _unexplained(metric: AnyMetric) -> str | None:
    """What keeps a metric from being explained."""
    return None if metric.parts_explain else metric.no_influences


def _worst(sample: Sample, worst: int) -> dict[str, float]:
    """The pushes of the worst, by id."""
    pushes = sample.metric.influences(sample.summary, sample.rows)
    return {sample.ids[place]: float(pushes[place]) for place in np.argsort(-pushes, kind="stable")[:worst]}
