"""A table for a README or an issue: GitHub's Markdown, best values in bold."""

from __future__ import annotations

import re

from dialogauge.tables.printable import printable
from dialogauge.tables.table import Cell, Table
from dialogauge.tables.text import ARROWS

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def to_markdown(table: Table) -> str:
    header = [escape(header.text) + ARROWS[header.better] for header in table.headers]
    rule = ["---" if header.align == "left" else "---:" for header in table.headers]
    rows = [header, rule, *([_cell(cell) for cell in row] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    notes = [f"- {escape(note)}" for note in table.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def escape(text: str) -> str:
    return SPECIAL.sub(r"\\\1", printable(text))


def _cell(cell: Cell) -> str:
    value = f"**{escape(cell.text)}**" if cell.best else escape(cell.text)
    return " ".join(filter(None, (value, escape(cell.raised), escape(cell.aside))))
