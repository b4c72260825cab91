"""The table of scores: systems down, metrics across, best per column marked by direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from dialogauge.evaluation.digits import format_estimates
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Result, Score

BETTER: dict[bool | None, Literal["higher", "lower", ""]] = {True: "higher", False: "lower", None: ""}


def score_table(result: Result) -> Table:
    headers = [Header("system", align="left"), Header("turns")]
    columns = []
    for metric in result.columns:
        scores = [result.score(system, metric) for system in result.systems]
        headers.append(Header(metric, BETTER[scores[0].higher_is_better]))
        columns.append(_cells(scores, result.systems))
    names = [[Cell(system), Cell(str(turns))] for system, turns in result.systems.items()]
    rows = [[*name, *cells] for name, *cells in zip(names, *columns, strict=True)]
    return Table(headers, rows, _notes(result))


def _cells(scores: list[Score], systems: dict[str, int]) -> list[Cell]:
    best = best_value(scores)
    texts = format_estimates([(score.value, score.low, score.high) for score in scores])
    return [
        Cell(value, _aside(score, interval, turns), best is not None and score.value == best)
        for score, turns, (value, interval) in zip(scores, systems.values(), texts, strict=True)
    ]


def _aside(score: Score, interval: str, turns: int) -> str:
    """The interval and, where some turns were left out, the number of those that count."""
    return interval if score.n == turns else f"{interval} n={score.n}".strip()


def best_value(scores: Sequence[Score]) -> float | None:
    """The best by the metric's direction; None where there is no direction or nothing to choose from."""
    values = [score.value for score in scores if score.value is not None]
    if len(values) < 2 or scores[0].higher_is_better is None:
        return None
    return max(values) if scores[0].higher_is_better else min(values)


def _notes(result: Result) -> list[str]:
    settings = result.settings
    by_metric = {score.metric: score for score in result.scores}
    shown = [by_metric[metric] for metric in result.columns]
    notes = []
    for method in ("bootstrap", "jackknife"):
        names = [metric for metric in result.columns if any(_made_by(s, metric, method) for s in result.scores)]
        if names:
            how = f" ({settings.resamples} resamples)" if method == "bootstrap" else ""
            notes.append(
                f"[low, high]: {100 * settings.confidence:.4g}% interval of {', '.join(names)}: "
                f"{method} over {result.unit}{how}, seed {settings.seed}"
            )
    if len(result.systems) > 1 and any(score.higher_is_better is not None for score in shown):
        notes.append("marked: the best value of its column; where intervals overlap, which system is better stays open")
    signatures = dict.fromkeys(score.signature for score in shown)
    return [*notes, *(f"signature: {signature}" for signature in signatures)]


def _made_by(score: Score, metric: str, method: str) -> bool:
    return score.metric == metric and score.interval == method
