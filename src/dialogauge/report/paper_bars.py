"""Grouped bars with their intervals, beside what a paper published."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.errors import InputError
from dialogauge.report.drawing import INK, MUTED, NARROWEST, caption, fit, fit_all, legend_columns, plain, save
from dialogauge.report.sensitivity_figure import STYLES
from dialogauge.reproduce.bars import Bar
from dialogauge.tables import printable

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
        _draw(axis, title, bars, groups, series)
    _legend(figure, series, every)
    published = "published: absolute values" if any(bar.published is not None for bar in every) else ""
    caption(figure, "correlation with people, signed", published)
    return figure


def _draw(axis: Axes, title: str, bars: Sequence[Bar], groups: Sequence[str], series: Sequence[str]) -> None:
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
