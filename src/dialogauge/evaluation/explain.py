"""Which responses push a distance most: the ten worst of each system, with their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dialogauge import tables
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError
from dialogauge.evaluation.digits import format_estimates
from dialogauge.evaluation.forms import Measured
from dialogauge.evaluation.result import Result
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.fbd import Fbd
from dialogauge.metrics.registry import Request
from dialogauge.threads import one_blas_thread

SCHEMA = "dialogauge.explanation/1"
WORST = 10
SHOWN = 44
"""Characters of a text that the table shows."""


@dataclass(frozen=True)
class Push:
    """One response and by how much the score would fall, to first order, without it."""

    system: str
    id: str
    push: float
    context: tuple[str, ...]
    response: str
    reference: str | None


@dataclass(frozen=True, repr=False)
class Explanation(Measured):
    """The responses that push each system's score most, worst first."""

    metric: str
    pushes: list[Push]

    def contents(self) -> str:
        return f"{self.metric}, {tables.counted(len(self.pushes), 'response')}"

    def names(self) -> list[str]:
        return list(dict.fromkeys([self.metric, *(push.system for push in self.pushes)]))

    def to_records(self) -> list[dict[str, Any]]:
        return [asdict(push) for push in self.pushes]

    def to_dict(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "metric": self.metric, "pushes": self.to_records()}

    def to_table(self, digits: int | None = None) -> tables.Table:
        headers = [
            tables.Header("system", align="left"),
            tables.Header("id", align="left"),
            tables.Header("push"),
            tables.Header("after", align="left"),
            tables.Header("response", align="left"),
        ]
        numbers = format_estimates([(push.push, None, None) for push in self.pushes], digits)
        rows = [
            [
                tables.Cell(push.system),
                tables.Cell(push.id),
                tables.Cell(number),
                tables.Cell(_end(push.context[-1] if push.context else "")),
                tables.Cell(_short(push.response)),
            ]
            for push, (number, _) in zip(self.pushes, numbers, strict=True)
        ]
        note = f"push: by how much {self.metric} would fall without the response, to first order; worst first"
        return tables.Table(headers, rows, [note], "explanation")


@one_blas_thread()
def explain(result: Result, corpus: Corpus, metric: str | None = None, worst: int = WORST) -> Explanation:
    """The `worst` responses of each system in a result of this corpus, under its only `fbd` or the one named.
    Influences come from the summary that the score stands on (`metrics/influence.py`); nothing is measured again."""
    labels = dict.fromkeys(sample.label for sample in result.samples if isinstance(sample.metric, Fbd))
    if metric is None and len(labels) == 1:
        (metric,) = labels
    samples = [sample for sample in result.samples if sample.label == metric]
    if metric is None or not samples:
        found = ", ".join(dict.fromkeys(sample.label for sample in result.samples))
        raise InputError(f"cannot explain {metric or 'fbd'}: the result has {found}")
    for sample in samples:
        if not {*sample.ids} <= {turn.id for turn in corpus.by_system.get(sample.system, ())}:
            raise InputError(f"cannot explain {metric}: the result is of another corpus")
    pushes = [push for sample in samples for push in _worst(sample, corpus.by_system[sample.system], worst)]
    return Explanation(metric, pushes)


def check_explained(request: Request) -> None:
    """Refuses what cannot be explained, before any work is done."""
    if not isinstance(request.metric, Fbd):
        raise InputError(f"cannot explain {request.name}: influences are known of fbd alone")
    if request.part is not None:
        raise InputError(f"cannot explain {request.name}: ask for {request.label}, which its parts add up to")
    if request.metric.covariance == "shrunk":
        raise InputError(f"cannot explain {request.name}: influences are known with cov=plain alone")


def _worst(sample: Sample, turns: Sequence[Turn], worst: int) -> list[Push]:
    metric = sample.metric
    check_explained(Request(metric))
    if sample.rows is None:
        raise InputError(f"cannot explain {sample.label}: there are too many turns to keep what was noted of each")
    if not isinstance(metric, Fbd) or min(sample.summary.real.n, sample.summary.generated.n) < 2:
        return []
    pushes = metric.pushes(sample.summary, sample.rows)
    by_id = {turn.id: turn for turn in turns}
    chosen = np.argsort(-pushes, kind="stable")[:worst]
    return [_push(by_id[sample.ids[place]], float(pushes[place]), metric) for place in chosen]


def _push(turn: Turn, push: float, metric: Fbd) -> Push:
    references = metric.references(turn)
    return Push(turn.system, turn.id, push, turn.context, turn.response, references[0] if references else None)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _end(text: str) -> str:
    """What the response answers stands at the end."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else "…" + text[1 - SHOWN :]
