"""The table of scores: systems down, metrics across, best per column marked by direction."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Result, Score

BETTER = {True: "higher", False: "lower", None: ""}


def score_table(result: Result) -> Table:
    headers = [Header("system", align="left"), Header("turns")]
    columns = []
    for metric in result.columns:
        scores = [result.score(system, metric) for system in result.systems]
        headers.append(Header(metric, BETTER[scores[0].higher_is_better]))  # type: ignore[arg-type]
        columns.append(_cells(scores))
    names = [[Cell(system), Cell(str(turns))] for system, turns in result.systems.items()]
    rows = [[*name, *cells] for name, *cells in zip(names, *columns, strict=True)]
    return Table(headers, rows, _notes(result))


def _cells(scores: list[Score]) -> list[Cell]:
    decimals = _decimals(scores)
    best = _best(scores)
    cells = []
    for score in scores:
        interval = ""
        if score.low is not None and score.high is not None:
            interval = f"[{_number(score.low, decimals)}, {_number(score.high, decimals)}]"
        cells.append(Cell(_number(score.value, decimals), interval, best is not None and score.value == best))
    return cells


def _best(scores: list[Score]) -> float | None:
    values = [score.value for score in scores if score.value is not None]
    if len(values) < 2 or scores[0].higher_is_better is None:
        return None
    return max(values) if scores[0].higher_is_better else min(values)


def _decimals(scores: list[Score]) -> int:
    """Two digits of the typical interval's width, so that the table shows no digit that is mere noise."""
    widths = [s.high - s.low for s in scores if s.low is not None and s.high is not None and s.high > s.low]
    sizes = widths or [abs(s.value) / 100 for s in scores if s.value] or [1.0]
    return min(max(1 - math.floor(math.log10(median(sizes))), 0), 6)


def _number(value: float | None, decimals: int) -> str:
    if value is None:
        return "–"
    if value and abs(value) < 0.5 * 10**-decimals:
        return f"{value:.1e}"
    return f"{value:.{decimals}f}"


def _notes(result: Result) -> list[str]:
    settings = result.settings
    by_metric = {score.metric: score for score in result.scores}
    shown = [by_metric[metric] for metric in result.columns]
    notes = []
    for method in ("bootstrap", "jackknife"):
        names = [metric for metric in result.columns if any(_made_by(s, metric, method) for s in result.scores)]
        if names:
            how = (
                f"{settings.resamples} resamples, seed {settings.seed}"
                if method == "bootstrap"
                else "leaving groups out"
            )
            notes.append(
                f"[low, high]: {settings.confidence:.0%} interval of {', '.join(names)}: "
                f"{method} over {result.unit} ({how})"
            )
    if len(result.systems) > 1 and any(score.higher_is_better is not None for score in shown):
        notes.append("marked: the best value of its column; where intervals overlap, which system is better stays open")
    signatures = dict.fromkeys(score.signature for score in shown)
    return [*notes, *(f"signature: {signature}" for signature in signatures)]


def _made_by(score: Score, metric: str, method: str) -> bool:
    return score.metric == metric and score.interval == method
