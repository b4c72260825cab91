"""The figure of all correlations at once: metrics down, corpora across."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.agreement.points import Level, Scope
from dialogauge.agreement.result import MEAN, Agreement, AgreementRow
from dialogauge.report.agreement_parts import (
    COEFFICIENTS,
    check_coefficient,
    estimate,
    interval_words,
    rows_of,
    scope_labels,
    scopes_of,
)
from dialogauge.report.drawing import GRID, INK, MUTED, NARROWEST, caption, fit_all, number, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = "PuOr_r"
"""Told apart by all kinds of colour vision; both ends are dark, 0 is white."""
HIGH, APART = 0.34, 0.25
"""Of a cell, in inches; and how far the means stand apart, in cells."""
LONGEST = 18
"""Letters of a corpus's name."""
PER_LETTER = 0.075
"""Inches."""


def plot_agreement_heatmap(
    agreement: Agreement, path: str | Path, level: Level = "system", coefficient: str = "spearman"
) -> Path:
    """Draws every metric's correlation ("pearson", "spearman" or "kendall") on every corpus as a coloured cell with its
    number. Bold: the interval is on one side of 0. Italic: it holds 0. Upright: no interval. A dash: undefined."""
    return save(lambda: draw_agreement_heatmap(agreement, level, coefficient), path)


def draw_agreement_heatmap(agreement: Agreement, level: Level = "system", coefficient: str = "spearman") -> Figure:
    from matplotlib.figure import Figure

    check_coefficient(coefficient)
    scopes = scopes_of(agreement, level)
    rows = [rows_of(agreement, scope) for scope in scopes]
    metrics = [metric for metric in agreement.metrics if any(metric in found for found in rows)]
    labels = fit_all(metrics)
    heads = scope_labels(scopes, LONGEST)
    wide = max(0.7, 0.1 + PER_LETTER * max(len(line) for head in heads for line in head.split("\n")))
    width = 0.4 + PER_LETTER * max(map(len, labels)) + wide * len(scopes)
    figure = Figure(figsize=(max(width, NARROWEST), 1.3 + HIGH * len(metrics)), layout="constrained")
    axis = figure.subplots()
    places = _places(scopes)
    for place, column in zip(places, rows, strict=True):
        for down, metric in enumerate(metrics):
            _cell(axis, place, down, column.get(metric), coefficient)
    axis.set(xlim=(-0.5, places[-1] + 0.5), ylim=(len(metrics) - 0.5, -0.5))
    axis.set_xticks(places, heads, fontsize=8)
    axis.set_yticks(range(len(metrics)), labels)
    axis.xaxis.tick_top()
    axis.tick_params(length=0, colors=INK)
    axis.spines[:].set_visible(False)
    found = f"{COEFFICIENTS[coefficient]} correlation with people, {level} level"
    dash = "–: undefined" if any(text.get_text() == "–" for text in axis.texts) else ""
    caption(figure, found, interval_words(agreement, level), "bold: without 0", "italic: with 0", dash)
    return figure


def _places(scopes: list[Scope]) -> list[float]:
    """Of the columns. Means stand apart where they stand beside corpora."""
    apart = APART if scopes[0].corpus != MEAN else 0.0
    return [place + apart * (scope.corpus == MEAN) for place, scope in enumerate(scopes)]


def _cell(axis: Axes, x: float, y: int, row: AgreementRow | None, coefficient: str) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    value, low, high = estimate(row, coefficient)
    face = (1.0, 1.0, 1.0, 1.0) if value is None else colormaps[COLOURS]((value + 1) / 2)
    hatch = "////" if value is None else None
    axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, edgecolor=GRID, linewidth=0.8, hatch=hatch))
    if value is None:
        axis.text(x, y, "–", ha="center", va="center", color=MUTED)
        return
    known = low is not None and high is not None
    holds = low is not None and high is not None and low <= 0 <= high
    axis.text(
        *(x, y, number(value, "+")),
        ha="center",
        va="center",
        fontsize=9,
        color="white" if _luminance(face) < 0.18 else "black",
        style="italic" if holds else "normal",
        weight="bold" if known and not holds else "normal",
    )


def _luminance(colour: tuple[float, ...]) -> float:
    """Of WCAG 2: black and white text are equally clear on 0.18."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
