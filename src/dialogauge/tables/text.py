"""A table for the terminal: aligned by display width, best values marked with an asterisk."""

from __future__ import annotations

import unicodedata

from dialogauge.tables.printable import printable
from dialogauge.tables.table import Align, Table

ARROWS = {"higher": " ↑", "lower": " ↓", "": ""}
GAP = "  "


def to_text(table: Table) -> str:
    """The table with a rule below the header, then its notes."""
    columns = []
    for place, header in enumerate(table.headers):
        cells = [row[place] for row in table.rows]
        marks = any(cell.best for cell in cells)
        values = [printable(cell.text) + ("*" if cell.best else " " if marks else "") for cell in cells]
        asides = [printable(cell.aside) for cell in cells]
        texts = _beside(_pad(values, header.align), _pad(asides, "left"))
        columns.append(_pad([printable(header.text) + ARROWS[header.better], *texts], header.align))
    lines = [GAP.join(line).rstrip() for line in zip(*columns, strict=True)]
    rule = "─" * max(map(width, lines))
    notes = [printable(note) for note in table.notes]
    return "\n".join([lines[0], rule, *lines[1:], *([""] if notes else []), *notes])


def width(text: str) -> int:
    """Columns the text takes on a terminal: two for wide East Asian characters and emoji, none for marks."""
    return sum(
        0
        if unicodedata.combining(c) or unicodedata.category(c) == "Cf"
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def _pad(texts: list[str], align: Align) -> list[str]:
    widest = max(map(width, texts), default=0)
    blanks = [" " * (widest - width(text)) for text in texts]
    return [text + blank if align == "left" else blank + text for text, blank in zip(texts, blanks, strict=True)]


def _beside(left: list[str], right: list[str]) -> list[str]:
    return [f"{a} {b}" if b.strip() else a + " " * (len(b) + 1 if b else 0) for a, b in zip(left, right, strict=True)]
