"""Rows and columns on their way to a reader, and text for people: safe to show, and in proper number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

Align = Literal["left", "right"]

# Control characters (C0, DEL, C1), lone surrogates, and the characters that change the direction of text or
# break a line: whatever could move the cursor, recolour the screen or show one thing for another.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


@dataclass(frozen=True)
class Cell:
    """What stands in one place: the value, an interval or remark beside it, whether it is the best, and letters that
    print raises."""

    text: str
    aside: str = ""
    best: bool = False
    raised: str = ""


@dataclass(frozen=True)
class Header:
    """A column's name and, where the values have one, the direction in which they get better. A spare column is left
    out where a terminal has no room for it."""

    text: str
    better: Literal["higher", "lower", ""] = ""
    align: Align = "right"
    spare: bool = False


@dataclass(frozen=True)
class Table:
    """The notes stand below the table, one line each, or in its caption. The name is for references to it."""

    headers: list[Header]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    name: str = "results"


def printable(text: str, keep: str = "") -> str:
    """The text with every unsafe character, except those in `keep`, spelled as an escape like \\u001b."""
    return UNSAFE.sub(lambda match: match[0] if match[0] in keep else f"\\u{ord(match[0]):04x}", text)


def cut(text: str, longest: int) -> str:
    """The text with … in place of what is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_few(names: Iterable[str], most: int) -> str:
    """ "a, b, …"."""
    shown = list(islice(names, most + 1))
    return ", ".join(shown if len(shown) <= most else [*shown[:most], "…"])


def counted(number: int, name: str, plural: str = "") -> str:
    """ "1 turn", "2 turns"."""
    return f"{number} {name if number == 1 else plural or name + 's'}"
