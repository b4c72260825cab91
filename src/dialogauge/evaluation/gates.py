"""Gates for continuous integration: under which metrics no system may get worse, or score below a limit.

The command line ends with exit status 1 where one is shut, a test of the pytest plug-in fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.pairs import Pair
from dialogauge.evaluation.result import Score
from dialogauge.metrics.function import IN_FILE
from dialogauge.metrics.registry import COMMA_OUTSIDE_BRACKETS, Request, parse_requests

IF_WORSE, BELOW = "--fail-if-worse", "--fail-below"
NUMBER_AT_END = {IF_WORSE: re.compile(r"(.+):([^:\[\]]*)"), BELOW: re.compile(r"(.+)=([^=\[\]]*)")}
"""What stands between a metric and its number may also stand within the brackets of its options."""


class Gate(NamedTuple):
    """A metric that a system must not fail under, and its margin or limit."""

    request: Request
    number: float | None

    @property
    def name(self) -> str:
        return self.request.name


def parse_gates(
    option: str,
    given: str,
    *,
    compat: str | None = None,
    encoder: str | None = None,
    dtype: str | None = None,
    language: str | None = None,
) -> list[Gate]:
    """The metrics of a list such as `meteor,bleu:0.5` (`IF_WORSE`) or `bleu=20` (`BELOW`). The other options are those
    of the run, for metrics that take them."""
    gates, shared = [], {"encoder": encoder, "dtype": dtype, "language": language}
    for text in filter(None, (piece.strip() for piece in COMMA_OUTSIDE_BRACKETS.split(given))):
        metric, number = _split(option, text)
        request, *others = parse_requests(metric, compat, shared)
        if others:
            raise InputError(f"{option} {metric}: expected one metric, found a group of {len(others) + 1}")
        if request.metric.direction(request.part or "") is None:
            hint = "; a function says it by higher_is_better" if ".py:" in metric else ""
            raise InputError(f"{option} {metric}: this metric has no better or worse{hint}")
        gates.append(Gate(request, number))
    return gates


def _split(option: str, text: str) -> tuple[str, float | None]:
    match = NUMBER_AT_END[option].fullmatch(text)
    if option == IF_WORSE and (match is None or IN_FILE.fullmatch(text)):
        return text, None
    try:
        number = float(match[2]) if match else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or (option == IF_WORSE and number < 0):
        wanted = "METRIC:MARGIN with a margin of 0 or more" if option == IF_WORSE else "METRIC=VALUE"
        raise InputError(f"{option} {text}: expected {wanted}")
    return match[1] if match else text, number


def column_of(option: str, name: str, columns: Sequence[str]) -> str:
    """The column of that name, or the only one with options (`bertscore` for `bertscore[encoder=mpnet]`)."""
    found = [name] if name in columns else [column for column in columns if re.sub(r"\[.*\]", "", column) == name]
    if len(found) != 1:
        raise InputError(f"{option} {name}: the runs have only {', '.join(columns)}")
    return found[0]


def fell_behind(comparison: Comparison, gates: Sequence[Gate]) -> list[str]:
    """Systems that are worse than their baseline, and those of which nothing can be said."""
    columns = [column_of(IF_WORSE, gate.name, comparison.columns) for gate in gates]
    if gates and not comparison.baselines:
        raise InputError(f"{IF_WORSE}: no system has one of its name in the first run to be held against")
    return [
        failure
        for gate, column in zip(gates, columns, strict=True)
        for failure in _worse(comparison, column, gate.number)
    ]


def held_against_nothing(comparison: Comparison, gates: Sequence[Gate]) -> list[Caveat]:
    """Systems that a gate says nothing of, since no other input has one of their name."""
    held = {*comparison.baselines, *comparison.baselines.values()}
    alone = [system for system in comparison.systems if system not in held]
    if not gates or not alone:
        return []
    message = f"{IF_WORSE} says nothing of {', '.join(alone)}: no other input has a system of that name; see --system"
    return [Caveat("ungated", message)]


def _worse(comparison: Comparison, metric: str, margin: float | None) -> list[str]:
    found = []
    for pair in comparison.against_baselines(metric):
        if pair.p is None:
            found.append(f"{pair.second} cannot be tested against {pair.first} under {metric}")
        elif pair.better == pair.first:
            if margin is None:
                found.append(f"{pair.second} is worse than {pair.first} under {metric}")
            elif _least(pair) > margin:
                found.append(f"{pair.second} is worse than {pair.first} by more than {margin:g} under {metric}")
    return found


def _least(pair: Pair) -> float:
    """The least difference within the interval, in the direction that was found; without one, the difference."""
    ends = [-end if (pair.difference or 0.0) < 0 else end for end in (pair.low, pair.high) if end is not None]
    return min(ends, default=abs(pair.difference or 0.0))


def below_limits(scores: Sequence[Score], gates: Sequence[Gate]) -> list[str]:
    """Systems whose score is worse than the limit, and those without a score."""
    found = []
    for gate in gates:
        metric = column_of(BELOW, gate.name, list(dict.fromkeys(score.metric for score in scores)))
        for score in (score for score in scores if score.metric == metric):
            limit = gate.number or 0.0
            if score.value is None:
                found.append(f"{score.system} has no score under {metric}, where {limit:g} is asked for")
            elif score.value < limit if score.higher_is_better else score.value > limit:
                side = "below" if score.higher_is_better else "above"
                found.append(f"{score.system} scores {score.value:.6g} under {metric}, {side} {limit:g}")
    return found
