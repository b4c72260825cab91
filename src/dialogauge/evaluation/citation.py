"""How numbers were computed, as a sentence or two for a paper, with whom to cite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialogauge import __version__, tables
from dialogauge.metrics.citations import OURS, cited, entries
from dialogauge.tables import latex, markdown

CitationKeys = tuple[str, ...]
"""Of BibTeX entries, cited at this place of the text."""


@dataclass(frozen=True)
class Citation:
    """A text in pieces, and the BibTeX entries that it cites."""

    pieces: tuple[str | CitationKeys, ...]
    bibtex: Mapping[str, str]
    """By key."""

    def text(self, form: str = "table") -> str:
        """For LaTeX with \\cite, for Markdown as pandoc reads it, else with the keys in brackets."""
        found = ""
        for piece in self.pieces:
            if isinstance(piece, str):
                found += {"latex": latex.prose, "markdown": markdown.escape}.get(form, tables.printable)(piece)
            elif piece and form == "latex":
                found += f"~\\cite{{{','.join(piece)}}}"
            elif piece:
                found += f" [{'; '.join(f'@{key}' if form == 'markdown' else key for key in piece)}]"
        return found

    def to_dict(self) -> dict[str, Any]:
        """What JSON has under `citations`."""
        return {"text": self.text(), "bibtex": dict(self.bibtex)}

    def render(self, form: str, width: int | None = None) -> str:
        """As "table", "markdown" or "latex", which all can be pasted as they are."""
        entries = "\n\n".join(self.bibtex.values())
        if form == "latex":
            return f"{self.text(form)}\n\n\\begin{{filecontents}}{{dialogauge.bib}}\n{entries}\n\\end{{filecontents}}"
        if form == "markdown":
            return f"{self.text(form)}\n\n```bibtex\n{entries}\n```"
        return "\n".join([*tables.wrapped(self.text(), width), "", entries])

    def __str__(self) -> str:
        return self.render("table")


def cite(what: str, signatures: Mapping[str, str], sentences: Iterable[Sequence[str | CitationKeys]]) -> Citation:
    """`what` was computed, by metrics whose signatures these are; then sentences on how."""
    pieces: list[str | CitationKeys] = [f"{what} were computed with dialogauge {__version__}", (OURS,), ": "]
    bibtex = {OURS: entries()[OURS]}
    for place, (metric, signature) in enumerate(signatures.items()):
        found = cited(signature)
        bibtex |= found
        pieces += [", " if place else "", metric, tuple(found), f" ({signature})"]
    pieces.append(".")
    for sentence in filter(None, sentences):
        pieces += [" ", *sentence]
        bibtex |= {key: entries()[key] for piece in sentence if not isinstance(piece, str) for key in piece}
    return Citation(tuple(pieces), bibtex)
