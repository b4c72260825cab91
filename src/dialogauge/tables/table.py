"""Rows and columns on their way to a reader, and what a terminal shows of them: safe, aligned by display width, best
values marked with an asterisk, fitted to its columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

Align = Literal["left", "right"]
ARROWS = {"higher": " ↑", "lower": " ↓", "": ""}
GAP = "  "
NARROWEST = 16
"""Text is not wrapped into lines shorter than this."""
WHOLE = re.compile(r"\[[^\]]*\]|\S+")
"""What stays in one line of a remark: an interval, or a word."""
BREAKS = re.compile(r"[^|/,;_-]*[|/,;_-]|[^|/,;_-]+")
"""A word that is too long for a line goes on in the next after one of these marks."""
# Control characters (C0, DEL, C1), lone surrogates, the characters that change the direction of text or break a line,
# and those that nobody sees (soft hyphens, zero-width spaces, invisible operators, tags): whatever could move the
# cursor, recolour the screen or show one thing for another. Joiners stay: scripts and emoji need them.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)


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
    return UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escaped(match[0]), text)


def _escaped(letter: str) -> str:
    """As JSON has it: above U+FFFF in two halves."""
    halves = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{halves[place : place + 2].hex()}" for place in range(0, len(halves), 2))


def cut(text: str, longest: int) -> str:
    """The text with … in place of what is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_few(names: Iterable[str], most: int) -> str:
    """ "a, b, …"."""
    shown = list(islice(names, most + 1))
    return ", ".join(shown if len(shown) <= most else [*shown[:most], "…"])


def in_words(names: Sequence[str], glue: str = "and") -> str:
    """ "a", "a and b", "a, b and c"."""
    return f" {glue} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(number: int, name: str, plural: str = "") -> str:
    """ "1 turn", "2 turns"."""
    return f"{number} {name if number == 1 else plural or name + 's'}"


def to_text(table: Table, columns: int | None = None) -> str:
    """The table with a rule below the header, then its notes. A table wider than so many columns has its texts
    wrapped; then columns that it can spare are left out, which a note says; then intervals stand below their values;
    then the columns stand in several blocks with the names repeated. A number is never cut."""
    blocks = _blocks(table, columns)
    if columns is not None and len(blocks) > 1 and any(header.spare for header in table.headers):
        return to_text(_without_spare(table), columns)
    room = None if columns is None else max(columns, NARROWEST)
    notes = [line for note in table.notes for line in wrapped(printable(note), room, indent="  ")]
    return "\n\n".join(["\n".join(_lines(block)) for block in blocks] + (["\n".join(notes)] if notes else []))


