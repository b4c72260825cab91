"""The paper's correlations and ours, one line for each metric and column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialogauge.agreement.agreement_table import interval_and_p
from dialogauge.evaluation.digits import fixed
from dialogauge.metrics.base import spell_file
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.reproduce import correlations

TITLES = {"spearman": "Spearman", "pearson": "Pearson"}


def correlations_table(result: correlations.Reproduced) -> Table:
    headers = [Header("metric", align="left"), Header("on", align="left"), Header("systems")]
    for title in TITLES.values():
        headers += [Header(f"{title}: paper"), Header("ours"), Header("signed")]
    rows = []
    lines = dict.fromkeys((cell.row, cell.column) for cell in result.cells)
    for row, column in lines:
        cells = [result.cell(row, column, coefficient) for coefficient in TITLES]
        lead = [Cell(_name(cells[0])), Cell(result.titles[column]), Cell(str(cells[0].n))]
        rows.append([*lead, *(text for cell in cells for text in _texts(cell))])
    return Table(headers, rows, _notes(result))


def _name(cell: correlations.PaperCell) -> str:
    """The paper's name where nothing else than the paper's model made the numbers."""
    if cell.encoder is None or cell.encoder == cell.model:
        return cell.row
    return f"{cell.row.split(' (')[0]} ({spell_file(cell.encoder)})"


def _texts(cell: correlations.PaperCell) -> list[Cell]:
    absolute = None if cell.value is None else abs(cell.value)
    return [
        Cell(fixed(cell.published)),
        Cell(fixed(absolute), "=" if cell.equal and cell.same_recipe else ""),
        Cell(fixed(cell.value), interval_and_p(cell.low, cell.high, cell.p)),
    ]


def _notes(result: correlations.Reproduced) -> list[str]:
    source, settings = result.source, result.agreement.settings
    notes = [
        f"paper: table {source.number} of Xiang et al. 2021, which shows absolute values",
        "ours: without its sign, as the paper has it; =: equal to three decimals, by the same recipe",
        f"signed: more is better; [low, high]: {100 * settings.confidence:.4g}% interval,"
        f" bootstrap over {result.agreement.unit} and systems ({settings.resamples} resamples, seed {settings.seed}),"
        " no narrower than Fisher's; p: permutations of the systems",
        *_counts(result.cells),
    ]
    wrong = [
        f"{_name(cell)} on {result.titles[cell.column]} ({TITLES[cell.coefficient]})"
        for cell in result.cells
        if cell.value is not None and cell.value < 0
    ]
    if wrong:
        notes.append(f"below 0, the wrong way: {', '.join(wrong)}")
    return notes


def _counts(cells: Sequence[correlations.PaperCell]) -> list[str]:
    """How many of the cells that could be equal are, and which are not."""
    same = [cell for cell in cells if cell.same_recipe and cell.published is not None]
    if not same:
        return []
    rows = ", ".join(dict.fromkeys(cell.row for cell in same))
    found = [f"{rows}: {sum(cell.equal for cell in same)} of {len(same)} cells equal the paper's"]
    for cell in same:
        if not cell.equal:
            ours = "undefined" if cell.value is None else f"{cell.value:.4f}"
            paper = f"paper {fixed(cell.published)}"
            found.append(f"not equal: {cell.row} on {cell.column}, {TITLES[cell.coefficient]}: {ours}, {paper}")
    return found
