"""All figures of an agreement, into one folder; and those of its correlations: with intervals beside what people reach
among themselves, and all at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.agreement.points import COUNTED, LEVELS, Level, Scope
from dialogauge.agreement.result import MEAN, Agreement, AgreementRow, Ceiling
from dialogauge.errors import InputError, unknown
from dialogauge.figures.agreement_scatters import (
    estimate,
    interval_words,
    plot_system_scatter,
    plot_turn_scatter,
    rows_of,
)
from dialogauge.figures.drawing import (
    BEST,
    FLOOR,
    FORMATS,
    GRID,
    INK,
    MUTED,
    NARROWEST,
    caption,
    check_figure_path,
    number,
    panels,
    plain,
    save,
)
from dialogauge.tables.names import fit_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
BLANK = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind text, so that lines do not cross it."""
TOPPED = ("pearson", "spearman")
"""Coefficients that have a top group and a ceiling."""

COLOURS = "PuOr_r"
"""Told apart by all kinds of colour vision; both ends are dark, 0 is white."""
HIGH, APART = 0.34, 0.25
"""Of a cell, in inches; and how far the means stand apart, in cells."""
LONGEST = 18
"""Letters of a corpus's name."""
PER_LETTER = 0.075
"""Inches."""
SCATTERS = {"turn": plot_turn_scatter, "dialogue": plot_turn_scatter, "system": plot_system_scatter}
LONGEST_PART = 30
"""Letters of a part of a file's name."""


def check_figure_folder(folder: str | Path, form: str = "png") -> Path:
    """The folder, if figures of this form can be written there: asked before any work is done. It need not exist."""
    folder = Path(folder)
    if form not in FORMATS:
        raise unknown("kind of figure", form, FORMATS)
    if any(place.exists() and not place.is_dir() for place in (folder.absolute(), *folder.absolute().parents)):
        raise InputError("is no place for a folder of figures: there is a file", folder)
    check_figure_path(folder / f"figure.{form}")
    if not folder.exists():
        try:
            folder.mkdir(parents=True)
            folder.rmdir()
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror or error}", folder) from None
    return folder


def plot_agreement(agreement: Agreement, folder: str | Path, form: str = "png") -> list[Path]:
    """Draws, for every level, forest-LEVEL and heatmap-LEVEL, and for every corpus and dimension
    turns-CORPUS-DIMENSION, dialogues-CORPUS-DIMENSION and systems-CORPUS-DIMENSION, as far as there is something to
    show. Scopes of one system have no figure of their own: `plot_turn_scatter` draws them."""
    folder = check_figure_folder(folder, form)
    scopes = [scope for scope in agreement.scopes if scope.system is None]
    drawn: list[Path] = []
    for level in LEVELS:
        if any(scope.level == level for scope in scopes):
            drawn.append(plot_agreement_forest(agreement, _free(folder, ["forest", level], form, drawn), level))
            drawn.append(plot_agreement_heatmap(agreement, _free(folder, ["heatmap", level], form, drawn), level))
    for points in agreement.points:
        scope = points.scope
        if scope.system is None and points.metrics:
            parts = [f"{scope.level}s", scope.corpus, scope.dimension]
            drawn.append(SCATTERS[scope.level](agreement, _free(folder, parts, form, drawn), scope))
    return drawn


def _free(folder: Path, parts: list[str], form: str, drawn: list[Path]) -> Path:
    """A path that none of this call's figures has, also where upper and lower case are one: names that differ in
    nothing that a file's name can have get a number."""
    taken = {path.name.casefold() for path in drawn}
    stem = "-".join(_safe(part) for part in parts)
    names = (f"{stem}{'' if again == 1 else f'-{again}'}.{form}" for again in range(1, len(drawn) + 2))
    return folder / next(name for name in names if name.casefold() not in taken)


def _safe(part: str) -> str:
    """Letters, digits, dots and dashes; anything else is an underscore."""
    return re.sub(r"[^\w.-]+", "_", part)[:LONGEST_PART].strip("._") or "_"


def plot_agreement_forest(
    agreement: Agreement, path: str | Path, level: Level = "system", coefficient: str = "spearman"
) -> Path:
    """Draws a panel for each corpus, and the mean over them last: a dot and an interval for each metric's correlation
    ("pearson", "spearman" or "kendall"). Filled dots: no metric is better, as far as a corrected test can tell;
    diamonds: metrics were not tested against each other. Dashed: how well one rater agrees with the others; dotted:
    what a metric would reach that knew what people think on average."""
    return save(lambda: draw_agreement_forest(agreement, level, coefficient), path)


