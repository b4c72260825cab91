"""Metrics against people's scores, turn by turn: a row of panels for each corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.errors import InputError
from dialogauge.report.agreement_parts import told
from dialogauge.report.drawing import BEST, DIRECTION, INK, MUTED, NARROWEST, caption, fit, nothing, plain, save
from dialogauge.reproduce.entailment_figure2 import JITTER
from dialogauge.reproduce.entailment_scatter import ScatterPanel
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import fitted_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEADROOM = 0.3
"""Room above the points for the correlations, as a share of their range."""
CONFIDENCE = 0.95
MANY = 2000
"""More points than this are drawn as a picture, in SVG and PDF too."""


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
            _panel(axis, panel, rng)
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


def _panel(axis: Axes, panel: ScatterPanel | None, rng: np.random.Generator) -> None:
    if panel is None:
        plain(axis)
        nothing(axis)
        return
    x: Floats = panel.people + rng.normal(0, JITTER, len(panel.people))
    y = panel.values
    plain(axis)
    alpha = float(np.clip(8 / np.sqrt(len(y)), 0.15, 0.6))
    axis.scatter(x, y, 12, c=BEST, alpha=alpha, linewidths=0, rasterized=len(y) > MANY)
    line = fitted_line(panel.people, y, panel.units, CONFIDENCE)
    if line is not None:
        along, height, band = line
        axis.plot(along, height, color=INK, linewidth=1.4)
        if band is not None:
            axis.fill_between(along, height - band, height + band, color=INK, alpha=0.15, linewidth=0)
    spread = float(np.ptp(y)) or 1.0
    axis.set_ylim(float(y.min()) - 0.06 * spread, float(y.max()) + HEADROOM * spread)
    axis.set_xlim(panel.scale.low - 0.25, panel.scale.high + 0.25)
    corner = axis.text(0.02, 0.98, told(panel.row), transform=axis.transAxes, ha="left", va="top", fontsize=7.5)
    corner.set(color=INK, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5})
    axis.set_ylabel(DIRECTION[panel.row.higher_is_better], fontsize=8, color=MUTED)
