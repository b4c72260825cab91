"""A judge's answers one by one, before they become the score of a turn."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import unit_key
from dialogauge.encode.encoders import Encoders
from dialogauge.endpoint.chat import canonical
from dialogauge.endpoint.endpoints import Endpoints
from dialogauge.metrics.judge.judge import ModelJudge
from dialogauge.metrics.judge.judgement import read_judgement
from dialogauge.metrics.judge.prompt import open_prompt


class AnswersOfTurn(NamedTuple):
    """What was answered about one turn, by what was sent: repeated answers stand together."""

    pairwise: bool
    values: dict[bytes, list[float]]
    """Of a pairwise prompt, how far the reply shown first is chosen: from 0 to 1."""


def single_answers(metric: ModelJudge, corpus: Corpus, endpoints: Endpoints) -> list[tuple[int, AnswersOfTurn]] | str:
    """For each turn its unit and its answers, of which all are kept by now; or why there are none. An answer that
    cannot be read is left out."""
    prompt = open_prompt(metric.prompt)
    if prompt.level != "turn":
        return "whole dialogues are judged, not turns"
    encoders = Encoders(None)
    encoders.endpoints = endpoints
    ready = metric.prepare(corpus, None, encoders)
    found = []
    for turn in filter(ready.usable, corpus):
        asked = ready.asks([turn])
        if asked is None or not asked[1]:
            continue
        endpoint, requests = asked
        values: dict[bytes, list[float]] = {}
        for request, answer in zip(requests, endpoint.ask(requests, keep_refusals=True), strict=True):
            value = read_judgement(answer, prompt).value
            if not np.isnan(value):
                values.setdefault(canonical(request.body), []).append(value)
        found.append((unit_key(turn), AnswersOfTurn(prompt.pairwise, values)))
    return found


def first_preferred(answers: AnswersOfTurn) -> float | None:
    """How far the reply shown first is chosen, over both orders: 0.5 without a preference for a place."""
    orders = [float(np.mean(values)) for values in answers.values.values()]
    return float(np.mean(orders)) if answers.pairwise and len(orders) == 2 else None


def spread_of_repeats(answers: AnswersOfTurn) -> float | None:
    """The standard deviation among answers to the same request (divisor n - 1), mean over requests."""
    spreads = [float(np.std(values, ddof=1)) for values in answers.values.values() if len(values) > 1]
    return float(np.mean(spreads)) if spreads else None


def flips_of_repeats(answers: AnswersOfTurn) -> float | None:
    """The share of pairs of answers to the same request that are not the same, mean over requests."""
    shares = [
        float(np.mean([one != other for one, other in combinations(values, 2)]))
        for values in answers.values.values()
        if len(values) > 1
    ]
    return float(np.mean(shares)) if shares else None
