"""What was made, as table 1 of the paper shows it: labels by splits, then by source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.inference import LABELS, Label
from dialogauge.errors import Caveat
from dialogauge.learn.synthesis.options import Options
from dialogauge.tables import Cell, Header, Table, render

PAPER: dict[str, tuple[float, float, float]] = {
    "train": (218.2, 579.5, 261.9),
    "validation": (12.2, 28.0, 9.8),
    "test": (1.4, 3.1, 1.1),
}
"""Thousands of pairs of each label: table 1 of Dziri et al. 2019."""
SCHEMA = "dialogauge.synthesis/1"


def paper_share(split: str, label: Label) -> float:
    return PAPER[split][LABELS.index(label)] / sum(PAPER[split])


@dataclass(frozen=True)
class SynthesisResult:
    """Files, and the number of their pairs by split, label and source."""

    files: Mapping[str, Path]
    counts: Mapping[tuple[str, Label, str], int] = field(repr=False)
    options: Options
    inputs: list[SourceFile] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return sum(self.counts.values())

    def share(self, split: str, label: Label) -> float:
        """Of a label among the pairs of a split."""
        total = self._sum(split=split)
        return self._sum(split=split, label=label) / total if total else float("nan")

    def render(self, form: str, *, width: int | None = None) -> str:
        document = {
            "schema": SCHEMA,
            "pairs": self.pairs,
            "files": {split: str(path) for split, path in self.files.items()},
            "counts": self._records(),
            "options": asdict(self.options),
            "inputs": [asdict(file) for file in self.inputs],
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }
        return render(form, table=self._table(), records=self._records(), document=document, width=width)

    def _sum(self, **wanted: str) -> int:
        names = ("split", "label", "source")
        return sum(
            number
            for key, number in self.counts.items()
            if all(dict(zip(names, key, strict=True))[name] == value for name, value in wanted.items())
        )

    def _sources(self) -> dict[tuple[Label, str], None]:
        return {(label, source): None for name in LABELS for _, label, source in sorted(self.counts) if label == name}

    def _records(self) -> list[dict[str, Any]]:
        """One for each split, label and source; where the source is empty, of all sources."""
        rows: list[tuple[Label, str]] = [(label, "") for label in LABELS]
        return [
            {
                "split": split,
                "label": label,
                "source": source,
                "pairs": (number := self._sum(**_wanted(split, label, source))),
                "share": number / total if (total := self._sum(split=split)) else None,
                "paper_share": None if source else paper_share(split, label),
            }
            for split in self.files
            for label, source in [*rows, *self._sources()]
        ]

    def _table(self) -> Table:
        splits = list(self.files)
        totals = Counter({split: self._sum(split=split) for split in splits})
        rows = [self._row(label, _wanted("", label, ""), paper_share("train", label), totals) for label in LABELS]
        rows.append(self._row("total", {}, None, totals))
        rows += [
            self._row(f"{label}: {source}", _wanted("", label, source), None, totals)
            for label, source in self._sources()
        ]
        headers = [Header("pairs", align="left"), *map(Header, splits), Header("all"), Header("paper (train)")]
        notes = [
            f"paper: Dziri et al. 2019, table 1; its dev split: {_shares('validation')}; test: {_shares('test')}",
            "files: " + ", ".join(dict.fromkeys(str(path) for path in self.files.values())),
        ]
        return Table(headers, rows, notes)

    def _row(self, name: str, wanted: Mapping[str, str], paper: float | None, totals: Counter[str]) -> list[Cell]:
        cells = [_cell(self._sum(split=split, **wanted), totals[split]) for split in totals]
        everything = _cell(self._sum(**wanted), totals.total())
        return [Cell(name), *cells, everything, Cell("" if paper is None else f"{paper:.1%}")]


def _cell(number: int, total: int) -> Cell:
    return Cell(f"{number:,}", f"{number / total:.1%}" if total else "")


def _wanted(split: str, label: str, source: str) -> dict[str, str]:
    given = {"split": split, "label": label, "source": source}
    return {name: value for name, value in given.items() if value}


def _shares(split: str) -> str:
    return ", ".join(f"{paper_share(split, label):.1%}" for label in LABELS)