def draw_agreement_forest(agreement: Agreement, level: Level = "system", coefficient: str = "spearman") -> Figure:
    scopes, rows, metrics = _rows_by_scope(agreement, level, coefficient)
    figure, axes = panels(len(scopes), 2.3, 0.9 + 0.24 * len(metrics), sharex=True, sharey=True)
    ceilings = [agreement.ceiling(scope) for scope in scopes]
    for axis, scope, title, found in zip(axes, scopes, _scope_labels(scopes, 24), rows, strict=True):
        _forest_panel(axis, metrics, found, coefficient)
        counted = "corpora" if scope.corpus == MEAN else COUNTED[level]
        axis.set_title(title, color=INK, fontweight="bold", fontsize=9)
        axis.set_xlabel(_counts(found, coefficient, counted), fontsize=8, color=MUTED)
        axis.tick_params(labelbottom=True)
    axes[0].locator_params(axis="x", nbins=5)
    axes[0].set_yticks(range(len(metrics)), fit_all(metrics))
    axes[0].set_ylim(len(metrics) - 0.5, -1.7 if any(ceilings) else -0.6)
    lines = [_ceiling(axis, ceiling, coefficient) for axis, ceiling in zip(axes, ceilings, strict=True)]
    said = [f"{COEFFICIENTS[coefficient]} correlation with people, {level} level", interval_words(agreement, level)]
    tested = {_tested(scope.corpus, coefficient) for scope in scopes}
    words = {
        "filled dot: no metric is better, as far as a corrected test can tell": True in tested,
        "diamond: not tested": False in tested,
        "dashed: one rater with the mean of the others; dotted: what a metric could reach": any(lines),
    }
    caption(figure, *said, *(word for word, holds in words.items() if holds))
    return figure


def plot_agreement_heatmap(
    agreement: Agreement, path: str | Path, level: Level = "system", coefficient: str = "spearman"
) -> Path:
    """Draws every metric's correlation ("pearson", "spearman" or "kendall") on every corpus as a coloured cell with its
    number. Bold: the interval is on one side of 0. Italic: it holds 0. Upright: no interval. A dash: undefined."""
    return save(lambda: draw_agreement_heatmap(agreement, level, coefficient), path)


def draw_agreement_heatmap(agreement: Agreement, level: Level = "system", coefficient: str = "spearman") -> Figure:
    from matplotlib.figure import Figure

    scopes, rows, metrics = _rows_by_scope(agreement, level, coefficient)
    labels = fit_all(metrics)
    heads = _scope_labels(scopes, LONGEST)
    wide = max(0.7, 0.1 + PER_LETTER * max(len(line) for head in heads for line in head.split("\n")))
    width = 0.4 + PER_LETTER * max(map(len, labels)) + wide * len(scopes)
    figure = Figure(figsize=(max(width, NARROWEST), 1.3 + HIGH * len(metrics)), layout="constrained")
    axis = figure.subplots()
    places = _heatmap_places(scopes)
    for place, column in zip(places, rows, strict=True):
        for down, metric in enumerate(metrics):
            _heatmap_cell(axis, place, down, column.get(metric), coefficient)
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


def _rows_by_scope(
    agreement: Agreement, level: Level, coefficient: str
) -> tuple[list[Scope], list[dict[str, AgreementRow]], list[str]]:
    """The scopes of a level, the rows of each by metric, and the metrics that have any."""
    _check_coefficient(coefficient)
    scopes = _scopes_of(agreement, level)
    rows = [rows_of(agreement, scope) for scope in scopes]
    return scopes, rows, [metric for metric in agreement.metrics if any(metric in found for found in rows)]


def _check_coefficient(coefficient: str) -> None:
    if coefficient not in COEFFICIENTS:
        raise unknown("coefficient", coefficient, COEFFICIENTS)


def _scopes_of(agreement: Agreement, level: Level) -> list[Scope]:
    """Scopes of all systems at this level: the corpora, then the means over them."""
    found = [scope for scope in agreement.scopes if scope.level == level and scope.system is None]
    if not found:
        raise unknown("level", level, {scope.level for scope in agreement.scopes if scope.system is None})
    return sorted(found, key=lambda scope: scope.corpus == MEAN)


