"""The figures of the papers, drawn anew: bars by corpus, boxes by class, and scatters of metrics and ratings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dialogauge.errors import InputError
from dialogauge.figures.agreement_scatters import correlations_text
from dialogauge.figures.drawing import (
    BEST,
    DIRECTION,
    INK,
    MANY,
    MUTED,
    NARROWEST,
    STYLES,
    caption,
    legend_columns,
    line_with_band,
    nothing,
    panels,
    plain,
    save,
)
from dialogauge.papers.entailment.figure1 import BoxPanel
from dialogauge.papers.entailment.figure2 import JITTER, ScatterPanel
from dialogauge.papers.fbd.figures import Bar
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import fitted_line
from dialogauge.tables import printable
from dialogauge.tables.names import fit, fit_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oooo")
TICK: dict[str, Any] = {"color": "black", "linewidth": 2.2, "solid_capstyle": "butt", "zorder": 4}
"""The published value."""
LETTER = 0.07
"""Inches that a letter of a group's name takes."""
TOGETHER, WIDEST = 0.8, 0.3
"""How much of a group's place its bars take, and one bar at most."""

WIDTH, ASIDE = 0.56, 0.17
"""Of a box, and how far points are moved from its middle."""
WIDE, HIGH = 2.9, 2.7
"""Inches that a panel takes."""
TITLE = 34
"""Letters of a panel's title."""
MEAN = {"marker": "D", "markersize": 5, "markerfacecolor": "white", "markeredgecolor": "black", "linestyle": "none"}

HEADROOM = 0.3
"""Room above the points for the correlations, as a share of their range."""
CONFIDENCE = 0.95


def plot_paper_bars(panels: Mapping[str, Sequence[Bar]], path: str | Path) -> Path:
    """Draws a panel of bars for each title: groups along x, a bar for each series with its interval, and a black tick
    where the paper's value is. A series looks the same in all panels, which share the y axis."""
    return save(lambda: draw_paper_bars(panels), path)


def draw_paper_bars(panels: Mapping[str, Sequence[Bar]]) -> Figure:
    from matplotlib.figure import Figure

    every = [bar for bars in panels.values() for bar in bars]
    if not every:
        raise InputError("there are no bars to draw")
    groups, series = (list(dict.fromkeys(getattr(bar, part) for bar in every)) for part in ("group", "series"))
    if len(series) > len(STYLES):
        raise InputError(f"{len(series)} series cannot be told apart; at most {len(STYLES)} can")
    longest = max(len(line) for label in _labels(groups) for line in label.split("\n"))
    wide = 0.9 + len(groups) * max(0.22 * len(series), 0.75, LETTER * longest)
    figure = Figure(figsize=(max(NARROWEST, 0.4 + wide * len(panels)), 3.1), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (title, bars) in zip(axes, panels.items(), strict=True):
        _check(title, bars)
        _bars_panel(axis, title, bars, groups, series)
    _legend(figure, series, every)
    published = "published: absolute values" if any(bar.published is not None for bar in every) else ""
    caption(figure, "correlation with people, signed", published)
    return figure


def plot_class_boxes(shown: Sequence[BoxPanel], path: str | Path) -> Path:
    """Draws a panel for each corpus (a row of them for each model, where there are several): for every class a box
    (median and quartiles; whiskers to the furthest point within 1.5 of its height), the single scores, the mean, and
    how many there are."""
    return save(lambda: draw_class_boxes(shown), path)


def draw_class_boxes(shown: Sequence[BoxPanel]) -> Figure:
    if not shown:
        raise InputError("there are no scores to draw")
    figure, axes = _places(shown)
    several = len({panel.model for panel in shown}) > 1
    rng = np.random.default_rng(0)
    for axis, panel in zip(axes, shown, strict=True):
        _boxes_panel(axis, panel, rng)
        model = f"\n{fit(panel.model, TITLE)}" if several else ""
        axis.set_title(fit(panel.corpus, TITLE) + model, color=INK, fontweight="bold", fontsize=9)
    caption(
        figure,
        f"human score by predicted class{'' if several else f' of {fit(shown[0].model, TITLE)}'}",
        "box: quartiles and median, whiskers to 1.5 of its height",
        "diamond: mean",
        "points are moved a little",
    )
    return figure


def plot_similarity_scatter(shown: Sequence[ScatterPanel], path: str | Path, seed: int = 0) -> Path:
    """Draws a row for each corpus and a column for each metric. Ratings are moved by noise, N(0, 0.1); lines and
    correlations are those of the ratings as they are."""
    return save(lambda: draw_similarity_scatter(shown, seed), path)


def draw_similarity_scatter(shown: Sequence[ScatterPanel], seed: int = 0) -> Figure:
    from matplotlib.figure import Figure

    if not shown:
        raise InputError("there are no points to draw")
    corpora, titles = (list(dict.fromkeys(getattr(panel, part) for panel in shown)) for part in ("corpus", "title"))
    size = max(NARROWEST, 0.8 + 2.6 * len(titles)), 0.9 + 2.3 * len(corpora)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(corpora), len(titles), squeeze=False)
    rng = np.random.default_rng(seed)
    for line, corpus in zip(axes, corpora, strict=True):
        for axis, title in zip(line, titles, strict=True):
            panel = next((each for each in shown if (each.corpus, each.title) == (corpus, title)), None)
            _scatter_panel(axis, panel, rng)
        line[0].set_ylabel(f"{fit(corpus)}\n{line[0].get_ylabel()}", fontsize=8, color=INK)
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(fit(title), color=INK, fontweight="bold", fontsize=9)
    caption(
        figure,
        f"x: mean rating of each response, with noise N(0, {JITTER:g})",
        "r and ρ without it, turned round where lower is better, with 95% intervals over dialogues or contexts",
        "line: least squares",
    )
    return figure


