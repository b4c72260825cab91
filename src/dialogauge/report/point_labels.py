"""Writes names beside points, each where it hides least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from dialogauge.report.drawing import INK
from dialogauge.stats.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

SIZE = 7.5
MARGIN = 4.0
"""Points that labels keep from the sides of the panel, since their width is a guess."""
PLACES: tuple[tuple[int, int], ...] = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
"""Where a label may stand, as seen from its point: right or left, above or below. The first is tried first."""
HORIZONTAL: dict[int, Literal["left", "center", "right"]] = {1: "left", 0: "center", -1: "right"}
VERTICAL: dict[int, Literal["bottom", "center", "top"]] = {1: "bottom", 0: "center", -1: "top"}
Box = tuple[float, float, float, float]


def label_points(axis: Axes, x: Floats, y: Floats, names: Sequence[str]) -> list[Annotation]:
    """One label after the other takes the place where it covers least of the points and of the labels before it, and
    stays inside the panel. The figure's layout has to be done."""
    from matplotlib.patheffects import withStroke

    scale = axis.figure.dpi / 72
    spots = axis.transData.transform(np.column_stack([x, y])) / scale
    left, bottom, right, top = (float(edge) / scale for edge in axis.get_window_extent().extents)
    inside = left + MARGIN, bottom, right - MARGIN, top
    taken: list[Box] = [(a - 3, b - 3, a + 3, b + 3) for a, b in spots]
    labels = []
    for name, spot, at in zip(names, spots, zip(x, y, strict=True), strict=True):
        boxes = [_box(spot, place, name) for place in PLACES]
        costs = [sum(_shared(box, other) for other in taken) + _outside(box, inside) for box in boxes]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        across, up = PLACES[best]
        label = axis.annotate(
            *(name, at, _offset(across, up)),
            textcoords="offset points",
            ha=HORIZONTAL[across],
            va=VERTICAL[up],
            fontsize=SIZE,
            color=INK,
            path_effects=[withStroke(linewidth=2, foreground="white")],
            annotation_clip=False,
        )
        labels.append(label)
    return labels


def _offset(across: int, up: int) -> tuple[float, float]:
    """In points, like all lengths here."""
    far = 3.0 if across and up else 5.5
    return far * across, far * up


def _box(spot: Floats, place: tuple[int, int], name: str) -> Box:
    """Left, bottom, right, top of the label, about."""
    width, height = 0.62 * SIZE * len(name), 1.2 * SIZE
    (across, up), (right, above) = place, _offset(*place)
    left = float(spot[0]) + right + (across - 1) * width / 2
    bottom = float(spot[1]) + above + (up - 1) * height / 2
    return left, bottom, left + width, bottom + height


def _shared(one: Box, other: Box) -> float:
    """The area that both cover."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


def _outside(box: Box, panel: Box) -> float:
    """The area out of the panel, which counts ten times."""
    whole = (box[2] - box[0]) * (box[3] - box[1])
    return 10 * (whole - _shared(box, panel))
