"""Turns as JSON lines, which every verb reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO

from dialogauge.errors import InputError
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.corpus import Turn


def write_turns(turns: Iterable[Turn], file: BinaryIO) -> None:
    for turn in turns:
        file.write(f"{_json_line(turn)}\n".encode())


def _json_line(turn: Turn) -> str:
    """The turn as the reader `jsonl` reads it back. What could harm a terminal is spelled as an escape."""
    from dialogauge.corpus.reading.columns import FIELDS

    values = {field: getattr(turn, field) for field in FIELDS}
    kept = {field: value for field, value in values.items() if value or field == "response"}
    try:
        return printable(json.dumps(kept, ensure_ascii=False, allow_nan=False, default=dict))
    except (TypeError, ValueError) as error:
        raise InputError(f"turn {turn.id!r} of {turn.system!r} cannot be written as JSON: {error}") from None