def _bars_panel(axis: Axes, title: str, bars: Sequence[Bar], groups: Sequence[str], series: Sequence[str]) -> None:
    plain(axis, "y")
    axis.axhline(0, color=INK, linewidth=0.8)
    width = min(TOGETHER / len(series), WIDEST)
    for bar in bars:
        place = series.index(bar.series)
        x = groups.index(bar.group) + width * (place - (len(series) - 1) / 2)
        if math.isnan(bar.value):
            axis.text(x, 0, "–", ha="center", va="bottom", color=MUTED)
        else:
            axis.bar(x, bar.value, 0.92 * width, **_look(place))
        if bar.low is not None and bar.high is not None:
            axis.plot([x, x], [bar.low, bar.high], color=INK, linewidth=1.1, solid_capstyle="butt")
        if bar.published is not None:
            axis.plot([x - width / 2, x + width / 2], [bar.published] * 2, **TICK)
    axis.set_title(printable(title), color=INK, fontweight="bold", fontsize=9)
    axis.set_xticks(range(len(groups)), _labels(groups))
    axis.set_xlim(-0.6, len(groups) - 0.4)


def _labels(groups: Sequence[str]) -> list[str]:
    """The names of groups; what stands in brackets on a line of its own."""
    parts = [group.partition(" (") for group in groups]
    return [f"{fit(name)}\n({fit(remark)}" if bracket else fit(name) for name, bracket, remark in parts]


def _look(place: int) -> dict[str, Any]:
    """Of the bars of a series."""
    return {"facecolor": STYLES[place][0], "hatch": HATCHES[place], "edgecolor": "white", "linewidth": 0}


def _legend(figure: Figure, series: Sequence[str], bars: Sequence[Bar]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Patch | Line2D] = [Patch(**_look(place)) for place in range(len(series))]
    names = fit_all(series)
    if any(bar.low is not None and bar.high is not None for bar in bars):
        handles.append(Line2D([], [], color=INK, marker="|", markersize=10, linestyle="none"))
        names.append("interval")
    if any(bar.published is not None for bar in bars):
        handles.append(Line2D([], [], **TICK))
        names.append("published")
    figure.legend(
        handles, names, loc="outside upper center", ncols=legend_columns(figure, names), frameon=False, fontsize=8
    )


