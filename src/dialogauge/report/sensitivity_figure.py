"""The figure of a sensitivity analysis: how each metric moves as responses get worse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.corpus.perturbations import KINDS
from dialogauge.evaluation.sensitivity import Sensitivity
from dialogauge.evaluation.sensitivity_table import DIRECTIONS
from dialogauge.report.drawing import INK, MUTED, plain, save
from dialogauge.tables import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dialogauge.evaluation.trend import Point

STYLES = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    ("#000000", "X"),
)
"""Colours that are told apart without red or green (Okabe & Ito 2008), and a marker for each. A kind has the same in
every figure."""
ASIDE = 0.007
"""Lines stand beside each other by this share of the axis, so that intervals do not hide each other."""


def plot_sensitivity(result: Sensitivity, path: str | Path) -> Path:
    """Draws a panel for each metric, in a row for each system: values by ratio, a line with intervals for each kind.
    One metric has the same scale for all systems."""
    return save(lambda: _draw(result), path)


def _draw(result: Sensitivity) -> Figure:
    from matplotlib.figure import Figure

    systems, metrics = list(result.systems), result.columns
    figure = Figure(figsize=(1.5 + 2.9 * len(metrics), 0.7 + 2.3 * len(systems)), layout="constrained")
    grid = figure.subplots(len(systems), len(metrics), sharex=True, sharey="col", squeeze=False)
    for row, system in zip(grid, systems, strict=True):
        for axis, metric in zip(row, metrics, strict=True):
            _panel(axis, [result.series(kind, system, metric) for kind in result.kinds])
            title = metric if len(systems) == 1 else f"{metric}, {system}"
            axis.set_title(printable(title), color=INK, fontweight="bold")
    grid[-1][0].set_xticks(result.ratios, [f"{ratio:g}" for ratio in result.ratios])
    lines, kinds = grid[0][0].get_legend_handles_labels()
    figure.legend(lines, kinds, loc="outside right center", frameon=False)
    changed = "responses" if result.of == "response" else "references"
    interval = f"{100 * result.settings.confidence:.4g}% intervals over {result.unit}"
    figure.supxlabel(f"share of {changed} made worse; {interval}", fontsize=8, color=MUTED)
    return figure


def _panel(axis: Axes, lines: list[list[Point]]) -> None:
    for place, points in enumerate(lines):
        colour, marker = STYLES[list(KINDS).index(points[0].kind) % len(STYLES)]
        aside = ASIDE * (place - (len(lines) - 1) / 2)
        places = [point.ratio + (aside if point.ratio else 0) for point in points]
        values = [float("nan") if point.value is None else point.value for point in points]
        axis.plot(places, values, color=colour, linewidth=1.2, label=points[0].kind, marker=marker, markersize=4.5)
        for x, point in zip(places[1:], points[1:], strict=True):
            _interval(axis, x, point, colour)
    _start(axis, lines[0][0])
    axis.set_ylabel(DIRECTIONS[lines[0][0].higher_is_better], fontsize=8, color=MUTED)
    plain(axis, "y")


def _start(axis: Axes, point: Point) -> None:
    """The value at ratio 0, once for all kinds."""
    if point.value is not None:
        axis.plot([0], [point.value], "o", color=INK, markersize=6, zorder=3)
    _interval(axis, 0, point, INK)


def _interval(axis: Axes, x: float, point: Point, colour: str) -> None:
    if point.low is not None and point.high is not None:
        axis.plot([x, x], [point.low, point.high], color=colour, linewidth=1, alpha=0.6)
