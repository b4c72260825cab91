"""JSON as we accept it, whole or item by item: an error names its place, every number is finite, every text can be
written as UTF-8."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from dialogauge.corpus.reading.source import opened
from dialogauge.errors import InputError, describe, quote

# Fewer digits than this always fit a float, so that no later arithmetic overflows.
_MOST_DIGITS = 308
_TOO_LARGE = 10**_MOST_DIGITS

Record = TypeVar("Record")

# Only finds where an item ends; `parse_item` judges its numbers.
_EXTENT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_SPACE = re.compile(r"[ \t\r\n]*")


def parse(text: str, with_nan: bool = False) -> Any:
    """The value of a JSON text. Python's parser alone would let NaN, Infinity, 1e999 and lone surrogates
    pass, and answers deep nesting with a RecursionError. `with_nan`: what is called NaN or Infinity is null, in files
    of tools that write a missing score so."""
    try:
        value = (_WITH_NAN if with_nan else _DECODER).decode(text)
        if "\\ud" in text or "\\uD" in text:
            refuse_surrogates(value)
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error.msg} at column {error.colno}; found {quote(text)}") from None
    except _Refused as error:
        raise InputError(f"not valid JSON: {error}") from None
    except RecursionError:
        raise InputError("not valid JSON: nested too deeply") from None
    return value


def parse_object(text: str, with_nan: bool = False) -> dict[str, Any]:
    value = parse(text, with_nan)
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, found {describe(value)}")
    return value


def to_record(kind: type[Record], said: Mapping[str, Any]) -> Record:
    """A dataclass of texts, numbers and truth values from the object that it was written as, if every field has a value
    of its type."""
    hints = get_type_hints(kind)
    for name, value in said.items():
        if name not in hints:
            raise InputError(f"unknown field {quote(name)}")
        if not _fits(value, hints[name]):
            raise InputError(f"{name} is {describe(value)}")
    return kind(**said)


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is UnionType:
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, int if hint is int else (int, float) if hint is float else hint)


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


class Item(NamedTuple):
    """`number` counts from 1; `line` is where the item begins."""

    number: int
    line: int
    text: str


def items(path: Path) -> Iterator[Item]:
    """The items as text. Where the array itself is broken nothing after that place can be told apart: that is
    an error even where invalid records are to be left out."""
    with opened(path) as stream:
        # A byte that is not UTF-8 is kept as a lone surrogate, and `parse_item` refuses the one item it is in.
        text = stream.read().decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    place = _expect(text, _skip(text, 0), "[", path)
    if text.startswith("]", place):
        return
    number, line, counted = 0, 1, 0
    while True:
        number += 1
        line += text.count("\n", counted, place)
        counted = place
        end = _end(text, place, path)
        yield Item(number, line, text[place:end])
        place = _skip(text, end)
        if text.startswith("]", place):
            break
        place = _expect(text, place, ",", path)
    if (rest := _skip(text, place + 1)) < len(text):
        raise InputError(
            f"expected nothing after the JSON array, found {_quote_from(text, rest)}", path, _line(text, rest)
        )


def parse_item(text: str, with_nan: bool = False) -> dict[str, Any]:
    """The object that an item spells."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"expected UTF-8 text, found byte 0x{ord(text[error.start]) & 0xFF:02x}") from None
    return parse_object(text, with_nan)


def first_object(text: str) -> dict[str, Any] | None:
    """The first item of the array that the text begins with, if it is a whole object."""
    place = _skip(text, 0)
    if not text.startswith("[", place):
        return None
    try:
        value, _ = _EXTENT.raw_decode(text, _skip(text, place + 1))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def first_members(text: str) -> dict[str, Any]:
    """The fields of the object that the text begins with, as far as the text goes: the value of the last may be cut
    short, and is then None. Empty where it is no object, or a broken one."""
    place = _skip(text, 0)
    if not text.startswith("{", place):
        return {}
    found: dict[str, Any] = {}
    place = _skip(text, place + 1)
    while place < len(text) and not text.startswith("}", place):
        try:
            name, place = _EXTENT.raw_decode(text, place)
            if not isinstance(name, str) or not text.startswith(":", place := _skip(text, place)):
                return {} if place < len(text) else found
            found[name] = None
            found[name], place = _EXTENT.raw_decode(text, _skip(text, place + 1))
        except (ValueError, RecursionError):
            return found  # cut short
        place = _skip(text, place)
        if text.startswith(",", place):
            place = _skip(text, place + 1)
        elif place < len(text) and not text.startswith("}", place):
            return {}
    return found


def goes_on(text: str) -> bool:
    """Whether these lines begin a JSON value that is whole only with lines after them: they neither hold all of it nor
    are broken. No string goes on in the next line."""
    text = text.strip()
    try:
        _EXTENT.raw_decode(text)
    except json.JSONDecodeError as error:
        return error.pos >= len(text)
    except RecursionError:
        return False
    return False


class _Refused(ValueError):
    pass


def _no_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a JSON number; write null where there is none")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _Refused(f"the number {quote(text)} is too large")
    return number


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _Refused(f"the number {quote(text)} is too large")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The standard leaves open which of two values counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"the field {quote(twice)} stands twice in one object")
    return found


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_once)
_WITH_NAN = json.JSONDecoder(
    parse_constant=lambda _: None, parse_float=_finite, parse_int=_whole, object_pairs_hook=_once
)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _expect(text: str, place: int, mark: str, path: Path) -> int:
    """The place of what follows the mark."""
    if not text.startswith(mark, place):
        wanted = "a JSON array" if mark == "[" else 'a JSON array that goes on with "," or ends with "]"'
        raise InputError(f"expected {wanted}, found {_quote_from(text, place)}", path, _line(text, place))
    return _skip(text, place + 1)


def _end(text: str, place: int, path: Path) -> int:
    try:
        return _EXTENT.raw_decode(text, place)[1]
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} at column {error.colno}; found {_quote_from(text, error.pos)}"
        raise InputError(message, path, error.lineno) from None
    except RecursionError:
        raise InputError("not valid JSON: nested too deeply", path, _line(text, place)) from None


def _quote_from(text: str, place: int) -> str:
    rest = text[place : place + 100].partition("\n")[0]
    return quote(rest) if place < len(text) else "the end of the file"


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
