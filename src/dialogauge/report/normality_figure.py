"""The figure of tests for normality: how far from normal the dimensions are, and what three of them look like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.evaluation.normality import Normality
from dialogauge.evaluation.normality_row import Example, NormalityRow
from dialogauge.report.drawing import BEST, EDGE, INK, MUTED, fit, save
from dialogauge.stats.arrays import Floats
from dialogauge.stats.gaussian_tests import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = ("W of every dimension", "least normal dimension", "typical dimension", "most normal dimension")
BARS, REJECTED = "#b9cfe6", "#d55e00"
WIDEST = 6.0
"""In standard deviations. What lies further out stands in the outermost bars."""
W_BINS = 30
LONGEST = 24
"""Letters of a system's name."""


def plot_normality(result: Normality, path: str | Path) -> Path:
    """Draws a row of four panels for the references and each system: a histogram of W over the dimensions, and
    histograms of the values in the dimensions with the smallest, the median and the largest W under a Gaussian's
    density. Panels of one column have the same axes."""
    return save(lambda: _figure(result), path)


def _figure(result: Normality) -> Figure:
    from matplotlib.figure import Figure

    rows = result.rows
    figure = Figure(figsize=(10.5, 1.0 + 1.25 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(TITLES), sharex="col", sharey="col", squeeze=False)
    w_bins, value_bins = _w_bins(rows), _value_bins(rows)
    for axes, row in zip(grid, rows, strict=True):
        _draw(axes, row, w_bins, value_bins)
    for axis, title in zip(grid[0], TITLES, strict=True):
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
    grid[-1][0].set_xlabel(f"W (dark: p < {LEVEL})", fontsize=8, color=MUTED)
    for axis in grid[-1][1:]:
        axis.set_xticks(np.arange(-value_bins[-1], value_bins[-1] + 1)[::2] + value_bins[-1] % 2)
        axis.set_xlabel("standard deviations from the mean", fontsize=8, color=MUTED)
    figure.supxlabel(_caption(rows), fontsize=8, color=MUTED)
    return figure


def _draw(axes: list[Axes], row: NormalityRow, w_bins: Floats, value_bins: Floats) -> None:
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
    told = f"no. {example.dimension}\nW = {example.w:.3f}\n{_p(example.p)}"
    axis.text(0.98, 0.95, told, transform=axis.transAxes, ha="right", va="top", fontsize=7.5, color=INK)


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
