"""The forms a result can take, once it knows its table, its records and its document; and how to cite it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dialogauge import __version__, tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import InputError, unknown
from dialogauge.evaluation.digits import check_digits, check_names, renamed
from dialogauge.metrics.registry import metric_class
from dialogauge.tables.forest import ForestPanel, forest
from dialogauge.tables.render import markdown_escape, prose

if TYPE_CHECKING:
    import pandas as pd

    from dialogauge.evaluation.answer import Answer

OURS = "dialogauge"
RECIPES = {"compat:fbd-paper": "xiang2021assessing", "expected:words": "liu2022rethinking"}
"""For a recipe that a signature names, whose it is."""
KEY = re.compile(r"@\w+\{\s*([^\s,]+)\s*,")

CitationKeys = tuple[str, ...]
"""Of BibTeX entries, cited at this place of the text."""

Listed = TypeVar("Listed")


class Forms(ABC):
    """People get the table, CSV and data frames the records, JSON the whole document."""

    @abstractmethod
    def to_table(self) -> tables.Table: ...

    @abstractmethod
    def to_records(self) -> list[dict[str, Any]]: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]: ...

    def all_tables(self) -> list[tables.Table]:
        """What people see, one below the other."""
        return [self.to_table()]

    def latex_tables(self) -> list[tables.Table]:
        """What a paper shows."""
        return self.all_tables()

    def forest_panels(self) -> list[ForestPanel]:
        """Its numbers with their intervals, where it has any, for notebooks and reports to draw."""
        return []

    def render(self, form: str, *, width: int | None = None) -> str:
        """The result as "table", "json", "csv", "markdown" or "latex"; a table fitted to so many columns."""
        if form == "json":
            return tables.to_json(self.to_dict())
        if form == "csv":
            return tables.to_csv(self.to_records())
        shown = self.latex_tables() if form == "latex" else self.all_tables()
        return "\n\n".join(tables.render_table(form, table, width) for table in shown)

    def to_frame(self) -> pd.DataFrame:
        """One row per record."""
        import pandas as pd

        return pd.DataFrame(self.to_records())

    def to_markdown(self, **how: Any) -> str:
        """`how` is what `render` takes."""
        return self.render("markdown", **how)

    def to_latex(self, **how: Any) -> str:
        return self.render("latex", **how)

    def to_csv(self) -> str:
        return self.render("csv")

    def to_json(self) -> str:
        return self.render("json")

    def contents(self) -> str:
        """What is in it, in a few words."""
        return tables.counted(len(self.to_records()), "row")

    def __str__(self) -> str:
        """The table, and below it what the reader must know."""
        warnings = [tables.printable(caveat.line) for caveat in getattr(self, "caveats", ())]
        return "\n".join([self.render("table"), *([""] if warnings else []), *warnings])

    def _repr_html_(self) -> str:
        """What a notebook shows: the forest plot, the tables, and below them what the reader must know."""
        caveats = [caveat.line for caveat in getattr(self, "caveats", ())]
        shown = [forest(self.forest_panels()), *map(tables.to_html, self.all_tables()), tables.small_print(caveats)]
        return tables.for_notebook(*shown)

    def __repr__(self) -> str:
        """One short line. A dataclass writes its own, unless it is made with `repr=False`."""
        return f"<{type(self).__name__}: {self.contents()}>"


class MetricForms(Forms):
    """A result of metrics and systems. People can have its numbers with other digits, and other names for both."""

    answer: Answer | None = None
    """What it comes to, which people read above the table."""

    @abstractmethod
    def to_table(self, digits: int | None = None) -> tables.Table:
        """`digits`: decimals of every value, in place of as many as intervals justify."""

    @abstractmethod
    def names(self) -> list[str]:
        """Its metrics and systems, each once."""

    def all_tables(self, digits: int | None = None) -> list[tables.Table]:
        return [self.to_table(digits)]

    def latex_tables(self, digits: int | None = None) -> list[tables.Table]:
        return self.all_tables(digits)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same under other names, for people to look at: {"bleu": "BLEU-4", "s0": "Ours"}."""
        check_names(names, self.names())
        return renamed(self, names)

    def render(
        self,
        form: str,
        *,
        width: int | None = None,
        digits: int | None = None,
        names: Mapping[str, str] | None = None,
    ) -> str:
        """The result as "table", "json", "csv", "markdown" or "latex". `width` fits a table to so many columns,
        `digits` is a number of decimals, `names` has names to show for metrics and systems; JSON and CSV have every
        digit, and the names as they are."""
        check_digits(digits)
        check_names(names or {}, self.names())
        if form in ("json", "csv"):
            return super().render(form)
        shown = renamed(self, names or {})
        parts = shown.latex_tables(digits) if form == "latex" else shown.all_tables(digits)
        said = [shown.answer.render(digits, width)] if shown.answer and form == "table" else []
        return "\n\n".join([*said, *(tables.render_table(form, table, width) for table in parts)])