def _scope_labels(scopes: Sequence[Scope], longest: int) -> list[str]:
    """The corpus, over the dimension where the corpus has several."""
    corpora = list(dict.fromkeys(scope.corpus for scope in scopes))
    dimensions = list(dict.fromkeys(scope.dimension for scope in scopes))
    corpus_label = dict(zip(corpora, fit_all(corpora, longest), strict=True))
    dimension_label = dict(zip(dimensions, fit_all(dimensions, longest), strict=True))
    several = {corpus for corpus in corpora if sum(scope.corpus == corpus for scope in scopes) > 1}
    return [
        f"{corpus_label[scope.corpus]}\n{dimension_label[scope.dimension]}"
        if scope.corpus in several
        else corpus_label[scope.corpus]
        for scope in scopes
    ]


def _forest_panel(axis: Axes, metrics: Sequence[str], rows: Mapping[str, AgreementRow], coefficient: str) -> None:
    plain(axis, "x")
    axis.axvline(0, color=MUTED, linewidth=1, zorder=1)
    for place, metric in enumerate(metrics):
        row = rows.get(metric)
        value, low, high = estimate(row, coefficient)
        if row is None or value is None:
            _note(axis, (0, place), "undefined", "left", MUTED)
            continue
        colour, face, marker = _look(row, coefficient)
        if low is not None and high is not None:
            axis.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="round", zorder=2)
        axis.plot([value], [place], marker, color=colour, markerfacecolor=face, markersize=5.5, zorder=3)


def _look(row: AgreementRow, coefficient: str) -> tuple[str, str, str]:
    """The dot's colour, what fills it, and its marker."""
    if not _tested(row.corpus, coefficient):
        return INK, INK, "D"
    return (BEST, BEST, "o") if getattr(row, f"{coefficient}_top") else (INK, "white", "o")


def _tested(corpus: str, coefficient: str) -> bool:
    """Whether metrics were tested against each other."""
    return corpus != MEAN and coefficient in TOPPED


def _counts(rows: Mapping[str, AgreementRow], coefficient: str, counted: str) -> str:
    """How many points the dots stand for; a metric may have fewer than another."""
    drawn = [row.n for row in rows.values() if getattr(row, coefficient) is not None]
    fewest, most = min(drawn, default=0), max(drawn, default=0)
    return f"{most} {counted}" if fewest == most else f"{fewest} to {most} {counted}"


def _ceiling(axis: Axes, ceiling: Ceiling | None, coefficient: str) -> bool:
    """Whether there is one to draw."""
    if ceiling is None or coefficient not in TOPPED:
        return False
    one, reachable = getattr(ceiling, coefficient), ceiling.reachable
    if one is not None:
        _line(axis, one, -0.75, "one rater", (0, (4, 2)))
    if reachable is not None:
        _line(axis, reachable, -1.3, "ceiling", (0, (1, 1.5)))
    return one is not None or reachable is not None


def _line(axis: Axes, value: float, height: float, name: str, style: tuple[int, tuple[float, ...]]) -> None:
    axis.axvline(value, color=FLOOR, linewidth=1.3, linestyle=style, zorder=1)
    left, right = axis.get_xlim()
    inward = "right" if value > (left + right) / 2 else "left"
    _note(axis, (value, height), f"{name} {number(value)}", inward, FLOOR)


def _note(axis: Axes, at: tuple[float, float], words: str, align: str, colour: str) -> None:
    """Small words just beside a vertical line; `align` is the side of them that is next to it."""
    look: dict[str, Any] = {"ha": align, "va": "center", "fontsize": 7.5, "color": colour, "bbox": BLANK}
    axis.annotate(words, at, (-4 if align == "right" else 4, 0), textcoords="offset points", **look)


def _heatmap_places(scopes: list[Scope]) -> list[float]:
    """Of the columns. Means stand apart where they stand beside corpora."""
    apart = APART if scopes[0].corpus != MEAN else 0.0
    return [place + apart * (scope.corpus == MEAN) for place, scope in enumerate(scopes)]


def _heatmap_cell(axis: Axes, x: float, y: int, row: AgreementRow | None, coefficient: str) -> None:
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
