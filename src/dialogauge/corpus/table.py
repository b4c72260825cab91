"""Tables of turns: the columns are a record's fields, and `ratings.DIMENSION` holds one dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.corpus.fields import refuse_near_misses
from dialogauge.corpus.quote import quote, quote_all
from dialogauge.corpus.record import FIELDS
from dialogauge.errors import InputError

RATINGS = "ratings."


def check_columns(columns: Sequence[str]) -> None:
    """Refuses what is wrong in every row: a name twice, a name that resembles a field's, no response."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise InputError(f"expected columns of different names, found {quote(column)} twice")
        seen.add(column)
    refuse_near_misses([column for column in columns if not column.startswith(RATINGS)], FIELDS)
    if "response" not in seen:
        raise InputError(f"expected a column 'response', found {quote_all(columns)}")


def record(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its columns `ratings.DIMENSION` gathered into `ratings`."""
    fields = {column: value for column, value in row.items() if not column.startswith(RATINGS)}
    rated = {column.removeprefix(RATINGS): row[column] for column in row if column.startswith(RATINGS)}
    if rated:
        given = fields.get("ratings")
        if given is not None and not isinstance(given, dict):
            raise InputError(f"ratings: expected either one column or columns {RATINGS}DIMENSION, found both")
        fields["ratings"] = {**(given or {}), **rated}
    return fields
