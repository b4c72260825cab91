"""Forest plots: values with their intervals, one row each, on an axis that the rows of a panel share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dialogauge.tables.html import small_print
from dialogauge.tables.names import fit, fit_all
from dialogauge.tables.svg import BEST, FLOOR, INK, AxisScale, drawing, element, label, spoken, text_width, tick_labels

WIDE, ROW, TOP, BOTTOM = 360.0, 22.0, 46.0, 26.0
NAMES = 118.0
"""The most room for names."""
LETTERS = 18
TITLE = 40


@dataclass(frozen=True)
class ForestRow:
    """A value, its interval, and the floor or ceiling that it is to be seen against; None where there is none."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    shown: str
    """The value with as many digits as people should see."""
    said: str
    """All of it in words, for who points at the row or cannot see it."""
    best: bool = False
    floor: float | None = None


@dataclass(frozen=True)
class ForestPanel:
    title: str
    direction: str
    """What more of it means."""
    rows: list[ForestRow]
    marks: dict[str, float] = field(default_factory=dict)
    """Values that all rows are to be seen against, by what they are; drawn as lines across."""
    key: tuple[str, ...] = ()
    """What its marks mean."""
    zero: bool = False
    """Whether 0 is on the axis, and has a line."""


def forest_panel(panel: ForestPanel) -> str:
    """One panel as SVG."""
    names = fit_all([row.name for row in panel.rows], LETTERS)
    left = min(max(map(text_width, names), default=0.0), NAMES) + 14
    right = WIDE - max([text_width(row.shown) for row in panel.rows], default=0.0) - 10
    scale = AxisScale.around(_values(panel), left, right)
    high = TOP + ROW * len(panel.rows) + BOTTOM
    described = "; ".join([panel.direction, *(row.said for row in panel.rows), *_marks_said(panel)])
    return drawing(
        WIDE,
        high,
        panel.title,
        described,
        label(0, 15, fit(panel.title, TITLE), font_weight=600, font_size=13),
        label(0, 32, panel.direction, font_size=11, class_="muted", fill_opacity=0.7),
        _axis(scale, len(panel.rows)),
        *(_mark(scale, value, len(panel.rows)) for value in panel.marks.values()),
        *(_row(place, row, name, scale) for place, (row, name) in enumerate(zip(panel.rows, names, strict=True))),
    )


def forest(panels: Sequence[ForestPanel]) -> str:
    """The panels, which stand side by side where there is room, and what their marks mean."""
    if not panels:
        return ""
    return f'<div class="panels">{"".join(map(forest_panel, panels))}</div>\n{small_print([forest_key(panels)])}'


def forest_key(panels: Sequence[ForestPanel]) -> str:
    """What the marks of all panels mean."""
    return "; ".join(dict.fromkeys(words for panel in panels for words in panel.key))


def _values(panel: ForestPanel) -> list[float]:
    own = [value for row in panel.rows for value in (row.value, row.low, row.high, row.floor) if value is not None]
    return [*own, *panel.marks.values(), *([0.0] if panel.zero else [])]


def _marks_said(panel: ForestPanel) -> list[str]:
    return [f"{name}: {value:.3g}" for name, value in panel.marks.items()]


def _axis(scale: AxisScale, rows: int) -> str:
    ticks = scale.ticks()
    bottom = TOP + ROW * rows
    lines = [
        element("line", x1=scale(tick), x2=scale(tick), y1=TOP, y2=bottom, stroke_opacity=0.45 if tick == 0 else 0.13)
        for tick in ticks
    ]
    numbers = [
        label(scale(tick), bottom + 16, text, text_anchor="middle")
        for tick, text in zip(ticks, tick_labels(ticks), strict=True)
    ]
    return element("g", *lines, stroke=INK, class_="grid") + element(
        "g", *numbers, font_size=10.5, class_="muted", fill_opacity=0.7
    )


def _mark(scale: AxisScale, value: float, rows: int) -> str:
    return element(
        "line",
        x1=scale(value),
        x2=scale(value),
        y1=TOP,
        y2=TOP + ROW * rows,
        stroke=FLOOR,
        stroke_width=1.5,
        stroke_dasharray="4 3",
        class_="floor",
    )


def _row(place: int, row: ForestRow, name: str, scale: AxisScale) -> str:
    y = TOP + ROW * (place + 0.5)
    colour, kind = (BEST, "best") if row.best else (INK, "mark")
    parts = [
        element("title", spoken(row.said)),
        element("rect", x=0, y=y - ROW / 2, width=WIDE, height=ROW, fill="none", pointer_events="all"),
        label(0, y + 4, name, **_squeezed(name)),
        label(
            WIDE,
            y + 4,
            row.shown.replace("-", "−"),
            text_anchor="end",
            font_weight=600 if row.best else None,
            class_="value",
        ),
    ]
    if row.low is not None and row.high is not None:
        ends = {"x1": scale(row.low), "x2": scale(row.high), "y1": y, "y2": y}
        line = element("line", **ends, stroke=colour, stroke_width=2.4, stroke_linecap="round", class_=f"{kind}-line")
        parts.append(line)
    if row.floor is not None:
        x = scale(row.floor)
        parts.append(element("line", x1=x, x2=x, y1=y - 7, y2=y + 7, stroke=FLOOR, stroke_width=2.4, class_="floor"))
    if row.value is not None:
        x = scale(row.value)
        parts.append(
            element("path", d=f"M{x:.2f} {y - 5.5:.2f}l5.5 5.5-5.5 5.5-5.5-5.5z", fill=colour, class_=kind)
            if row.best
            else element("circle", cx=x, cy=y, r=4, fill=colour, class_=kind)
        )
    return element("g", *parts)


def _squeezed(name: str) -> dict[str, str | float | None]:
    """For a name of wide letters, which would run into the marks."""
    if text_width(name) <= NAMES:
        return {}
    return {"textLength": NAMES, "lengthAdjust": "spacingAndGlyphs"}
