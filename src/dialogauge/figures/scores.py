"""The figures of scores and of comparisons, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.evaluation.comparison import Comparison
from dialogauge.evaluation.pairs import ALPHA, Pair
from dialogauge.evaluation.result import Result, Score, best_value
from dialogauge.figures.drawing import (
    BEST,
    DIRECTION,
    FLOOR,
    INK,
    MUTED,
    TITLE,
    interval,
    key,
    names_room,
    panels,
    plain,
    save,
)
from dialogauge.tables.names import fit_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEST_MARK: dict[str, Any] = {"marker": "D", "color": BEST, "linewidth": 2, "markersize": 5.5}
MARK: dict[str, Any] = {"marker": "o", "color": INK, "linewidth": 2, "markersize": 5.5}
FLOOR_MARK: dict[str, Any] = {
    "marker": "|",
    "color": FLOOR,
    "linestyle": "none",
    "markersize": 14,
    "markeredgewidth": 2,
}

DIFFERENT: dict[str, Any] = {"marker": "D", "color": BEST, "linewidth": 2, "markersize": 5}
OPEN: dict[str, Any] = {"marker": "o", "color": MUTED, "linewidth": 2, "markersize": 5, "markerfacecolor": "white"}
SIDES = {True: "right of 0: the first is better", False: "left of 0: the first is better", None: "no better or worse"}
LONGEST = 20
"""Letters of a system's name: a row has two."""


def plot_scores(result: Result, path: str | Path) -> Path:
    """Draws each metric of the result's table as a panel: a mark per system and a line for its interval.

    Examples:
        >>> import dialogauge
        >>> result = dialogauge.evaluate("examples/everyday.jsonl", "length")
        >>> dialogauge.plot_scores(result, "scores.svg").name
        'scores.svg'
    """
    return save(lambda: _draw_scores(result), path)


def plot_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Draws each metric as a panel, each pair of systems as a row: the first's score less the second's, with its
    interval, and whether the corrected test tells them apart."""
    return save(lambda: _draw_comparison(comparison), path)


def _draw_scores(result: Result) -> Figure:
    systems = fit_all(list(result.systems))
    figure, axes = panels(len(result.columns), 2.3, 0.75 + 0.27 * len(systems), beside=names_room(systems), sharey=True)
    for axis, metric, title in zip(axes, result.columns, fit_all(result.columns, TITLE), strict=True):
        _score_panel(axis, [result.score(system, metric) for system in result.systems])
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
    axes[0].set_yticks(range(len(systems)), systems)
    axes[0].set_ylim(len(systems) - 0.5, -0.5)
    key(figure, _marks(result))
    return figure


def _marks(result: Result) -> list[tuple[str, dict[str, Any]]]:
    """What is in the figure, with what it means."""
    columns = [[result.score(system, metric) for system in result.systems] for metric in result.columns]
    sure = f"{100 * result.settings.confidence:.4g}% interval over {result.unit}"
    marks = [(f"score; line: {sure}", MARK)]
    if any(best_value(scores) is not None for scores in columns):
        marks = [("best score of a metric", BEST_MARK), (f"other scores; lines: {sure}", MARK)]
    if any(score.floor is not None for scores in columns for score in scores):
        marks.append(("floor: what chance alone gives", FLOOR_MARK))
    return marks


def _score_panel(axis: Axes, scores: list[Score]) -> None:
    best = best_value(scores)
    if all(score.value is None for score in scores):
        axis.text(0.5, 0.5, "no values", transform=axis.transAxes, ha="center", va="center", color=MUTED)
    for place, score in enumerate(scores):
        if score.value is None:
            continue
        style = BEST_MARK if score.value == best else MARK
        interval(axis, place, score.low, score.high, style["color"])
        axis.plot([score.value], [place], **{**style, "linestyle": "none"})
        if score.floor is not None:
            axis.plot([score.floor], [place], **FLOOR_MARK)
    axis.set_xlabel(DIRECTION[scores[0].higher_is_better], fontsize=8, color=MUTED)
    axis.margins(x=0.12)
    axis.locator_params(axis="x", nbins=4)
    plain(axis, "x")


def _draw_comparison(comparison: Comparison) -> Figure:
    shown = dict(zip(comparison.systems, fit_all(list(comparison.systems), LONGEST), strict=True))
    rows = list(dict.fromkeys((pair.first, pair.second) for pair in comparison.pairs))
    names = [f"{shown[first]} − {shown[second]}" for first, second in rows]
    figure, axes = panels(len(comparison.columns), 2.3, 0.75 + 0.25 * len(rows), beside=names_room(names), sharey=True)
    for axis, metric, title in zip(axes, comparison.columns, fit_all(comparison.columns, TITLE), strict=True):
        found = {(pair.first, pair.second): pair for pair in comparison.pairs if pair.metric == metric}
        _comparison_panel(axis, [found.get(row) for row in rows])
        better = next(score.higher_is_better for score in comparison.scores if score.metric == metric)
        axis.set_xlabel(SIDES[better], fontsize=8, color=MUTED)
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
    axes[0].set_yticks(range(len(rows)), names)
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    sure = f"{100 * comparison.settings.confidence:.4g}% interval over {comparison.unit}"
    different = f"different (p < {ALPHA} after Holm's correction)"
    key(figure, [(different, DIFFERENT), (f"not shown to differ; lines: {sure}", OPEN)])
    return figure


def _comparison_panel(axis: Axes, pairs: Sequence[Pair | None]) -> None:
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
