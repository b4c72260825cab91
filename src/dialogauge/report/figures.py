"""The figure of scores with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.evaluation.result import Result, Score
from dialogauge.evaluation.score_table import best_value
from dialogauge.report.drawing import BEST, DIRECTION, EDGE, FLOOR, GRID, INK, MUTED, save
from dialogauge.tables import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_scores(result: Result, path: str | Path) -> Path:
    """Draws each metric of the result's table as a panel: a dot per system and a line for its interval."""
    return save(lambda: _draw(result), path)


def _draw(result: Result) -> Figure:
    from matplotlib.figure import Figure

    systems = list(result.systems)
    panels = len(result.columns)
    figure = Figure(figsize=(1.6 + 2.3 * panels, 1.1 + 0.34 * len(systems)), layout="constrained")
    axes = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
    for axis, metric in zip(axes, result.columns, strict=True):
        _panel(axis, [result.score(system, metric) for system in systems])
        axis.set_title(printable(metric), color=INK, fontweight="bold")
    axes[0].set_yticks(range(len(systems)), [printable(system) for system in systems])
    axes[0].set_ylim(len(systems) - 0.5, -0.5)
    settings = result.settings
    figure.supxlabel(f"{100 * settings.confidence:.4g}% intervals over {result.unit}", fontsize=8, color=MUTED)
    return figure


def _panel(axis: Axes, scores: list[Score]) -> None:
    best = best_value(scores)
    for place, score in enumerate(scores):
        if score.value is None:
            continue
        colour = BEST if score.value == best else INK
        if score.low is not None and score.high is not None:
            axis.plot([score.low, score.high], [place, place], color=colour, linewidth=2, solid_capstyle="round")
        axis.plot([score.value], [place], "o", color=colour, markersize=5.5)
        if score.floor is not None:
            axis.plot([score.floor], [place], "|", color=FLOOR, markersize=14, markeredgewidth=2)
    floor = ", | floor" if any(score.floor is not None for score in scores) else ""
    axis.set_xlabel(DIRECTION[scores[0].higher_is_better] + floor, fontsize=8, color=MUTED)
    axis.grid(axis="x", color=GRID, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.margins(x=0.12)
    axis.tick_params(length=0, colors=INK)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(EDGE)
