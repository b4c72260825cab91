"""The organiser's Markdown as HTML: headings, paragraphs, lists, quotes, rules, **bold**, *italic*, `code` and links.

A part of CommonMark, by intention: no raw HTML, no images, no references. What is none of these marks is escaped: the
worst that a text can do is to stand there as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialogauge.people.page.markup import text

HEADING = re.compile(r"(#{1,4})\s+(.+?)\s*#*$")
BULLET = re.compile(r"\s{0,3}[-*+]\s+(.*)")
NUMBER = re.compile(r"\s{0,3}\d{1,9}[.)]\s+(.*)")
RULE = re.compile(r"\s{0,3}([-*_])(\s*\1){2,}\s*$")
QUOTE = re.compile(r"\s{0,3}>\s?(.*)")
INLINE = re.compile(
    r"`(?P<code>[^`]{1,1000})`"
    r"|\[(?P<label>[^\[\]]{1,500})\]\((?P<link>(?:https?://|mailto:)[^\s()<>\"']{1,2000})\)"
    r"|\*\*(?P<strong>[^*\s](?:[^*]|\*(?!\*)){0,1000}?)\*\*"
    r"|\*(?P<em>[^*\s][^*]{0,1000})\*"
    r"|\b_(?P<under>[^_\s][^_]{0,1000})_\b"
    r"|\\(?P<plain>[\\`*_\[\]#>+-])"
)


def to_html(markdown: str, title: str) -> str:
    """The text below one first heading: its own, where it begins with one, else the title. Other headings are of lower
    levels."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    first = HEADING.match(lines[0])
    heading, lines = (_inline(first[2]), lines[1:]) if first else (text(title), lines)
    return "\n".join([f'<h1 dir="auto">{heading}</h1>', *_blocks(lines)])


def _blocks(lines: list[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
        elif RULE.match(line):
            yield "<hr>"
            place += 1
        elif heading := HEADING.match(line):
            level = max(len(heading[1]), 2)
            yield f'<h{level} dir="auto">{_inline(heading[2])}</h{level}>'
            place += 1
        elif QUOTE.match(line):
            quoted, place = _run(lines, place, QUOTE)
            yield f'<blockquote dir="auto"><p>{_inline(" ".join(quoted))}</p></blockquote>'
        elif BULLET.match(line):
            items, place = _items(lines, place, BULLET)
            yield _list("ul", items)
        elif NUMBER.match(line):
            items, place = _items(lines, place, NUMBER)
            yield _list("ol", items)
        else:
            end = place
            while end < len(lines) and lines[end].strip() and (end == place or not _begins(lines[end])):
                end += 1
            paragraph = " ".join(part.strip() for part in lines[place:end])
            yield f'<p dir="auto">{_inline(paragraph)}</p>'
            place = end


def _begins(line: str) -> bool:
    """Whether a paragraph ends before this line."""
    return any(pattern.match(line) for pattern in (HEADING, RULE, QUOTE, BULLET, NUMBER))


def _run(lines: list[str], place: int, pattern: re.Pattern[str]) -> tuple[list[str], int]:
    found = []
    while place < len(lines) and (match := pattern.match(lines[place])):
        found.append(match[1])
        place += 1
    return found, place


def _items(lines: list[str], place: int, pattern: re.Pattern[str]) -> tuple[list[str], int]:
    """The items of a list; a line that goes on with one is indented."""
    items: list[str] = []
    while place < len(lines):
        if RULE.match(lines[place]):
            break
        if match := pattern.match(lines[place]):
            items.append(match[1])
        elif lines[place].startswith("  ") and lines[place].strip():
            items[-1] += " " + lines[place].strip()
        else:
            break
        place += 1
    return items, place


def _list(tag: str, items: list[str]) -> str:
    return f"<{tag}>" + "".join(f'<li dir="auto">{_inline(item)}</li>' for item in items) + f"</{tag}>"


def _inline(line: str) -> str:
    parts, end = [], 0
    for match in INLINE.finditer(line):
        parts += [text(line[end : match.start()]), _mark(match)]
        end = match.end()
    return "".join([*parts, text(line[end:])])


def _mark(match: re.Match[str]) -> str:
    """A link opens beside the page, which stays as it is, and does not tell where it was found."""
    if match["code"] is not None:
        return f"<code>{text(match['code'])}</code>"
    if match["link"] is not None:
        return (
            f'<a href="{text(match["link"])}" target="_blank" rel="noopener noreferrer">{_inline(match["label"])}</a>'
        )
    if match["plain"] is not None:
        return text(match["plain"])
    if match["strong"] is not None:
        return f"<strong>{_inline(match['strong'])}</strong>"
    return f"<em>{_inline(match['em'] or match['under'])}</em>"
