"""A table for a paper: LaTeX with booktabs, best values in bold."""

from __future__ import annotations

import re

from dialogauge.tables.printable import printable
from dialogauge.tables.table import Cell, Table

ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "": ""}
BAR = r"\textbar{}"
SPECIAL = {
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
MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def to_latex(table: Table) -> str:
    """A `table` that stands by itself, with the notes in its caption. Needs \\usepackage{booktabs}."""
    columns = "".join("l" if header.align == "left" else "r" for header in table.headers)
    header = " & ".join(escape(header.text) + ARROWS[header.better] for header in table.headers)
    rows = [" & ".join(_cell(cell) for cell in row) for row in table.rows]
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


def _sentence(note: str) -> str:
    start = note[:1] if note[1:2] == ":" else note[:1].upper()  # p is no P
    return f"{prose(start + note[1:].rstrip('.'))}."


def prose(text: str) -> str:
    """Text between margins: signatures, which have no spaces, may be broken at their bars."""
    return escape(text).replace(BAR, f"{BAR}\\allowbreak{{}}")


def escape(text: str) -> str:
    escaped = "".join(SPECIAL.get(character, character) for character in printable(text))
    return MINUS.sub("$-$", escaped).replace("--", "-{}-")


def _cell(cell: Cell) -> str:
    value = f"\\textbf{{{escape(cell.text)}}}" if cell.best else escape(cell.text)
    if cell.raised:
        value += f"\\textsuperscript{{{escape(','.join(cell.raised.split()))}}}"
    return f"{value} {{\\scriptsize {escape(cell.aside)}}}" if cell.aside else value
