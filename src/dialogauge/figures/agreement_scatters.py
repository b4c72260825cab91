"""The figures of what a metric says against what people say: of each turn, and of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.agreement.points import Level, Points, Scope
from dialogauge.agreement.result import Agreement, AgreementRow
from dialogauge.errors import InputError, unknown
from dialogauge.evaluation.digits import interval_text, value_text
from dialogauge.figures.drawing import (
    BEST,
    DIRECTION,
    INK,
    MANY,
    MUTED,
    STYLES,
    TITLE,
    caption,
    label_points,
    legend_columns,
    line_with_band,
    nothing,
    panels,
    plain,
    save,
)
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import fitted_line
from dialogauge.tables.names import fit, fit_all

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SYSTEMS = 6
"""As many are told apart by colour and marker."""
TURNS_HEADROOM = 0.34
"""Room above the points for the correlations, as a share of their range."""

MOST_NUMBERS = 40
"""Systems that are told apart; more are dots."""
MOST_NAMES, LONGEST_NAME = 6, 12
"""More systems, or longer names, are numbered, and the names stand beside the panels."""
FEW = 8
"""Systems below which the figure says that they are few."""
SYSTEMS_HEADROOM = 0.3
"""Room above the points for the correlations, as a share of their range."""
NAMES_PER_ROW = 13
TURNED = "correlations are turned round where lower is better: more is better agreement"


def plot_turn_scatter(
    agreement: Agreement, path: str | Path, scope: Scope | None = None, metrics: Sequence[str] | None = None
) -> Path:
    """Draws a panel for each metric: its value of every turn (or dialogue, where the scope is one of dialogues) against
    the mean rating, with a fitted line and its band, and the correlations. Without a scope: the first one of turns."""
    return save(lambda: draw_turn_scatter(agreement, scope, metrics), path)


def draw_turn_scatter(agreement: Agreement, scope: Scope | None = None, metrics: Sequence[str] | None = None) -> Figure:
    points = _points_of(agreement, ("turn", "dialogue"), scope)
    shown = _metrics_of(points, metrics)
    rows = rows_of(agreement, points.scope)
    figure, axes = panels(len(shown), 2.7, 2.5)
    x = points.people + _jitter(points.people)
    for axis, metric, title in zip(axes, shown, fit_all(shown, TITLE), strict=True):
        row = rows.get(metric)
        _turns_panel(axis, points, x, points.column(metric), agreement.settings.confidence)
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
        axis.set_ylabel(DIRECTION[row.higher_is_better] if row else "", fontsize=8, color=MUTED)
        axis.text(
            0.02, 0.98, correlations_text(row), transform=axis.transAxes, ha="left", va="top", fontsize=7.5, color=INK
        )
    handles, names = max((axis.get_legend_handles_labels() for axis in axes), key=lambda found: len(found[1]))
    if len(names) > 1:
        _turns_legend(figure, handles, fit_all(names))
    what = f"x: mean rating of each {points.scope.level}, moved a little where equal"
    intervals = interval_words(agreement, points.scope.level)
    caption(figure, _scope_title(points.scope), what, intervals, _turned_words(rows, shown))
    return figure


def plot_system_scatter(
    agreement: Agreement, path: str | Path, scope: Scope | None = None, metrics: Sequence[str] | None = None
) -> Path:
    """Draws a panel for each metric: its score of every system against the system's mean rating, with the intervals of
    both, and the correlations. Without a scope: the first one of systems."""
    return save(lambda: draw_system_scatter(agreement, scope, metrics), path)


def draw_system_scatter(
    agreement: Agreement, scope: Scope | None = None, metrics: Sequence[str] | None = None
) -> Figure:
    points = _points_of(agreement, ("system",), scope)
    shown = _metrics_of(points, metrics)
    rows = rows_of(agreement, points.scope)
    count = len(points.names)
    figure, axes = panels(len(shown), 2.7, 2.6)
    names = fit_all(points.names)
    numbered = count > MOST_NAMES or max(map(len, names), default=0) > LONGEST_NAME
    for axis, metric, title in zip(axes, shown, fit_all(shown, TITLE), strict=True):
        _systems_panel(axis, points, metric, rows.get(metric))
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
    if numbered and count <= MOST_NUMBERS:
        _systems_legend(figure, names, len({axis.get_subplotspec().rowspan.start for axis in axes}))  # type: ignore[union-attr]
    few = f"{count} systems only: a correlation of so few is uncertain" if count < FEW else ""
    intervals = f"{interval_words(agreement, 'system')} (bars: over {agreement.unit})"
    what = "x: mean rating of each system"
    caption(figure, _scope_title(points.scope), what, intervals, _turned_words(rows, shown), few)
    figure.draw_without_rendering()
    for axis, metric in zip(axes, shown, strict=True):
        y = points.column(metric)
        known = np.isfinite(y) & np.isfinite(points.people)
        labels = [str(place + 1) if numbered else names[place] for place in np.flatnonzero(known)]
        if count <= MOST_NUMBERS:
            label_points(axis, points.people[known], y[known], labels)
    return figure


def _turns_panel(axis: Axes, points: Points, x: Floats, y: Floats, confidence: float) -> None:
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
    line_with_band(axis, fitted_line(points.people[known], y[known], points.units[known], confidence))
    bottom, top = float(y[known].min()), float(y[known].max())
    spread = top - bottom or 1.0
    axis.set_ylim(bottom - 0.06 * spread, top + TURNS_HEADROOM * spread)


def _turns_legend(figure: Figure, handles: Sequence[Artist], names: Sequence[str]) -> None:
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


def _systems_panel(axis: Axes, points: Points, metric: str, row: AgreementRow | None) -> None:
    plain(axis)
    x, y = points.people, points.column(metric)
    known = np.isfinite(x) & np.isfinite(y)
    axis.text(
        0.02, 0.98, correlations_text(row), transform=axis.transAxes, ha="left", va="top", fontsize=7.5, color=INK
    )
    axis.set_ylabel(DIRECTION[row.higher_is_better] if row else "", fontsize=8, color=MUTED)
    if not known.any():
        nothing(axis)
        return
    place = points.metrics.index(metric)
    across = _bars(x, points.people_intervals)[:, known]
    up = _bars(y, None if points.value_intervals is None else points.value_intervals[:, place])[:, known]
    look: dict[str, Any] = {"fmt": "none", "ecolor": MUTED, "elinewidth": 1, "alpha": 0.8, "zorder": 2}
    axis.errorbar(x[known], y[known], xerr=across, yerr=up, **look)
    axis.plot(x[known], y[known], "o", color=BEST, markersize=5, zorder=3)
    _line(axis, x[known], y[known])
    axis.margins(0.1)
    bottom, top = axis.get_ylim()
    axis.set_ylim(bottom, top + SYSTEMS_HEADROOM * (top - bottom))


def _bars(middle: Floats, intervals: Floats | None) -> Floats:
    """How far each interval reaches below and above; NaN draws nothing. An interval need not hold its own value."""
    if intervals is None:
        return np.full((2, len(middle)), np.nan)
    reach: Floats = np.maximum(np.stack([middle - intervals[:, 0], intervals[:, 1] - middle]), 0)
    return reach


def _line(axis: Axes, x: Floats, y: Floats) -> None:
    """The least-squares line, from three systems on."""
    found = fitted_line(x, y, np.arange(len(x)), 0.95)
    if found:
        along, height, _ = found
        axis.plot(along, height, color=MUTED, linewidth=1, linestyle=":", zorder=1)


def _systems_legend(figure: Figure, names: Sequence[str], rows: int) -> None:
    from matplotlib.lines import Line2D

    blank = [Line2D([], [], linestyle="none") for _ in names]
    labels = [f"{place} {name}" for place, name in enumerate(names, 1)]
    columns = -(-len(names) // (NAMES_PER_ROW * rows))
    look: dict[str, Any] = {"frameon": False, "fontsize": 8, "handlelength": 0, "handletextpad": 0}
    figure.set_figwidth(figure.get_figwidth() + columns * (0.3 + 0.075 * max(map(len, labels))))
    figure.legend(blank, labels, loc="outside right center", ncols=columns, **look)


def _points_of(agreement: Agreement, levels: Sequence[Level], scope: Scope | None) -> Points:
    """The points of the scope, which is at one of these levels. Without one: of the first scope at the first of them,
    all systems rather than one."""
    found = [points for points in agreement.points if points.scope.level in levels]
    if scope is None:
        found = [points for points in found if points.scope.level == levels[0]]
        if not found:
            raise unknown("level", levels[0], {points.scope.level for points in agreement.points})
        return next((points for points in found if points.scope.system is None), found[0])
    for points in found:
        if points.scope == scope:
            return points
    raise unknown("scope", _scope_name(scope), [_scope_name(points.scope) for points in found])


def _scope_name(scope: Scope) -> str:
    system = [] if scope.system is None else [scope.system]
    return " / ".join([scope.corpus, scope.dimension, scope.level, *system])


def _metrics_of(points: Points, metrics: Sequence[str] | None) -> list[str]:
    """Those asked for, or all."""
    asked = points.metrics if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    for metric in asked:
        if metric not in points.metrics:
            raise unknown("metric", metric, points.metrics)
    if not asked:
        raise InputError(f"no metric to draw; there are: {', '.join(points.metrics) or 'none'}")
    return asked


def rows_of(agreement: Agreement, scope: Scope) -> dict[str, AgreementRow]:
    """By metric."""
    return {row.metric: row for row in agreement.rows if row.scope == scope}


def estimate(row: AgreementRow | None, coefficient: str) -> tuple[float | None, float | None, float | None]:
    """The correlation and its interval; None where there is none."""
    if row is None:
        return None, None, None
    value, low, high = (getattr(row, coefficient + part) for part in ("", "_low", "_high"))
    return value, low, high


def correlations_text(row: AgreementRow | None) -> str:
    """Both correlations with their intervals, for the corner of a panel."""
    return "\n".join(
        _correlation_text(sign, *estimate(row, name)) for sign, name in (("r", "pearson"), ("ρ", "spearman"))
    )


def _correlation_text(sign: str, value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return f"{sign} undefined"
    shown = f"{value_text((value, low, high), 2)} {interval_text(low, high, 2)}".strip()
    return f"{sign} = {shown.replace('-', '−')}"


def _scope_title(scope: Scope) -> str:
    """For a caption."""
    system = "" if scope.system is None else f", {fit(scope.system)}"
    return f"{fit(scope.corpus)}, {fit(scope.dimension)}{system}"


def interval_words(agreement: Agreement, level: Level) -> str:
    """For a caption: what was resampled for the intervals of correlations."""
    systems = " and systems" if level == "system" else ""
    return f"{100 * agreement.settings.confidence:.4g}% intervals over {agreement.unit}{systems}"


def _turned_words(rows: Mapping[str, AgreementRow], metrics: Sequence[str]) -> str:
    """For a caption: that lower may be better."""
    return TURNED if any(rows[metric].higher_is_better is False for metric in metrics if metric in rows) else ""
