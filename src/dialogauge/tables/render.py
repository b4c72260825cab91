"""One result in any of the formats a user can ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.tables.latex import to_latex
from dialogauge.tables.markdown import to_markdown
from dialogauge.tables.records import to_csv, to_json
from dialogauge.tables.table import Table
from dialogauge.tables.text import to_text

FORMATS = ("table", "json", "csv", "markdown", "latex")


def render(
    form: str,
    *,
    table: Table,
    records: Sequence[Mapping[str, Any]],
    document: Mapping[str, Any],
    width: int | None = None,
) -> str:
    """People get the table, CSV the records, JSON the whole document. `width` is the terminal's, in columns."""
    if form == "json":
        return to_json(document)
    if form == "csv":
        return to_csv(records)
    return render_table(form, table, width)


def render_table(form: str, table: Table, width: int | None = None) -> str:
    """As "table", "markdown" or "latex"."""
    if form == "table":
        return to_text(table, width)
    return {"markdown": to_markdown, "latex": to_latex}[form](table)
