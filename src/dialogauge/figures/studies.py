"""The figures of studies and of trainings: tests for normality, how metrics move as responses get worse, what networks
learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.figures.drawing import BEST, EDGE, INK, MUTED, STYLES, caption, panels, plain, save
from dialogauge.stats.arrays import Floats
from dialogauge.stats.gaussian_tests import LEVEL
from dialogauge.studies.normality_result import Example, Normality, NormalityRow
from dialogauge.studies.perturb import KINDS
from dialogauge.studies.sensitivity import Sensitivity
from dialogauge.studies.trend import DIRECTIONS
from dialogauge.tables import printable
from dialogauge.tables.names import fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dialogauge.studies.trend import Point

TITLES = ("W of every dimension", "least normal dimension", "typical dimension", "most normal dimension")
BARS, REJECTED = "#b9cfe6", "#d55e00"
WIDEST = 6.0
"""In standard deviations. What lies further out stands in the outermost bars."""
W_BINS = 30
LONGEST = 24
"""Letters of a system's name."""

ASIDE = 0.007
"""Lines stand beside each other by this share of the axis, so that intervals do not hide each other."""

ACCURACIES = {
    "ranking_accuracy": (
        "ranking accuracy",
        "the true response of {} pairs held back scores above a random one",
        "lowest validation loss",
    ),
    "accuracy": ("accuracy", "the class of {} pairs held back is told right", "highest accuracy"),
    "gauge": (
        "accuracy",
        "the better of two replies held back scores higher, of {} of conversations, then of rated ones",
        "lowest validation loss, of ratings the last",
    ),
}
"""What cards measure: its title, what it counts, and which epoch is the best."""


def plot_normality(result: Normality, path: str | Path) -> Path:
    """Draws a row of four panels for the references and each system: a histogram of W over the dimensions, and
    histograms of the values in the dimensions with the smallest, the median and the largest W under a Gaussian's
    density. Panels of one column have the same axes."""
    return save(lambda: _draw_normality(result), path)


def plot_sensitivity(result: Sensitivity, path: str | Path) -> Path:
    """Draws a panel for each metric, in a row for each system: values by ratio, a line with intervals for each kind.
    One metric has the same scale for all systems."""
    return save(lambda: _draw_sensitivity(result), path)


def plot_training(card: Mapping[str, Any], path: str | Path) -> Path:
    """Draws loss and accuracy by epoch from a model's card: a line for each network, a dot where its weights come
    from."""
    return save(lambda: _draw_training(card), path)


def _draw_normality(result: Normality) -> Figure:
    from matplotlib.figure import Figure

    rows = result.rows
    figure = Figure(figsize=(10.5, 1.0 + 1.25 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(TITLES), sharex="col", sharey="col", squeeze=False)
    w_bins, value_bins = _w_bins(rows), _value_bins(rows)
    for axes, row in zip(grid, rows, strict=True):
        _normality_row(axes, row, w_bins, value_bins)
    for axis, title in zip(grid[0], TITLES, strict=True):
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
    grid[-1][0].set_xlabel(f"W (dark: p < {LEVEL})", fontsize=8, color=MUTED)
    for axis in grid[-1][1:]:
        axis.set_xticks(np.arange(-value_bins[-1], value_bins[-1] + 1)[::2] + value_bins[-1] % 2)
        axis.set_xlabel("standard deviations from the mean", fontsize=8, color=MUTED)
    figure.supxlabel(_caption(rows), fontsize=8, color=MUTED)
    return figure


def _normality_row(axes: list[Axes], row: NormalityRow, w_bins: Floats, value_bins: Floats) -> None:
    for axis in axes:
        _plain(axis)
    label = [fit(row.name, LONGEST), f"n = {row.n}"]
    if row.directions_p is not None:
        label.append(f"together {_p(row.directions_p)}")
    axes[0].set_ylabel("\n".join(label), rotation=0, ha="right", va="center", color=INK)
    if not row.examples:
        axes[0].text(0.5, 0.5, "nothing to test", transform=axes[0].transAxes, ha="center", va="center", color=MUTED)
        return
    w, rejected = row.tests.w, row.tests.p < LEVEL
    parts = [w[rejected], w[~rejected & ~np.isnan(w)]]
    axes[0].hist(parts, bins=w_bins.tolist(), stacked=True, color=[REJECTED, BARS])
    for axis, example in zip(axes[1:], row.examples, strict=True):
        _values(axis, example, value_bins)


def _values(axis: Axes, example: Example, bins: Floats) -> None:
    shown = np.clip(example.values, bins[0], bins[-1])
    axis.hist(shown, bins=bins.tolist(), density=True, color=BARS)
    x = np.linspace(bins[0], bins[-1], 200)
    axis.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), color=BEST, linewidth=1.2)
    words = f"no. {example.dimension}\nW = {example.w:.3f}\n{_p(example.p)}"
    axis.text(0.98, 0.95, words, transform=axis.transAxes, ha="right", va="top", fontsize=7.5, color=INK)


