"""One result in any of the formats a user can ask for: JSON and CSV hold every number in full; LaTeX with booktabs,
GitHub's Markdown have the best values in bold. `html.py` has HTML."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.tables.table import ARROWS, Cell, Table, printable, to_text

FORMULA = ("=", "+", "-", "@")
FORMATS = ("table", "json", "csv", "markdown", "latex")

LATEX_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "": ""}
BAR = r"\textbar{}"
LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": BAR,
    "[": "{[}",  # after \\ a bracket or a star would be read as an option
    "*": "{*}",
    "−": "$-$",
    "±": r"$\pm$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}

LATIN, PUNCTUATION = 0x24F, "–—‘’“”…"
"""Characters that every LaTeX knows: Latin letters, and some marks."""
FOREIGN = "% has characters beyond Latin: compile with LuaLaTeX or XeLaTeX, and a font that has them"
LABEL = re.compile(r"[^A-Za-z0-9]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
MINUS = re.compile(r"(?<![\w-])-(?=\d)")

MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def to_json(value: Any) -> str:
    """JSON with undefined numbers as null. Unsafe characters are spelled as escapes, which JSON reads back. Bytes of a
    file's name that are no UTF-8, which Python has as halves of surrogate pairs and no JSON may hold, are U+FFFD."""
    text = json.dumps(_defined(value), ensure_ascii=False, indent=1, allow_nan=False)
    return printable(_SURROGATE.sub("\ufffd", text), keep="\n")


def to_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """One line per record under a header of the first record's keys."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if records:
        writer.writerow(records[0])
        writer.writerows([_field(value) for value in record.values()] for record in records)
    return out.getvalue().rstrip("\n")


def render(
    form: str,
    *,
    table: Table,
    records: Sequence[Mapping[str, Any]],
    document: Mapping[str, Any],
    width: int | None = None,
) -> str:
    """People get the table, CSV the records, JSON the whole document. `width` is the terminal's, in columns."""
    if form == "json":
        return to_json(document)
    if form == "csv":
        return to_csv(records)
    return render_table(form, table, width)


def render_table(form: str, table: Table, width: int | None = None) -> str:
    """As "table", "markdown" or "latex"."""
    if form == "table":
        return to_text(table, width)
    return {"markdown": to_markdown, "latex": to_latex}[form](table)


def _defined(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _defined(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(item) for item in value]
    return value


def _field(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula stands behind an apostrophe; numbers stay numbers."""
    value = _defined(value)
    if not isinstance(value, str):
        return value
    return printable(f"'{value}" if value.startswith(FORMULA) else value)


def to_latex(table: Table) -> str:
    """A `table` that stands by itself, with the notes in its caption. Needs \\usepackage{booktabs}."""
    columns = "".join("l" if header.align == "left" else "r" for header in table.headers)
    header = " & ".join(latex_escape(header.text) + LATEX_ARROWS[header.better] for header in table.headers)
    rows = [" & ".join(_latex_cell(cell) for cell in row) for row in table.rows]
    body = [
        "\\begin{table}[t]",
        "\\centering",
        f"\\caption{{{' '.join(map(_sentence, table.notes))}}}",
        f"\\label{{tab:{LABEL.sub('-', table.name)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        f"{header} \\\\",
        "\\midrule",
        *(f"{row} \\\\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    foreign = any(ord(character) > LATIN and character not in PUNCTUATION for character in "".join(body))
    return "\n".join(["% needs \\usepackage{booktabs}", *([FOREIGN] if foreign else []), *body])


def prose(text: str) -> str:
    """Text between margins: signatures, which have no spaces, may be broken at their bars."""
    return latex_escape(text).replace(BAR, f"{BAR}\\allowbreak{{}}")


def latex_escape(text: str) -> str:
    escaped = "".join(LATEX_SPECIAL.get(character, character) for character in printable(text))
    return MINUS.sub("$-$", escaped).replace("--", "-{}-")


def to_markdown(table: Table) -> str:
    header = [markdown_escape(header.text) + ARROWS[header.better] for header in table.headers]
    rule = ["---" if header.align == "left" else "---:" for header in table.headers]
    rows = [header, rule, *([_markdown_cell(cell) for cell in row] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    notes = [f"- {markdown_escape(note)}" for note in table.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def markdown_escape(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(r"\\\1", printable(text))


def _sentence(note: str) -> str:
    start = note[:1] if note[1:2] == ":" else note[:1].upper()  # p is no P
    return f"{prose(start + note[1:].rstrip('.'))}."


def _latex_cell(cell: Cell) -> str:
    value = f"\\textbf{{{latex_escape(cell.text)}}}" if cell.best else latex_escape(cell.text)
    if cell.raised:
        value += f"\\textsuperscript{{{latex_escape(','.join(cell.raised.split()))}}}"
    return f"{value} {{\\scriptsize {latex_escape(cell.aside)}}}" if cell.aside else value


def _markdown_cell(cell: Cell) -> str:
    value = f"**{markdown_escape(cell.text)}**" if cell.best else markdown_escape(cell.text)
    return " ".join(filter(None, (value, markdown_escape(cell.raised), markdown_escape(cell.aside))))
