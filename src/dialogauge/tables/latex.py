"""A table for a paper: LaTeX with booktabs, best values in bold."""

from __future__ import annotations

import re

from dialogauge.tables.printable import printable
from dialogauge.tables.table import Cell, Table

ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "": ""}
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after \\ a bracket or a star would be read as an option
    "*": "{*}",
    "−": "$-$",
    "±": r"$\pm$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}

MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def to_latex(table: Table) -> str:
    """A `tabular` to put into a table environment; notes become comments. Needs \\usepackage{booktabs}."""
    columns = "".join("l" if header.align == "left" else "r" for header in table.headers)
    header = " & ".join(escape(header.text) + ARROWS[header.better] for header in table.headers)
    rows = [" & ".join(_cell(cell) for cell in row) for row in table.rows]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            *(f"% {printable(note)}" for note in table.notes),
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            f"{header} \\\\",
            "\\midrule",
            *(f"{row} \\\\" for row in rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
    )


def escape(text: str) -> str:
    escaped = "".join(SPECIAL.get(character, character) for character in printable(text))
    return MINUS.sub("$-$", escaped)


def _cell(cell: Cell) -> str:
    value = f"\\textbf{{{escape(cell.text)}}}" if cell.best else escape(cell.text)
    return f"{value} {{\\scriptsize {escape(cell.aside)}}}" if cell.aside else value
