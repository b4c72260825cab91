"""Turns as JSON lines, which every verb reads."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, BinaryIO

from dialogauge.errors import InputError
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.corpus import Turn


def write_turns(turns: Iterable[Turn], file: BinaryIO, beside: Collection[str] = ()) -> None:
    """`beside` are keys of `extra` that stand beside the fields in the line."""
    for turn in turns:
        file.write(f"{_json_line(turn, beside)}\n".encode())


def _json_line(turn: Turn, beside: Collection[str]) -> str:
    """The turn as the reader `jsonl` reads it back. What could harm a terminal is spelled as an escape."""
    from dialogauge.corpus.reading.columns import FIELDS

    values = {field: getattr(turn, field) for field in FIELDS}
    if beside:
        values["extra"] = {key: value for key, value in turn.extra.items() if key not in beside}
        values |= {key: turn.extra[key] for key in beside if key in turn.extra}
    kept = {field: value for field, value in values.items() if value or field == "response"}
    try:
        return printable(json.dumps(kept, ensure_ascii=False, allow_nan=False, default=dict))
    except (TypeError, ValueError) as error:
        raise InputError(f"turn {turn.id!r} of {turn.system!r} cannot be written as JSON: {error}") from None
