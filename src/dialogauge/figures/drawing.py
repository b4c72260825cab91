"""What figures share: colours, panels, captions, intervals, fitted lines, and names beside points, each where it hides
least."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dialogauge.errors import InputError, MissingPackage
from dialogauge.files import check_writable_file, whole_file
from dialogauge.stats.arrays import Floats
from dialogauge.studies.trend import DIRECTIONS
from dialogauge.tables.table import width as width_on_terminal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

FORMATS = ("png", "svg", "pdf")
LOOK = {"font.size": 9, "svg.hashsalt": "dialogauge", "text.parse_math": False}
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Same figure, same bytes."""
INK, MUTED, BEST, FLOOR = "#1b1f24", "#8a939e", "#0b6bcb", "#d55e00"
OTHER_SCRIPTS = ("Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "Noto Sans Thai", "Noto Sans")
GRID, EDGE = "#e4e7eb", "#c8ccd2"
DIRECTION = {**DIRECTIONS, None: ""}
STYLES = (
    ("#0072b2", "o"),
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#cc79a7", "D"),
    ("#e69f00", "v"),
    ("#56b4e9", "P"),
    ("#000000", "X"),
)
"""Colours that are told apart without red or green (Okabe & Ito 2008), and a marker for each. A kind has the same in
every figure."""
MANY = 2000
"""More points than this are drawn as a picture, in SVG and PDF too: as shapes they would take megabytes."""
TITLE = 26
"""Letters of a panel's title, which is bold."""
NARROWEST = 4.2
"""Inches of a figure with one panel."""
LETTERS_PER_INCH = 17
"""Of small print."""

SIZE = 7.5
MARGIN = 4.0
"""Points that labels keep from the sides of the panel, since their width is a guess."""
PLACES: tuple[tuple[int, int], ...] = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0))
"""Where a label may stand, as seen from its point: right or left, above or below. The first is tried first."""
HORIZONTAL: dict[int, Literal["left", "center", "right"]] = {1: "left", 0: "center", -1: "right"}
VERTICAL: dict[int, Literal["bottom", "center", "top"]] = {1: "bottom", 0: "center", -1: "top"}
Box = tuple[float, float, float, float]


def check_figure_path(path: str | Path) -> Path:
    """The path, if a figure can be written there: asked before any work is done."""
    path = Path(path)
    if find_spec("matplotlib") is None:
        raise MissingPackage("matplotlib", "plot", "drawing a figure")
    check_writable_file(path, overwrite=True)
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise InputError(f"cannot draw into this kind of file; end its name in .{', .'.join(FORMATS)}", path)
    return path


def save(draw: Callable[[], Figure], path: str | Path) -> Path:
    """Writes what `draw` gives. The path is checked first, and nothing is made where drawing fails."""
    path = check_figure_path(path)
    import matplotlib

    look = {**LOOK, "font.family": _families()}
    with matplotlib.rc_context(look), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # shown as a box
        figure = draw()
        kind = path.suffix.lower()
        with whole_file(path, overwrite=True) as file:
            figure.savefig(file, format=kind.lstrip("."), dpi=160, metadata=UNDATED.get(kind))
    return path


def panels(count: int, width: float, height: float, beside: float = 0.6, **shared: Any) -> tuple[Figure, list[Axes]]:
    """A figure of this many panels, at most four to a row; each takes this much room, in inches, and what stands
    beside them (names of rows) takes so much."""
    from matplotlib.figure import Figure

    columns = _columns(count)
    rows = -(-count // columns)
    figure = Figure(figsize=(max(beside + width * columns, NARROWEST), 0.6 + height * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for axis in axes[count:]:
        axis.remove()
    return figure, axes[:count]


def caption(figure: Figure, *parts: str) -> None:
    """What the reader must know, below the panels, in lines that the figure has room for."""
    letters = int(figure.get_figwidth() * LETTERS_PER_INCH)
    lines = textwrap.wrap("; ".join(part for part in parts if part), letters)
    figure.supxlabel("\n".join(lines), fontsize=8, color=MUTED)


def key(figure: Figure, marks: Sequence[tuple[str, Any]]) -> None:
    """What each mark means, below the panels; a mark is given by its words and how it is drawn."""
    from matplotlib.lines import Line2D

    words = [name for name, _ in marks]
    lines = [Line2D([], [], **style) for _, style in marks]
    columns = legend_columns(figure, words)
    figure.legend(lines, words, loc="outside lower center", ncols=columns, frameon=False, fontsize=8, labelcolor=INK)


def interval(axis: Axes, place: float, low: float | None, high: float | None, colour: str) -> None:
    """A line along x, where both ends are known."""
    if low is not None and high is not None:
        axis.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="round")


def line_with_band(axis: Axes, line: tuple[Floats, Floats, Floats | None] | None) -> None:
    """What `fitted_line` found."""
    if line is None:
        return
    along, height, band = line
    axis.plot(along, height, color=INK, linewidth=1.4)
    if band is not None:
        axis.fill_between(along, height - band, height + band, color=INK, alpha=0.15, linewidth=0)


def names_room(names: Sequence[str]) -> float:
    """Inches that the names of rows take at the left of a figure."""
    return 0.4 + 0.068 * max(map(width_on_terminal, names), default=0)


def legend_columns(figure: Figure, names: Sequence[str]) -> int:
    """How many of these names, with a mark before each, the figure has room for in one line."""
    fitting = int(figure.get_figwidth() / (0.6 + 0.07 * max(map(len, names))))
    return max(1, min(fitting, len(names)))


def nothing(axis: Axes) -> None:
    """A panel that has nothing to show."""
    axis.text(0.5, 0.5, "no values", transform=axis.transAxes, ha="center", va="center", color=MUTED)
    axis.set(xticks=[], yticks=[])


def plain(axis: Axes, grid: str = "both") -> None:
    """No frame, a light grid along `grid` ("x", "y" or "both")."""
    axis.grid(axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axis.set_axisbelow(True)
    axis.tick_params(length=0, colors=INK, labelsize=8)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(EDGE)


def number(value: float, sign: str = "") -> str:
    """Two decimals and a real minus; `sign` "+" writes the plus as well."""
    return f"{value:{sign}z.2f}".replace("-", "−")


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


def _families() -> list[str]:
    """Matplotlib's own font, then those that are installed of what writes other scripts."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_SCRIPTS if name in installed)]


def _columns(count: int) -> int:
    """Four, or three where this leaves less room empty and is not tall."""
    return 3 if count in (5, 6, 9) else min(count, 4)


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