class ScoreForms(MetricForms):
    """A result that has the score of every system under every metric."""

    columns: list[str]
    """The metrics that a table shows."""
    systems: dict[str, int]
    """Turns per system."""

    def contents(self) -> str:
        counts = {"system": len(self.systems), "metric": len(self.columns), "turn": sum(self.systems.values())}
        return ", ".join(tables.counted(number, name) for name, number in counts.items())

    def names(self) -> list[str]:
        return list(dict.fromkeys([*self.columns, *self.systems]))


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
                found += {"latex": prose, "markdown": markdown_escape}.get(form, tables.printable)(piece)
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


@cache
def entries() -> dict[str, str]:
    """The BibTeX entries that come with dialogauge, and that of itself, by their keys."""
    text = files("dialogauge.metrics").joinpath("data/citations.bib").read_text(encoding="utf-8")
    ours = (
        f"@misc{{{OURS},\n"
        "  author = {{The dialogauge authors}},\n"
        "  title = {dialogauge: how good a dialogue system's responses are, and how far each measure can be trusted},\n"
        f"  note = {{Version {__version__}}}\n"
        "}"
    )
    return {KEY.match(entry)[1]: entry for entry in (ours, *text.strip().split("\n\n"))}  # type: ignore[index]


def cited(signature: str) -> dict[str, str]:
    """The entries for the metric that a signature is of, by their keys; none where it is not known here."""
    name, *parts = signature.split("|")
    try:
        given = getattr(metric_class(name), "citations", ())
    except InputError:  # of a kept run, by a package that is not installed here
        given = ()
    found = {}
    for item in (*given, *(RECIPES[part] for part in parts if part in RECIPES)):
        key = KEY.match(item)
        if key:
            found[key[1]] = item.strip()
        elif item in entries():
            found[item] = entries()[item]
    return found


def corpus_record(systems: Mapping[str, int], files: Sequence[SourceFile]) -> dict[str, Any]:
    """What was scored, for JSON: `systems` has the number of turns of each."""
    return {"turns": sum(systems.values()), "systems": list(systems), "files": [asdict(file) for file in files]}


def find(items: Sequence[Listed], **wanted: str | None) -> Listed:
    """The first item with these values. Where there is none, the value that is not known is named, with those most
    like it."""
    for field in wanted:
        if items and not hasattr(items[0], field):
            raise unknown("field", field, vars(items[0]))
    found = items
    for field, value in wanted.items():
        found = [item for item in found if getattr(item, field) == value]
    if found:
        return found[0]
    for field, value in wanted.items():
        known = {getattr(item, field) for item in items} - {None}
        if value is not None and not any(value == each for each in known):
            raise unknown(field, value, known)
    given = ", ".join(f"{field} {value!r}" for field, value in wanted.items())
    raise InputError(f"expected what there is, found no row with all of {given}")