def _check(title: str, bars: Sequence[Bar]) -> None:
    (bar, often), *_ = Counter((bar.group, bar.series) for bar in bars).most_common(1) or [(("", ""), 0)]
    if often > 1:
        raise InputError(f"{often} bars of {bar[1]!r} in the group {bar[0]!r} of {title!r}; there can be one")


def _places(shown: Sequence[BoxPanel]) -> tuple[Figure, list[Axes]]:
    """Room for each panel."""
    from matplotlib.figure import Figure

    models, corpora = ({getattr(panel, part) for panel in shown} for part in ("model", "corpus"))
    if len(models) == 1 or len(shown) != len(models) * len(corpora):
        return panels(len(shown), WIDE, HIGH)
    figure = Figure(figsize=(0.6 + WIDE * len(corpora), 0.6 + HIGH * len(models)), layout="constrained")
    return figure, list(figure.subplots(len(models), len(corpora), squeeze=False).flat)


def _boxes_panel(axis: Axes, panel: BoxPanel, rng: np.random.Generator) -> None:
    plain(axis, "y")
    for place, (label, scores) in enumerate(panel.scores.items()):
        if not len(scores):
            continue
        colour = STYLES[place][0]
        moved = rng.uniform(-ASIDE, ASIDE, (2, len(scores))) * np.array([[1.0], [_nudge(panel)]])
        alpha = float(np.clip(6 / np.sqrt(len(scores)), 0.15, 0.6))
        axis.scatter(place + moved[0], scores + moved[1], 9, c=colour, alpha=alpha, linewidths=0, zorder=2)
        axis.boxplot(
            [scores],
            positions=[place],
            widths=WIDTH,
            showfliers=False,
            patch_artist=True,
            boxprops={"facecolor": (*_rgb(colour), 0.15), "edgecolor": colour},
            medianprops={"color": INK, "linewidth": 1.6},
            whiskerprops={"color": colour},
            capprops={"color": colour},
        )
        axis.plot([place], [float(scores.mean())], zorder=5, label=label, **MEAN)  # type: ignore[arg-type]
    names = [f"{printable(label)}\nn = {len(scores)}" for label, scores in panel.scores.items()]
    axis.set_xticks(range(len(names)), names)
    axis.set_xlim(-0.5, len(names) - 0.5)
    reach = panel.scale.high - panel.scale.low
    axis.set_ylim(panel.scale.low - 0.05 * reach, panel.scale.high + 0.05 * reach)
    axis.set_ylabel(printable(panel.scale.dimension), fontsize=8, color=INK)


def _nudge(panel: BoxPanel) -> float:
    """Up and down by at most 1 % of the scale."""
    return 0.01 * (panel.scale.high - panel.scale.low) / ASIDE


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def _scatter_panel(axis: Axes, panel: ScatterPanel | None, rng: np.random.Generator) -> None:
    if panel is None:
        plain(axis)
        nothing(axis)
        return
    x: Floats = panel.people + rng.normal(0, JITTER, len(panel.people))
    y = panel.values
    plain(axis)
    alpha = float(np.clip(8 / np.sqrt(len(y)), 0.15, 0.6))
    axis.scatter(x, y, 12, c=BEST, alpha=alpha, linewidths=0, rasterized=len(y) > MANY)
    line_with_band(axis, fitted_line(panel.people, y, panel.units, CONFIDENCE))
    spread = float(np.ptp(y)) or 1.0
    axis.set_ylim(float(y.min()) - 0.06 * spread, float(y.max()) + HEADROOM * spread)
    axis.set_xlim(panel.scale.low - 0.25, panel.scale.high + 0.25)
    corner = axis.text(
        0.02, 0.98, correlations_text(panel.row), transform=axis.transAxes, ha="left", va="top", fontsize=7.5
    )
    corner.set(color=INK, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5})
    axis.set_ylabel(DIRECTION[panel.row.higher_is_better], fontsize=8, color=MUTED)
