"""The table of a sensitivity analysis: a metric under one kind of perturbation a row, ratios across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialogauge.evaluation.digits import Bounded, decimals_of, format_estimates
from dialogauge.evaluation.trend import FALLS, STAYS, STEADY, UNCHANGED, UNCLEAR, Point, Trend
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.evaluation.sensitivity import Sensitivity

DIRECTIONS = {True: "higher is better", False: "lower is better", None: "no better or worse"}


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
