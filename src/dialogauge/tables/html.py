"""Tables as HTML: the same in notebooks, which get a few rules of style along, and in pages, which have their own."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from dialogauge.tables.table import ARROWS, Cell, Header, Table, printable

NOTEBOOK_STYLE = (
    "<style>.dialogauge .left { text-align: left; white-space: normal } "
    ".dialogauge .right { text-align: right; white-space: nowrap } "
    ".dialogauge .notes { font-size: smaller; overflow-wrap: anywhere } "
    ".dialogauge .panels { display: flex; flex-wrap: wrap; gap: 12px }</style>"
)


RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
    "(?:[^\n;:,()A-Za-z]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff])?"
)
"""Letters of such scripts, with what stands between them and is no Latin letter."""


def to_html(table: Table, caption: str = "") -> str:
    """The table, its notes in small print below. It has classes and no style of its own."""
    head = "".join(
        f'<th scope="col" class="{header.align}">{html_escape(header.text)}{ARROWS[header.better]}</th>'
        for header in table.headers
    )
    rows = "\n".join(f"<tr>{''.join(map(_cell, range(len(row)), table.headers, row))}</tr>" for row in table.rows)
    title = f"<caption>{html_escape(caption)}</caption>\n" if caption else ""
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return f'<table class="numbers">\n{title}{body}\n</table>\n{small_print(table.notes)}'


def for_notebook(*parts: str) -> str:
    """What a notebook shows, with the style that it needs."""
    return "\n".join(['<div class="dialogauge">', NOTEBOOK_STYLE, *filter(None, parts), "</div>"])


def small_print(lines: Iterable[str]) -> str:
    """One line each, broken anywhere: signatures have no spaces."""
    text = "<br>\n".join(map(running_text, lines))
    return f'<p class="notes">{text}</p>' if text else ""


def html_escape(text: str) -> str:
    return html.escape(printable(text))


def running_text(text: str) -> str:
    """Escaped, with names that are read from right to left set apart, so that they do not turn round what stands
    beside them."""
    return RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", html_escape(text))


def _cell(place: int, header: Header, cell: Cell) -> str:
    """The first of a row is what the row is about. Names are read in their own direction."""
    tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
    direction = ' dir="auto"' if header.align == "left" else ""
    return f'<{tag}{scope} class="{header.align}"{direction}>{_inside(cell)}</{tag}>'


def _inside(cell: Cell) -> str:
    value = f"<b>{html_escape(cell.text)}</b>" if cell.best else html_escape(cell.text)
    raised = f"<sup>{html_escape(cell.raised)}</sup>" if cell.raised else ""
    return f"{value}{raised} <small>{html_escape(cell.aside)}</small>" if cell.aside else value + raised
