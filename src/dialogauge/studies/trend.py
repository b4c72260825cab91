"""How a metric moves as more and more responses are made worse, and the table of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from dialogauge.evaluation.digits import Bounded, decimals_of, format_estimates
from dialogauge.stats.correlations import spearman
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.studies.sensitivity import Sensitivity

STEADY = -0.9
"""A metric falls steadily where Spearman's correlation is at most this: of six points, two neighbours may have changed
places (-0.94)."""
DIGITS = 9
"""Values that agree in so many digits are the same: the order of a sum is no trend."""

FALLS = "falls"
UNCLEAR = "falls, unclear"
STAYS = "does not fall"
CONSTANT = "constant"
NO_DIRECTION = "no direction"
UNCHANGED = "nothing changed"
UNDEFINED = "undefined"

DIRECTIONS = {True: "higher is better", False: "lower is better", None: "no better or worse"}


@dataclass(frozen=True)
class Point:
    """One system's value of one metric, with a share of the system's responses perturbed. None where it is
    undefined."""

    kind: str
    ratio: float
    system: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    higher_is_better: bool | None
    signature: str
    changed: int
    """How many of the system's responses have another text than before."""


@dataclass(frozen=True)
class Trend:
    """What becomes of one system's value of one metric under one kind of perturbation."""

    kind: str
    system: str
    metric: str
    points: int
    """How many ratios, 0 included, have a defined value."""
    spearman: float | None
    """Between ratio and value, the value negated where lower is better: -1 where quality falls with every step. Of
    the value as it is where the metric has no direction. None where all values are the same."""
    change: float | None
    """The value at the largest ratio minus that at 0, not negated."""
    quality: Literal["worse", "better", "same"] | None
    """What the metric says of this change; None where it has no direction."""
    verdict: str


def trend_of(points: Sequence[Point]) -> Trend:
    """The trend of the points of one kind, system and metric, in the order of their ratios."""
    first, last = points[0], points[-1]
    sign = -1.0 if first.higher_is_better is False else 1.0
    found = [(point.ratio, _rounded(sign * point.value)) for point in points if point.value is not None]
    rho = _spearman(found)
    change = None if first.value is None or last.value is None else last.value - first.value
    quality = None if change is None or first.higher_is_better is None else _quality(found[-1][1] - found[0][1])
    return Trend(
        kind=first.kind,
        system=first.system,
        metric=first.metric,
        points=len(found),
        spearman=rho,
        change=change,
        quality=quality,
        verdict=_verdict(points, rho, quality),
    )


def sensitivity_table(result: Sensitivity, digits: int | None = None) -> Table:
    """All values of one metric have the same number of decimals: that of `score`, where scores have intervals. The
    system is named where there are several."""
    several = len(result.systems) > 1
    names = ["metric", *(["system"] if several else []), "kind"]
    headers = [Header(name, align="left") for name in names]
    headers += [Header(f"{'' if ratio else 'ratio '}{ratio:g}") for ratio in result.ratios]
    headers += [Header("Spearman"), Header("verdict", align="left")]
    rows = []
    for metric in result.columns:
        lines = [(system, kind) for system in result.systems for kind in result.kinds]
        points = [point for system, kind in lines for point in result.series(kind, system, metric)]
        values = iter(format_estimates(_estimates(points), _decimals(points) if digits is None else digits))
        for system, kind in lines:
            trend = result.trend(kind, system, metric)
            named = [Cell(metric), *([Cell(system)] if several else []), Cell(kind)]
            rows.append([*named, *(Cell(next(values)[0]) for _ in result.ratios), *_conclusion(trend)])
    return Table(headers, rows, _notes(result), "sensitivity")


def _verdict(points: Sequence[Point], spearman: float | None, quality: str | None) -> str:
    first, last = points[0], points[-1]
    if not any(point.changed for point in points):
        return UNCHANGED
    if first.value is None or last.value is None:
        return UNDEFINED
    if spearman is None:
        return CONSTANT
    if first.higher_is_better is None:
        return NO_DIRECTION
    if spearman > STEADY or quality != "worse":
        return STAYS
    return FALLS if _apart(first, last) else UNCLEAR


def _apart(first: Point, last: Point) -> bool:
    """Whether both have intervals, and these do not overlap."""
    if first.low is None or first.high is None or last.low is None or last.high is None:
        return False
    return first.high < last.low or last.high < first.low


def _quality(difference: float) -> Literal["worse", "better", "same"]:
    return "same" if difference == 0 else "better" if difference > 0 else "worse"


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    """None where one side never differs."""
    found = spearman(*np.array(pairs).reshape(-1, 2).T)
    return None if np.isnan(found) else round(found, 12)


def _estimates(points: Sequence[Point]) -> list[Bounded]:
    return [(point.value, point.low, point.high) for point in points]


def _decimals(points: Sequence[Point]) -> int:
    unchanged = [point for point in points if point.ratio == 0]
    sure = any(point.low is not None and point.high != point.low for point in unchanged)
    return decimals_of(_estimates(unchanged if sure else points))


def _conclusion(trend: Trend) -> list[Cell]:
    spearman = "–" if trend.spearman is None else f"{trend.spearman:.2f}"
    return [Cell(spearman), Cell(trend.verdict)]


def _notes(result: Sensitivity) -> list[str]:
    settings = result.settings
    first = {metric: result.series(result.kinds[0], next(iter(result.systems)), metric)[0] for metric in result.columns}
    text = "responses" if result.of == "response" else "references"
    notes = [caveat.message for caveat in result.caveats if caveat.code == "insensitive"]
    notes.append(f"ratio: the share of each system's {text} that is made worse, seed {settings.seed}")
    for better, words in DIRECTIONS.items():
        if metrics := [metric for metric, point in first.items() if point.higher_is_better is better]:
            notes.append(f"{words}: {', '.join(metrics)}")
    notes += [*_about_spearman(result), *_about_verdicts(result)]
    notes.append(
        f"{100 * settings.confidence:.4g}% intervals over {result.unit} of all values: --format csv or json, or --plot"
    )
    signatures = dict.fromkeys(point.signature for point in first.values())
    return [*notes, *(f"signature: {signature}" for signature in signatures)]


def _about_spearman(result: Sensitivity) -> list[str]:
    directions = {point.higher_is_better for point in result.points}
    points = len(result.ratios)
    count = f"up to {points}" if any(trend.points < points for trend in result.trends) else str(points)
    over = f"over {count} points (too few for a p-value)"
    notes = [f"Spearman: between ratio and value, {over}; -1 where quality falls at every step"]
    if False in directions:
        notes.append("where lower is better, Spearman is of the negated value: there too, -1 where quality falls")
    if None in directions:
        notes.append("where there is no better or worse, Spearman is of the value as it is: -1 where the value falls")
    return notes


def _about_verdicts(result: Sensitivity) -> list[str]:
    verdicts = {trend.verdict for trend in result.trends}
    largest = f"{result.ratios[-1]:g}"
    notes = []
    if verdicts & {FALLS, UNCLEAR, STAYS}:
        notes.append(f"falls: Spearman at most {STEADY}, and the value at {largest} is worse than at 0")
    if UNCLEAR in verdicts:
        notes.append(f"unclear: the intervals of the values at 0 and {largest} overlap or are missing")
    if UNCHANGED in verdicts:
        notes.append("nothing changed: no response could be perturbed")
    return notes
