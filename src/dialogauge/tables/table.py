"""Rows and columns on their way to a reader, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Align = Literal["left", "right"]


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
