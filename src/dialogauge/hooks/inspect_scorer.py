"""Inspect: a scorer of replies, each with its own score, and all of them together with an interval.

    Task(dataset=..., scorer=dialogue("meteor"))

Inspect finds it by the entry point group `inspect_ai`, as `dialogauge/dialogue`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ChatMessageAssistant
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from dialogauge.corpus.frames import as_corpus
from dialogauge.errors import InputError
from dialogauge.evaluation import evaluate
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.metrics.registry import Request, parse_requests


@metric(scores="unreduced")
def all_replies() -> Metric:
    """The score of all replies together, which is not always the mean of theirs (BLEU), with its interval. Epochs of a
    sample share a context, and are resampled together."""

    def over(scores: list[SampleScore]) -> Mapping[str, float]:
        records = [each.score.metadata["turn"] for each in scores if each.score.metadata]
        if not records:
            return {"value": math.nan, "low": math.nan, "high": math.nan, "replies": 0}
        asked = next(each.score.metadata["metric"] for each in scores if each.score.metadata)
        found = evaluate(records, asked).scores[0]
        ends = [math.nan if each is None else each for each in (found.value, found.low, found.high)]
        return {**dict(zip(("value", "low", "high"), ends, strict=True)), "replies": found.n}

    return over


@scorer(metrics=[all_replies()])
def dialogue(metric: str = "meteor") -> Scorer:
    """One metric of dialogauge, or one of its parts ("rouge_l.recall"), on the last reply of each sample.

    The sample's target is the reference (a list of them: all), its earlier messages the context. A sample without what
    the metric needs is unscored, with the reason. Metrics that need the whole corpus are refused: `dialogauge score`
    reads the log, and has them.
    """
    request = _one(metric)
    ready: list[AnyPrepared] = []

    async def score(state: TaskState, target: Target) -> Score:
        record = _record(state, target)
        turn = as_corpus([record]).turns[0]
        if not ready:
            ready.append(request.metric.prepare(as_corpus([record])))
        if not ready[0].usable(turn):
            lacking = f"{request.name} needs {request.metric.needed()}, and this sample has none"
            return Score(value=math.nan, answer=turn.response, explanation=lacking)
        return Score(
            value=_value(request, ready[0].measure([turn])),
            answer=turn.response,
            metadata={"metric": metric, "turn": record},
        )

    return score


def _one(metric: str) -> Request:
    request, *others = parse_requests(metric)
    asked = request.metric
    if others:
        raise InputError(f"expected one metric, found {len(others) + 1}: {metric}")
    if asked.learns or asked.level == "dialogue" or asked.extrapolates or not asked.scores_turns:
        raise InputError(f"{request.name} needs the whole corpus: dialogauge score LOG.eval --metrics {request.name}")
    return request


def _value(request: Request, rows: Any) -> float:
    """Of one reply; parts have no value of single turns in saved runs, and are those of a corpus of one."""
    if request.part:
        return float(request.metric.conclude(request.metric.summarise(rows))[request.part])
    values = request.metric.per_turn(rows)
    return math.nan if values is None else float(values[0])


def _record(state: TaskState, target: Target) -> dict[str, Any]:
    """A sample as the readers of files take it: system prompts and tools are no utterances. The target of a question
    with choices is a letter, which no reply is like."""
    messages = list(state.messages)
    while messages and isinstance(messages[-1], ChatMessageAssistant):
        messages.pop()
    return {
        "context": [message.model_dump(mode="json", exclude_none=True) for message in messages],
        "response": state.output.completion,
        "references": [] if state.choices else [text for text in target if text],
    }
