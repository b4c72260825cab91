"""Rows to text, Markdown, HTML, LaTeX, CSV and JSON. Imports nothing of ours."""

from dialogauge.tables.html import for_notebook, html_escape, running_text, small_print, to_html
from dialogauge.tables.render import (
    FORMATS,
    render,
    render_table,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
)
from dialogauge.tables.table import Cell, Header, Table, counted, cut, first_few, in_words, printable, to_text, wrapped

__all__ = [
    "FORMATS",
    "Cell",
    "Header",
    "Table",
    "counted",
    "cut",
    "first_few",
    "for_notebook",
    "html_escape",
    "in_words",
    "printable",
    "render",
    "render_table",
    "running_text",
    "small_print",
    "to_csv",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_text",
    "wrapped",
]
