"""The forms a result can take, once it knows its table, its records and its document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile

if TYPE_CHECKING:
    import pandas as pd


def corpus_record(systems: Mapping[str, int], files: Sequence[SourceFile]) -> dict[str, Any]:
    """What was scored, for JSON: `systems` has the number of turns of each."""
    return {"turns": sum(systems.values()), "systems": list(systems), "files": [asdict(file) for file in files]}


def counted_scores(systems: Mapping[str, int], metrics: Sequence[str]) -> str:
    """What was scored and by what, for `contents`: `systems` has the number of turns of each."""
    counts = {"system": len(systems), "metric": len(metrics), "turn": sum(systems.values())}
    return ", ".join(tables.counted(number, name) for name, number in counts.items())


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

    def to_markdown(self) -> str:
        return self.render("markdown")

    def to_latex(self) -> str:
        return self.render("latex")

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

    def __repr__(self) -> str:
        """One short line. A dataclass writes its own, unless it is made with `repr=False`."""
        return f"<{type(self).__name__}: {self.contents()}>"
