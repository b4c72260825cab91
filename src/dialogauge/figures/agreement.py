"""All figures of an agreement, into one folder."""

from __future__ import annotations

import re
from pathlib import Path

from dialogauge.agreement.points import LEVELS
from dialogauge.agreement.result import Agreement
from dialogauge.errors import InputError, unknown
from dialogauge.figures.agreement_correlations import plot_agreement_forest, plot_agreement_heatmap
from dialogauge.figures.agreement_scatters import plot_system_scatter, plot_turn_scatter
from dialogauge.figures.drawing import FORMATS, check_figure_path

SCATTERS = {"turn": plot_turn_scatter, "dialogue": plot_turn_scatter, "system": plot_system_scatter}
LONGEST = 30
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
    return re.sub(r"[^\w.-]+", "_", part)[:LONGEST].strip("._") or "_"
