"""A judge of a kept run, with the answers that the run holds in place of an endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dialogauge.corpus.turn import Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.endpoint.endpoints import Endpoints
from dialogauge.errors import InputError
from dialogauge.metrics.judge.judge import ModelJudge
from dialogauge.metrics.prepared import Prepared


def replayed_judge(
    metric: ModelJudge, answers: Iterable[Mapping[str, Any]], turns: Iterable[Turn] = ()
) -> Prepared[Any, Any]:
    """Ready to measure the run's turns as it did. `answers` are the lines of its answers.jsonl. A run's labels hold no
    addresses: the judge's is the one whose answers fit. InputError where none does."""
    encoders = Encoders()
    encoders.endpoints = Endpoints.replayed(answers)
    surveyed = metric.survey(turns)
    reason: InputError | None = None
    for url in encoders.endpoints.urls:
        try:
            at_home = replace(metric, url=url)
            learned = at_home.learn(surveyed, encoders)
        except InputError as error:
            reason = error
        else:
            if not learned.known.way.assumed:
                return learned.open(encoders)
    raise reason or InputError(f"{metric.label}: the run does not hold the judge's answers")
