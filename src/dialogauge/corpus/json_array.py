"""Files that are one JSON array, item by item, so that an error names its place and spares the other items."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dialogauge.corpus.quote import quote
from dialogauge.corpus.source import opened
from dialogauge.corpus.strict_json import parse_object
from dialogauge.errors import InputError

# Only finds where an item ends; `parse_item` judges its numbers.
_EXTENT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_SPACE = re.compile(r"[ \t\r\n]*")


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


def parse_item(text: str) -> dict[str, Any]:
    """The object that an item spells."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"expected UTF-8 text, found byte 0x{ord(text[error.start]) & 0xFF:02x}") from None
    return parse_object(text)


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
