"""Records for programs: JSON and CSV, with every number in full. What is undefined is null or an empty cell."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.tables.printable import printable


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