def _p(p: float) -> str:
    return f"p = {p:.3f}" if p >= 0.0005 else "p < 0.001"


def _w_bins(rows: list[NormalityRow]) -> Floats:
    smallest = min((example.w for row in rows for example in row.examples), default=0.9)
    return np.linspace(min(smallest, 0.99), 1, W_BINS + 1)


def _value_bins(rows: list[NormalityRow]) -> Floats:
    """Narrower the more values a histogram has."""
    farthest = max((float(np.abs(example.values).max()) for row in rows for example in row.examples), default=3.0)
    reach = float(np.ceil(min(max(farthest, 3.0), WIDEST)))
    per_unit = int(np.clip(round(max(row.n for row in rows) ** (1 / 3) / 2), 1, 5))
    return np.linspace(-reach, reach, int(2 * reach) * per_unit + 1)


def _caption(rows: list[NormalityRow]) -> str:
    beyond = sum(int((np.abs(example.values) > WIDEST).sum()) for row in rows for example in row.examples)
    outside = f"; {beyond} values beyond ±{WIDEST:g} stand at the edge" if beyond else ""
    return f"bars: vectors; line: a Gaussian; together: the test of all dimensions along random directions{outside}"


def _plain(axis: Axes) -> None:
    axis.set_yticks([])
    axis.tick_params(length=0, colors=INK, labelsize=8)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(EDGE)


def _draw_sensitivity(result: Sensitivity) -> Figure:
    from matplotlib.figure import Figure

    systems, metrics = list(result.systems), result.columns
    figure = Figure(figsize=(1.5 + 2.9 * len(metrics), 0.7 + 2.3 * len(systems)), layout="constrained")
    grid = figure.subplots(len(systems), len(metrics), sharex=True, sharey="col", squeeze=False)
    for row, system in zip(grid, systems, strict=True):
        for axis, metric in zip(row, metrics, strict=True):
            _sensitivity_panel(axis, [result.series(kind, system, metric) for kind in result.kinds])
            title = metric if len(systems) == 1 else f"{metric}, {system}"
            axis.set_title(printable(title), color=INK, fontweight="bold")
    grid[-1][0].set_xticks(result.ratios, [f"{ratio:g}" for ratio in result.ratios])
    lines, kinds = grid[0][0].get_legend_handles_labels()
    figure.legend(lines, kinds, loc="outside right center", frameon=False)
    changed = "responses" if result.of == "response" else "references"
    interval = f"{100 * result.settings.confidence:.4g}% intervals over {result.unit}"
    figure.supxlabel(f"share of {changed} made worse; {interval}", fontsize=8, color=MUTED)
    return figure


def _sensitivity_panel(axis: Axes, lines: list[list[Point]]) -> None:
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


def _draw_training(card: Mapping[str, Any]) -> Figure:
    from matplotlib.ticker import MaxNLocator

    figure, (losses, accuracies) = panels(2, 3.4, 2.6)
    curves, held = card["curves"], card["validation"]
    column = kind = "accuracy" if "accuracy" in held else "ranking_accuracy"
    if card.get("kind") == "gauge":
        kind, curves = "gauge", _one_after_another(curves)
    named, meaning, best = ACCURACIES[kind]
    for curve in curves:
        _training_line(losses, curve, "loss", MUTED)
        _training_line(losses, curve, "validation_loss", INK)
        _training_line(accuracies, curve, column, INK)
    for axis, title in ((losses, "loss"), (accuracies, named)):
        axis.set_title(title, color=INK, fontweight="bold")
        axis.set_xlabel("epoch", fontsize=8, color=MUTED)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        plain(axis)
    losses.plot([], [], color=MUTED, label="training")
    losses.plot([], [], color=INK, label="validation")
    losses.legend(frameon=False, fontsize=8)
    networks = "the network's" if len(curves) == 1 or kind == "gauge" else f"each of {len(curves)} networks'"
    caption(
        figure,
        f"dot: the epoch of {networks} weights, that with the {best}",
        f"{named}: how often {meaning.format(held['examples' if kind == 'gauge' else 'pairs'])}",
    )
    return figure


def _one_after_another(curves: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of one network that is trained in several ways: each goes on where the last one ended."""
    found, done = [], 0.0
    for curve in curves:
        epochs = [{**stage, "epoch": done + stage["epoch"]} for stage in curve["epochs"]]
        found.append({**curve, "epochs": epochs})
        done = epochs[-1]["epoch"]
    return found


def _training_line(axis: Axes, curve: Mapping[str, Any], name: str, colour: str) -> None:
    epochs = curve["epochs"]
    axis.plot([epoch["epoch"] for epoch in epochs], [epoch[name] for epoch in epochs], color=colour, linewidth=1.3)
    if colour == INK:
        best = epochs[curve["best"] - 1]
        axis.plot([best["epoch"]], [best[name]], "o", color=BEST, markersize=5.5)
