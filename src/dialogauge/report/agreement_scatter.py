"""The figure of turns: what a metric says of each one against what people say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.agreement.points import Points, Scope
from dialogauge.agreement.result import Agreement
from dialogauge.report.agreement_parts import (
    interval_words,
    metrics_of,
    points_of,
    rows_of,
    scope_title,
    told,
    turned_words,
)
from dialogauge.report.drawing import (
    BEST,
    DIRECTION,
    INK,
    MUTED,
    TITLE,
    caption,
    fit_all,
    legend_columns,
    nothing,
    panels,
    plain,
    save,
)
from dialogauge.report.sensitivity_figure import STYLES
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import fitted_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SYSTEMS = 6
"""As many are told apart by colour and marker."""
MANY = 2000
"""More points than this are drawn as a picture, in SVG and PDF too: as shapes they would take megabytes."""
HEADROOM = 0.34
"""Room above the points for the correlations, as a share of their range."""


def plot_turn_scatter(
    agreement: Agreement, path: str | Path, scope: Scope | None = None, metrics: Sequence[str] | None = None
) -> Path:
    """Draws a panel for each metric: its value of every turn (or dialogue, where the scope is one of dialogues) against
    the mean rating, with a fitted line and its band, and the correlations. Without a scope: the first one of turns."""
    return save(lambda: draw_turn_scatter(agreement, scope, metrics), path)


def draw_turn_scatter(agreement: Agreement, scope: Scope | None = None, metrics: Sequence[str] | None = None) -> Figure:
    points = points_of(agreement, ("turn", "dialogue"), scope)
    shown = metrics_of(points, metrics)
    rows = rows_of(agreement, points.scope)
    figure, axes = panels(len(shown), 2.7, 2.5)
    x = points.people + _jitter(points.people)
    for axis, metric, title in zip(axes, shown, fit_all(shown, TITLE), strict=True):
        row = rows.get(metric)
        _draw(axis, points, x, points.column(metric), agreement.settings.confidence)
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
        axis.set_ylabel(DIRECTION[row.higher_is_better] if row else "", fontsize=8, color=MUTED)
        axis.text(0.02, 0.98, told(row), transform=axis.transAxes, ha="left", va="top", fontsize=7.5, color=INK)
    handles, names = max((axis.get_legend_handles_labels() for axis in axes), key=lambda found: len(found[1]))
    if len(names) > 1:
        _legend(figure, handles, fit_all(names))
    what = f"x: mean rating of each {points.scope.level}, moved a little where equal"
    intervals = interval_words(agreement, points.scope.level)
    caption(figure, scope_title(points.scope), what, intervals, turned_words(rows, shown))
    return figure


def _draw(axis: Axes, points: Points, x: Floats, y: Floats, confidence: float) -> None:
    plain(axis)
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        nothing(axis)
        return
    systems = list(dict.fromkeys(points.systems))
    apart = 1 < len(systems) <= MOST_SYSTEMS
    alpha = float(np.clip(8 / np.sqrt(known.sum()), 0.15, 0.6))
    look: dict[str, Any] = {"alpha": alpha, "linewidths": 0, "rasterized": bool(known.sum() > MANY)}
    for place, system in enumerate(systems if apart else [None]):
        mask = known if system is None else known & (np.array(points.systems) == system)
        colour, marker = STYLES[place] if apart else (BEST, "o")
        axis.scatter(x[mask], y[mask], 13, c=colour, marker=marker, label=system, **look)
    line = fitted_line(points.people[known], y[known], points.units[known], confidence)
    if line is not None:
        along, height, band = line
        axis.plot(along, height, color=INK, linewidth=1.4)
        if band is not None:
            axis.fill_between(along, height - band, height + band, color=INK, alpha=0.15, linewidth=0)
    bottom, top = float(y[known].min()), float(y[known].max())
    spread = top - bottom or 1.0
    axis.set_ylim(bottom - 0.06 * spread, top + HEADROOM * spread)


def _legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
    columns = legend_columns(figure, names)
    legend = figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False, fontsize=8)
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set_alpha(1)


def _jitter(people: Floats) -> Floats:
    """Moves points with one rating aside, by less than ratings differ; the same at every call."""
    ratings = np.unique(np.round(people[np.isfinite(people)], 6))
    if len(ratings) < 2:
        return np.zeros_like(people)
    reach = min(0.3 * float(np.median(np.diff(ratings))), 0.03 * float(np.ptp(ratings)))
    moved: Floats = np.random.default_rng(0).uniform(-reach, reach, len(people))
    return moved
