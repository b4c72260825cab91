"""Boxes of people's scores, one for each class that a model predicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.errors import InputError
from dialogauge.report.drawing import INK, caption, fit, panels, plain, save
from dialogauge.report.sensitivity_figure import STYLES
from dialogauge.reproduce.entailment_figure1 import BoxPanel
from dialogauge.tables import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ASIDE = 0.56, 0.17
"""Of a box, and how far points are moved from its middle."""
WIDE, HIGH = 2.9, 2.7
"""Inches that a panel takes."""
TITLE = 34
"""Letters of a panel's title."""
MEAN = {"marker": "D", "markersize": 5, "markerfacecolor": "white", "markeredgecolor": "black", "linestyle": "none"}


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
        _draw(axis, panel, rng)
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


def _places(shown: Sequence[BoxPanel]) -> tuple[Figure, list[Axes]]:
    """Room for each panel."""
    from matplotlib.figure import Figure

    models, corpora = ({getattr(panel, part) for panel in shown} for part in ("model", "corpus"))
    if len(models) == 1 or len(shown) != len(models) * len(corpora):
        return panels(len(shown), WIDE, HIGH)
    figure = Figure(figsize=(0.6 + WIDE * len(corpora), 0.6 + HIGH * len(models)), layout="constrained")
    return figure, list(figure.subplots(len(models), len(corpora), squeeze=False).flat)


def _draw(axis: Axes, panel: BoxPanel, rng: np.random.Generator) -> None:
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
