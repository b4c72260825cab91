"""The figure of a training: what networks learned, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.report.drawing import BEST, INK, MUTED, caption, panels, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCURACIES = {
    "ranking_accuracy": (
        "ranking accuracy",
        "the true response of {} pairs held back scores above a random one",
        "lowest validation loss",
    ),
    "accuracy": ("accuracy", "the class of {} pairs held back is told right", "highest accuracy"),
}
"""What cards measure: its title, what it counts, and which epoch is the best."""


def plot_training(card: Mapping[str, Any], path: str | Path) -> Path:
    """Draws loss and accuracy by epoch from a model's card: a line for each network, a dot where its weights come
    from."""
    return save(lambda: _draw(card), path)


def _draw(card: Mapping[str, Any]) -> Figure:
    from matplotlib.ticker import MaxNLocator

    figure, (losses, accuracies) = panels(2, 3.4, 2.6)
    curves, held = card["curves"], card["validation"]
    kind = "accuracy" if "accuracy" in held else "ranking_accuracy"
    named, meaning, best = ACCURACIES[kind]
    for curve in curves:
        _line(losses, curve, "loss", MUTED)
        _line(losses, curve, "validation_loss", INK)
        _line(accuracies, curve, kind, INK)
    for axis, title in ((losses, "loss"), (accuracies, named)):
        axis.set_title(title, color=INK, fontweight="bold")
        axis.set_xlabel("epoch", fontsize=8, color=MUTED)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        plain(axis)
    losses.plot([], [], color=MUTED, label="training")
    losses.plot([], [], color=INK, label="validation")
    losses.legend(frameon=False, fontsize=8)
    networks = "the network's" if len(curves) == 1 else f"each of {len(curves)} networks'"
    caption(
        figure,
        f"dot: the epoch of {networks} weights, that with the {best}",
        f"{named}: how often {meaning.format(held['pairs'])}",
    )
    return figure


def _line(axis: Axes, curve: Mapping[str, Any], name: str, colour: str) -> None:
    epochs = curve["epochs"]
    axis.plot([epoch["epoch"] for epoch in epochs], [epoch[name] for epoch in epochs], color=colour, linewidth=1.3)
    if colour == INK:
        best = epochs[curve["best"] - 1]
        axis.plot([best["epoch"]], [best[name]], "o", color=BEST, markersize=5.5)
