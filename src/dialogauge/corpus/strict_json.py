"""JSON as we accept it: every number is finite, every text can be written as UTF-8."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn
from uuid import UUID

from dialogauge.corpus.quote import describe, quote
from dialogauge.errors import InputError

# Fewer digits than this always fit a float, so that no later arithmetic overflows.
_MOST_DIGITS = 308
_TOO_LARGE = 10**_MOST_DIGITS


class _BadNumber(ValueError):
    pass


def parse(text: str) -> Any:
    """The value of a JSON text. Python's parser alone would let NaN, Infinity, 1e999 and lone surrogates
    pass, and answers deep nesting with a RecursionError."""
    try:
        value = _DECODER.decode(text)
        if "\\ud" in text or "\\uD" in text:
            refuse_surrogates(value)
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error.msg} at column {error.colno}; found {quote(text)}") from None
    except _BadNumber as error:
        raise InputError(f"not valid JSON: {error}") from None
    except RecursionError:
        raise InputError("not valid JSON: nested too deeply") from None
    return value


def parse_object(text: str) -> dict[str, Any]:
    value = parse(text)
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, found {describe(value)}")
    return value


def plain(value: Any) -> Any:
    """A value of a table, or of a Python program, as JSON would hold it. NaN and what pandas has for missing are
    absent, times become text, arrays lists; what JSON cannot hold stays as it is."""
    if isinstance(value, str | bool):
        return value
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise InputError("expected numbers below 1e308, found a larger one")
    if isinstance(value, float | Decimal):
        value = float(value)
        if math.isinf(value):
            raise InputError("expected finite numbers, found an infinite one")
        return None if math.isnan(value) else value
    if isinstance(value, list | tuple):
        # A column of type map comes as a list of pairs.
        pairs = [item for item in value if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)]
        if not pairs or len(pairs) < len(value):
            return [plain(item) for item in value]
        value = dict(pairs)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value) if isinstance(value, date | time | timedelta | UUID) else value


def refuse_surrogates(value: Any) -> None:
    """Refuses text that cannot be written as UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"half of a surrogate pair, {quote(value[error.start])}: no Unicode text holds one alone"
            ) from None
    elif isinstance(value, list):
        for item in value:
            refuse_surrogates(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            refuse_surrogates(key)
            refuse_surrogates(item)


def _no_constant(name: str) -> NoReturn:
    raise _BadNumber(f"{name} is not a JSON number; write null where there is none")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _BadNumber(f"the number {quote(text)} is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _BadNumber(f"the number {quote(text)} is too large")
    return int(text)


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_whole)
