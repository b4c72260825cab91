"""The table of scores: systems down, metrics across, best per column marked by direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from dialogauge.evaluation.chance import EXCHANGES, SPLITS, SWAPS
from dialogauge.evaluation.digits import decimals_of, format_estimates, number
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.evaluation.comparison import Comparison
    from dialogauge.evaluation.result import Result, Score

ABOUT = {
    "expected": "",
    "another_sample": ", which is what another sample of this size would score",
    "population": ", for the distance of the populations",
}
SPLIT = f"the mean over {SPLITS} draws in which the real side is split in two, brought to the sizes at hand"
FLOORS = {
    "swaps": f"the mean over {SWAPS} draws in which response and reference change places in {{unit}} chosen by chance; "
    "p: the share of them as bad as the score",
    "splits": f"{SPLIT}; p: the share of {EXCHANGES} draws as bad as the score in which {{unit}} of both sides are "
    "dealt out anew",
    "exchanges": f"the mean over {EXCHANGES} draws in which {{unit}} of both sides are dealt out anew; "
    "p: the share of them as bad as the score",
    "splits alone": f"{SPLIT}; p: the share of them as bad as the score",
}
BETTER: dict[bool | None, Literal["higher", "lower", ""]] = {True: "higher", False: "lower", None: ""}


def score_table(result: Result, digits: int | None = None) -> Table:
    headers = [Header("system", align="left"), Header("turns")]
    columns = []
    for metric in result.columns:
        scores = [result.score(system, metric) for system in result.systems]
        headers.append(Header(metric, BETTER[scores[0].higher_is_better]))
        columns.append(_cells(scores, result.systems, decimals_of_scores(scores) if digits is None else digits))
    names = [[Cell(system), Cell(str(turns))] for system, turns in result.systems.items()]
    rows = [[*name, *cells] for name, *cells in zip(names, *columns, strict=True)]
    return Table(headers, rows, _notes(result), "scores")


def decimals_of_scores(scores: Sequence[Score]) -> int:
    """Of one metric, in every table that has them or their differences."""
    return decimals_of([(score.value, score.low, score.high) for score in scores])


def _cells(scores: list[Score], systems: dict[str, int], decimals: int) -> list[Cell]:
    best = best_value(scores)
    texts = format_estimates([(score.value, score.low, score.high) for score in scores], decimals)
    return [
        Cell(value, _aside(score, interval, turns, decimals), best is not None and score.value == best)
        for score, turns, (value, interval) in zip(scores, systems.values(), texts, strict=True)
    ]


def _aside(score: Score, interval: str, turns: int, decimals: int) -> str:
    """The interval; the floor with its p-value; and, where some turns were left out, the number of those that count."""
    floor = (
        "" if score.floor is None or score.p is None else f"floor {number(score.floor, decimals)} p={short_p(score.p)}"
    )
    left_out = "" if score.n == turns else f"n={score.n}"
    return " ".join(filter(None, (interval, floor, left_out)))


def short_p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.01 else f"{p:.2f}"


def best_value(scores: Sequence[Score]) -> float | None:
    """The best by the metric's direction; None where there is no direction or nothing to choose from."""
    values = [score.value for score in scores if score.value is not None]
    if len(values) < 2 or scores[0].higher_is_better is None:
        return None
    return max(values) if scores[0].higher_is_better else min(values)


def _notes(result: Result) -> list[str]:
    by_metric = {score.metric: score for score in result.scores}
    shown = [by_metric[metric] for metric in result.columns]
    notes = interval_notes(result)
    notes += [
        f"floor of {', '.join(names)}: {FLOORS[way].format(unit=result.unit)}"
        for way in FLOORS
        if (names := [score.metric for score in shown if score.floor_from == way])
    ]
    if len(result.systems) > 1 and any(score.higher_is_better is not None for score in shown):
        notes.append("marked: the best value of its column; where intervals overlap, which system is better stays open")
    signatures = dict.fromkeys(score.signature for score in shown)
    return [*notes, *(f"signature: {signature}" for signature in signatures)]


def interval_notes(result: Result | Comparison) -> list[str]:
    """One for each way in which intervals were found."""
    return [
        f"[low, high]: {100 * result.settings.confidence:.4g}% interval of {', '.join(names)}{ABOUT[about]}: "
        f"{resampling(result, method)}, seed {result.settings.seed}"
        for method in ("bootstrap", "jackknife")
        for about in ABOUT
        if (names := [name for name in result.columns if any(_made_by(s, name, method, about) for s in result.scores)])
    ]


def resampling(result: Result | Comparison, method: str) -> str:
    """How the intervals of one method were found."""
    how = f" ({result.settings.resamples} resamples)" if method == "bootstrap" else ""
    return f"{method} over {result.unit}{how}"


def intervals_in_words(result: Result | Comparison) -> list[str]:
    """The same for a paper, in one sentence; nothing where no score has an interval."""
    found = []
    for method in ("bootstrap", "jackknife"):
        made = {score.metric for score in result.scores if score.interval == method}
        if names := [name for name in result.columns if name in made]:
            found.append(f"the {resampling(result, method)} for {', '.join(names)}")
    level = f"{100 * result.settings.confidence:.4g}%"
    return [f"The {level} intervals come from {' and '.join(found)}; seed {result.settings.seed}."] if found else []


def column_signatures(result: Result | Comparison) -> dict[str, str]:
    """The signature of each metric that a table shows."""
    by_metric = {score.metric: score.signature for score in result.scores}
    return {metric: by_metric[metric] for metric in result.columns}


def _made_by(score: Score, metric: str, method: str, about: str) -> bool:
    return (score.metric, score.interval, score.interval_of) == (metric, method, about)
