"""Values from a file as error messages show them: short, and safe to print on a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dialogauge.tables import counted, first_few

LONGEST = 60


def quote(text: str) -> str:
    """The text in quotation marks, cut to 60 characters. `repr` escapes whatever is not printable: control
    characters of both sets, bidirectional controls, line separators, lone surrogates."""
    return repr(text) if len(text) <= LONGEST else repr(text[:LONGEST]) + "…"


def quote_all(names: Iterable[str]) -> str:
    """The names in quotation marks, the first ten of them."""
    return first_few(map(quote, names), 10)


def describe(value: Any) -> str:
    """What a value is, for the second half of "expected ..., found ..."."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {str(value)[:LONGEST]}"
    if isinstance(value, str):
        return f"the text {quote(value)}"
    if isinstance(value, list):
        return _describe_list(value)
    if isinstance(value, dict):
        return f"an object with the fields {quote_all(map(str, value))}" if value else "an empty object"
    return f"a value of type {type(value).__name__}"


def _describe_list(values: list[Any]) -> str:
    if not values:
        return "an empty list"
    kinds = [_kind(value) for value in values]
    if len(set(kinds)) > 1:
        # The odd one out is what the reader of the message looks for: the first that is not text.
        place = next(place for place, kind in enumerate(kinds) if kind != "string")
        odd = "a list" if kinds[place] == "list" else describe(values[place])
        return f"a list with {odd} at place {place + 1}"
    shape = f"a list of {counted(len(values), kinds[0])}"
    if kinds[0] == "list":
        first = values[0]
        inner = {_kind(value) for value in first}
        shape += f" ({counted(len(first), inner.pop() if len(inner) == 1 else 'item')} in the first)"
    return shape


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "number"
    kind = type(value).__name__
    return {"str": "string", "dict": "object"}.get(kind, kind)
