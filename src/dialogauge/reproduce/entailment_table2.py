"""Table 2 of the entailment paper: how often the class that a model predicts is the one that people's ratings come
to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge.corpus.corpus import SourceFile
from dialogauge.encode.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat
from dialogauge.evaluation.forms import Forms
from dialogauge.metrics.entailment import CLASSES
from dialogauge.reproduce.entailment_accuracy import Accurate, accuracy_of, published_rows
from dialogauge.reproduce.entailment_classes import Thresholds, predict_each
from dialogauge.reproduce.entailment_corpora import read_corpora
from dialogauge.reproduce.entailment_models import find_models
from dialogauge.reproduce.entailment_published import GONE, PAPER, entailment_table2, gone
from dialogauge.tables import Cell, Header, Table

SCHEMA = "dialogauge.entailment_table2/1"


@dataclass(frozen=True, repr=False)
class EntailmentTable2(Forms):
    rows: list[Accurate]
    thresholds: Thresholds
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    def to_records(self) -> list[dict[str, Any]]:
        return [row.record() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "source": asdict(entailment_table2().source),
            "files": [asdict(file) for file in self.files],
            "thresholds": asdict(self.thresholds),
            "classes": list(CLASSES),
            "rows": [asdict(row) for row in self.rows],
            "notes": self._notes(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> Table:
        headers = [Header("method", align="left"), Header("on", align="left"), Header("n"), Header("accuracy")]
        headers += [Header("commonest class"), Header("people: e/n/c"), Header("predicted: e/n/c")]
        return Table(headers, [_cells(row) for row in self.rows], self._notes())

    def _notes(self) -> list[str]:
        return [
            GONE,
            f"paper: table 2 of {PAPER}; it does not say how often the commonest class is right",
            self.thresholds.words,
            "[low, high]: 95% interval over dialogues or contexts; commonest class: the accuracy of always saying it",
            "e/n/c: turns that are entailment, neutral and contradiction",
            "ratings: " + "; ".join(dict.fromkeys(f"{row.corpus}: {row.rating}" for row in self.rows if row.rating)),
        ]


def reproduce_entailment_table2(
    folder: str | Path,
    models: Mapping[str, str],
    thresholds: Thresholds | None = None,
    only: Sequence[str] = (),
    *,
    cache: bool = True,
    progress: bool = False,
) -> EntailmentTable2:
    """`models` are directories by name, beside the model that comes with dialogauge; `only` names corpora."""
    rule = thresholds or Thresholds()
    rated, caveats = read_corpora(Path(folder), only)
    found, lacking = find_models(models)
    encoders = Encoders(Cache() if cache else None, progress)
    rows, remarks = published_rows(), list[Caveat]()
    for model, corpus, predicted in predict_each(found, rated, encoders, progress):
        rows.append(accuracy_of(model, corpus, predicted, rule))
        remarks += predicted.caveats
    return EntailmentTable2(
        rows=rows,
        thresholds=rule,
        files=tuple(file for corpus in rated for file in corpus.corpus.files),
        caveats=[gone(), *caveats, *lacking, *remarks, *encoders.caveats()],
    )


def _cells(row: Accurate) -> list[Cell]:
    if row.published:
        return [Cell(f"{row.method} (paper)"), Cell(row.corpus), Cell(""), Cell(f"{row.accuracy:.3f}"), *[Cell("")] * 3]
    return [
        Cell(row.method),
        Cell(row.corpus),
        Cell(str(row.n)),
        Cell(f"{row.accuracy:.3f}", f"[{row.low:.3f}, {row.high:.3f}]"),
        Cell(f"{row.commonest_share:.3f}", row.commonest or ""),
        *(Cell("/".join(map(str, counts or ()))) for counts in (row.people, row.predicted)),
    ]
