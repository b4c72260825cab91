"""The figure of a comparison: the difference of every pair of systems, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.pairs import ALPHA, Pair
from dialogauge.report.drawing import (
    BEST,
    INK,
    MUTED,
    TITLE,
    fit_all,
    interval,
    key,
    names_room,
    panels,
    plain,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIFFERENT: dict[str, Any] = {"marker": "D", "color": BEST, "linewidth": 2, "markersize": 5}
OPEN: dict[str, Any] = {"marker": "o", "color": MUTED, "linewidth": 2, "markersize": 5, "markerfacecolor": "white"}
SIDES = {True: "right of 0: the first is better", False: "left of 0: the first is better", None: "no better or worse"}
LONGEST = 20
"""Letters of a system's name: a row has two."""


def plot_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Draws each metric as a panel, each pair of systems as a row: the first's score less the second's, with its
    interval, and whether the corrected test tells them apart."""
    return save(lambda: _draw(comparison), path)


def _draw(comparison: Comparison) -> Figure:
    shown = dict(zip(comparison.systems, fit_all(list(comparison.systems), LONGEST), strict=True))
    rows = list(dict.fromkeys((pair.first, pair.second) for pair in comparison.pairs))
    names = [f"{shown[first]} − {shown[second]}" for first, second in rows]
    figure, axes = panels(len(comparison.columns), 2.3, 0.75 + 0.25 * len(rows), beside=names_room(names), sharey=True)
    for axis, metric, title in zip(axes, comparison.columns, fit_all(comparison.columns, TITLE), strict=True):
        found = {(pair.first, pair.second): pair for pair in comparison.pairs if pair.metric == metric}
        _panel(axis, [found.get(row) for row in rows])
        better = next(score.higher_is_better for score in comparison.scores if score.metric == metric)
        axis.set_xlabel(SIDES[better], fontsize=8, color=MUTED)
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
    axes[0].set_yticks(range(len(rows)), names)
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    sure = f"{100 * comparison.settings.confidence:.4g}% interval over {comparison.unit}"
    different = f"different (p < {ALPHA} after Holm's correction)"
    key(figure, [(different, DIFFERENT), (f"not shown to differ; lines: {sure}", OPEN)])
    return figure


def _panel(axis: Axes, pairs: Sequence[Pair | None]) -> None:
    axis.axvline(0, color=INK, linewidth=1, zorder=1)
    for place, pair in enumerate(pairs):
        if pair is None or pair.difference is None:
            axis.text(0, place, " not tested", fontsize=7, va="center", color=MUTED)
            continue
        style = DIFFERENT if pair.p_holm is not None and pair.p_holm < ALPHA else OPEN
        interval(axis, place, pair.low, pair.high, style["color"])
        axis.plot([pair.difference], [place], **{**style, "linestyle": "none"})
    axis.margins(x=0.12)
    axis.locator_params(axis="x", nbins=4)
    plain(axis, "x")