def width(text: str) -> int:
    """Columns the text takes on a terminal: two for wide East Asian characters and emoji, none for marks."""
    return sum(
        0
        if unicodedata.combining(c) or unicodedata.category(c) == "Cf"
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def wrapped(text: str, columns: int | None, indent: str = "") -> list[str]:
    """The text in lines of at most so many columns; all but the first begin with the indent."""
    if columns is None or width(text) <= columns:
        return [text]
    lines = [""]
    for word in text.split():
        glue = " " if lines[-1].strip() else ""
        for piece in _pieces(word, columns - width(indent)):
            if width(lines[-1] + glue + piece) > columns and lines[-1].strip():
                lines.append(indent)
                glue = ""
            lines[-1] += glue + piece
            glue = ""
    return lines


def _pieces(word: str, columns: int) -> list[str]:
    """The word, or what it is broken into where it is longer than this: after certain marks, else anywhere."""
    if width(word) <= columns:
        return [word]
    pieces = []
    for part in BREAKS.findall(word):
        pieces.append("")
        for character in part:
            if width(pieces[-1] + character) > columns and pieces[-1]:
                pieces.append("")
            pieces[-1] += character
    return pieces


@dataclass(frozen=True)
class _Column:
    """The lines of the header, then of each cell, all of one width."""

    lines: list[list[str]]

    @property
    def width(self) -> int:
        return width(self.lines[0][0])


def _blocks(table: Table, columns: int | None) -> list[list[_Column]]:
    """The columns of each block: all that fit, with words whole where possible, in as few blocks as possible."""
    cells = [[row[place] for row in table.rows] for place in range(len(table.headers))]
    beside = [_column(header, mine) for header, mine in zip(table.headers, cells, strict=True)]
    if columns is None or _total(beside) <= columns:
        return [beside]
    choices = []
    for whole in (True, False):
        limits = _limits(table, beside, columns, whole)
        for below in (False, True):
            layout = [_column(*each, below) for each in zip(table.headers, cells, limits, strict=True)]
            blocks = _stacked(layout, _names(table.headers), columns)
            choices.append((any(_total(block) > columns for block in blocks), not whole, len(blocks), blocks))
    return min(choices, key=lambda choice: choice[:3])[3]


def _column(header: Header, cells: list[Cell], limit: int | None = None, below: bool = False) -> _Column:
    """`limit` is for texts; `below` puts what stands beside a value into lines of its own."""
    title = printable(header.text) + ARROWS[header.better]
    marks = any(cell.best for cell in cells)
    values = [printable(cell.text) + ("*" if cell.best else " " if marks else "") for cell in cells]
    asides = [printable(f"{cell.raised} {cell.aside}".strip()) for cell in cells]
    if header.align == "left" and not any(asides):
        lines = [wrapped(text, limit) for text in (title, *values)]
    elif below:
        widest = max([width(title), *map(width, values), *(width(w) for text in asides for w in WHOLE.findall(text))])
        lines = [[title], *([value, *_remark(aside, widest)] for value, aside in zip(values, asides, strict=True))]
    else:
        lines = [[title], *([text] for text in _beside(_pad(values, header.align), _pad(asides, "left")))]
    padded = iter(_pad([line for mine in lines for line in mine], header.align))
    return _Column([[next(padded) for _ in mine] for mine in lines])


def _remark(aside: str, columns: int) -> list[str]:
    lines: list[str] = []
    for piece in WHOLE.findall(aside):
        if lines and width(f"{lines[-1]} {piece}") <= columns:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines


def _limits(table: Table, columns: list[_Column], room: int, whole: bool) -> list[int]:
    """How wide each column of text may be for all to fit; no narrower than a few words, or the longest where words
    stay whole."""
    least = []
    for place, header in enumerate(table.headers):
        words = [word for text in (header.text, *(row[place].text for row in table.rows)) for word in text.split()]
        longest = max(map(width, words), default=0) if whole else 0
        least.append(max(longest, NARROWEST) if header.align == "left" else columns[place].width)

    def limits(most: int) -> list[int]:
        return [min(column.width, max(most, low)) for column, low in zip(columns, least, strict=True)]

    gaps = len(GAP) * (len(columns) - 1)
    return next((found for most in range(room, 0, -1) if sum(found := limits(most)) + gaps <= room), limits(0))


def _names(headers: list[Header]) -> int:
    """How many columns at the left say what a row is about: texts before numbers, or the first."""
    numbers = [place for place, header in enumerate(headers) if header.align == "right"]
    return max(1, numbers[0] if numbers else 1)


def _stacked(columns: list[_Column], names: int, room: int) -> list[list[_Column]]:
    """Blocks of about the same width, each with the names at its left."""
    blocks = _packed(columns, names, room)
    for narrower in range(room - 1, 0, -1):
        more = _packed(columns, names, narrower)
        if len(more) > len(blocks):
            break
        blocks = more
    return blocks


def _packed(columns: list[_Column], names: int, room: int) -> list[list[_Column]]:
    blocks = [columns[:names]]
    for column in columns[names:]:
        if len(blocks[-1]) > names and _total([*blocks[-1], column]) > room:
            blocks.append(columns[:names])
        blocks[-1] = [*blocks[-1], column]
    return blocks


def _without_spare(table: Table) -> Table:
    kept = [place for place, header in enumerate(table.headers) if not header.spare]
    left_out = ", ".join(header.text for header in table.headers if header.spare)
    return Table(
        [table.headers[place] for place in kept],
        [[row[place] for place in kept] for row in table.rows],
        [*table.notes, f"no room for {left_out}: --wide, or --format json"],
        table.name,
    )


def _total(columns: list[_Column]) -> int:
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _lines(columns: list[_Column]) -> list[str]:
    rows = []
    for cells in zip(*(column.lines for column in columns), strict=True):
        for line in range(max(map(len, cells))):
            texts = [
                cell[line] if line < len(cell) else " " * column.width
                for cell, column in zip(cells, columns, strict=True)
            ]
            rows.append(GAP.join(texts).rstrip())
    heading = max(len(column.lines[0]) for column in columns)
    return [*rows[:heading], "─" * max(map(width, rows)), *rows[heading:]]


def _pad(texts: list[str], align: Align) -> list[str]:
    widest = max(map(width, texts), default=0)
    blanks = [" " * (widest - width(text)) for text in texts]
    return [text + blank if align == "left" else blank + text for text, blank in zip(texts, blanks, strict=True)]


def _beside(left: list[str], right: list[str]) -> list[str]:
    return [f"{a} {b}" if b.strip() else a + " " * (len(b) + 1 if b else 0) for a, b in zip(left, right, strict=True)]
