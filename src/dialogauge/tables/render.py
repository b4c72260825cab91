"""One result in any of the formats a user can ask for; JSON and CSV hold every number in full."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.tables.markup import to_latex, to_markdown
from dialogauge.tables.table import Table, printable
from dialogauge.tables.text import to_text

FORMATS = ("table", "json", "csv", "markdown", "latex")


def to_json(value: Any) -> str:
    """JSON with undefined numbers as null. Unsafe characters are spelled as escapes, which JSON reads back."""
    return printable(json.dumps(_defined(value), ensure_ascii=False, indent=1, allow_nan=False), keep="\n")


def to_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """One line per record under a header of the first record's keys."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if records:
        writer.writerow(records[0])
        writer.writerows([_field(value) for value in record.values()] for record in records)
    return out.getvalue().rstrip("\n")


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


def _defined(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _defined(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(item) for item in value]
    return value


def _field(value: Any) -> Any:
    value = _defined(value)
    return printable(value) if isinstance(value, str) else value
