"""The forms a result can take, once it knows its table, its records and its document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import InputError, unknown
from dialogauge.evaluation.digits import check_digits
from dialogauge.evaluation.display_names import check_names, renamed

if TYPE_CHECKING:
    import pandas as pd

Listed = TypeVar("Listed")


def corpus_record(systems: Mapping[str, int], files: Sequence[SourceFile]) -> dict[str, Any]:
    """What was scored, for JSON: `systems` has the number of turns of each."""
    return {"turns": sum(systems.values()), "systems": list(systems), "files": [asdict(file) for file in files]}


def counted_scores(systems: Mapping[str, int], metrics: Sequence[str]) -> str:
    """What was scored and by what, for `contents`: `systems` has the number of turns of each."""
    counts = {"system": len(systems), "metric": len(metrics), "turn": sum(systems.values())}
    return ", ".join(tables.counted(number, name) for name, number in counts.items())


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
        if value is not None and value not in known:
            raise unknown(field, value, known)
    given = ", ".join(f"{field} {value!r}" for field, value in wanted.items())
    raise InputError(f"expected what there is, found no row with all of {given}")


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
        warnings = [f"warning: {tables.printable(caveat.message)}" for caveat in getattr(self, "caveats", ())]
        return "\n".join([self.render("table"), *([""] if warnings else []), *warnings])

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables, and below them what the reader must know."""
        caveats = [f"warning: {caveat.message}" for caveat in getattr(self, "caveats", ())]
        return "\n".join([*map(tables.to_html, self.all_tables()), tables.small_print(caveats)])

    def __repr__(self) -> str:
        """One short line. A dataclass writes its own, unless it is made with `repr=False`."""
        return f"<{type(self).__name__}: {self.contents()}>"


class MetricForms(Forms):
    """A result of metrics and systems. People can have its numbers with other digits, and other names for both."""

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
        return "\n\n".join(tables.render_table(form, table, width) for table in parts)
