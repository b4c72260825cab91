"""Which responses push a distance most: the ten worst of each system, with their text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dialogauge import tables
from dialogauge.corpus.frames import CorpusLike
from dialogauge.errors import InputError
from dialogauge.evaluation.replies import ListedReplies, Reply, find_turns
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample
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

    def number_header(self) -> tables.Header:
        return tables.Header("push")

    def label(self) -> str:
        return "explanation"

    def notes(self) -> list[str]:
        return [f"push: by how much {self.metric} would fall without the response, to first order; worst first"]


@one_blas_thread()
def explain(result: Result, corpus: CorpusLike, metric: str | None = None, worst: int = WORST) -> Explanation:
    """The `worst` responses of each system in a result of this corpus, or of a new stream of it, under its only `fbd`
    or the one named. Influences come from the summary that the score stands on (`Metric.influences`); nothing is
    measured again."""
    labels = dict.fromkeys(sample.label for sample in result.samples if sample.metric.no_influences is None)
    if metric is None and len(labels) == 1:
        (metric,) = labels
    samples = [sample for sample in result.samples if sample.label == metric]
    if metric is None or not samples:
        found = ", ".join(dict.fromkeys(sample.label for sample in result.samples))
        raise InputError(f"cannot explain {metric or 'fbd'}: the result has {found}")
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
    if reason := request.metric.no_influences:
        raise InputError(f"cannot explain {request.name}: {reason}")
    if request.part is not None:
        raise InputError(f"cannot explain {request.name}: ask for {request.label}, which its parts add up to")


def _worst(sample: Sample, worst: int) -> dict[str, float]:
    """The pushes of the worst, by id."""
    check_explained(Request(sample.metric))
    if sample.rows is None:
        raise InputError(f"cannot explain {sample.label}: there are too many turns to keep what was noted of each")
    pushes = sample.metric.influences(sample.summary, sample.rows)
    return {sample.ids[place]: float(pushes[place]) for place in np.argsort(-pushes, kind="stable")[:worst]}
