"""A table for a notebook: plain HTML without a script or a style sheet, best values in bold."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as escape_marks

from dialogauge.tables.table import Cell, Header, Table, printable
from dialogauge.tables.text import ARROWS


def to_html(table: Table) -> str:
    """The table, its notes in small print below."""
    head = "".join(f"<th{_style(header)}>{escape(header.text)}{ARROWS[header.better]}</th>" for header in table.headers)
    rows = [
        "".join(f"<td{_style(header)}>{_cell(cell)}</td>" for header, cell in zip(table.headers, row, strict=True))
        for row in table.rows
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n{small_print(table.notes)}"


def small_print(lines: Iterable[str]) -> str:
    """One line each, broken anywhere: signatures have no spaces."""
    text = "<br>\n".join(map(escape, lines))
    return f'<p style="font-size: smaller; overflow-wrap: anywhere">{text}</p>' if text else ""


def escape(text: str) -> str:
    return escape_marks(printable(text))


def _style(header: Header) -> str:
    return f' style="text-align: {header.align}; white-space: {"nowrap" if header.align == "right" else "normal"}"'


def _cell(cell: Cell) -> str:
    value = f"<b>{escape(cell.text)}</b>" if cell.best else escape(cell.text)
    raised = f"<sup>{escape(cell.raised)}</sup>" if cell.raised else ""
    return f"{value}{raised} <small>{escape(cell.aside)}</small>" if cell.aside else value + raised
