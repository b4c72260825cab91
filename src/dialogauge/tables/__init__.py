"""Rows to text, Markdown, LaTeX, CSV and JSON. Imports nothing of ours."""

from dialogauge.tables.latex import to_latex
from dialogauge.tables.markdown import to_markdown
from dialogauge.tables.printable import counted, printable
from dialogauge.tables.records import to_csv, to_json
from dialogauge.tables.render import FORMATS, render
from dialogauge.tables.table import Cell, Header, Table
from dialogauge.tables.text import to_text

__all__ = [
    "FORMATS",
    "Cell",
    "Header",
    "Table",
    "counted",
    "printable",
    "render",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_text",
]
