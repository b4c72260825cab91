"""Table 2 of the entailment paper: how often the class that a model predicts is the one that people's ratings come
to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.corpus.corpus import SourceFile
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat
from dialogauge.evaluation.forms import Forms
from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.papers.entailment.classes import Predicted, Thresholds, count_classes, predict_each
from dialogauge.papers.entailment.published import (
    GONE,
    PAPER,
    NamedModel,
    RatedCorpus,
    entailment_table2,
    find_models,
    gone,
    read_corpora,
)
from dialogauge.stats.intervals import clustered_mean
from dialogauge.tables import Cell, Header, Table


@dataclass(frozen=True)
class Accurate:
    """A model on a corpus; of the paper's rows all but the accuracy is None."""

    method: str
    corpus: str
    published: bool
    accuracy: float
    low: float | None = None
    high: float | None = None
    """The 95 % interval over dialogues or contexts."""
    commonest: str | None = None
    """People's commonest class, and the accuracy of always saying it."""
    commonest_share: float | None = None
    n: int | None = None
    units: int | None = None
    """Dialogues or contexts."""
    rating: str | None = None
    people: list[int] | None = None
    """Turns of each class."""
    predicted: list[int] | None = None
    confusion: list[list[int]] | None = None
    """`confusion[i][j]`: turns that are i by people's ratings and j by the model."""

    def record(self) -> dict[str, Any]:
        """In one line."""
        flat = {name: value for name, value in vars(self).items() if not isinstance(value, list)}
        for side in ("people", "predicted"):
            flat.pop(side, None)
            counts = getattr(self, side) or [None] * len(CLASSES)
            flat |= {f"{side}_{label}": number for label, number in zip(CLASSES, counts, strict=True)}
        flat.pop("confusion", None)
        return flat


def published_rows() -> list[Accurate]:
    table = entailment_table2()
    return [
        Accurate(method, corpus, True, number)
        for method, numbers in table.rows.items()
        for corpus, number in zip(table.corpora, numbers, strict=True)
    ]


def accuracy_of(model: NamedModel, rated: RatedCorpus, predicted: Predicted, rule: Thresholds) -> Accurate:
    known = predicted.known
    people, said, units = rule.classes(rated.scaled)[known], predicted.classes[known], rated.units[known]
    right = clustered_mean((people == said).astype(np.float64), np.unique(units, return_inverse=True)[1])
    counts = count_classes(people)
    confusion = np.zeros((len(CLASSES), len(CLASSES)), np.int64)
    np.add.at(confusion, (people, said), 1)
    return Accurate(
        method=model.name,
        corpus=rated.title,
        published=False,
        accuracy=right.value,
        low=right.low,
        high=right.high,
        commonest=CLASSES[int(np.argmax(counts))],
        commonest_share=max(counts) / len(people),
        n=len(people),
        units=len(np.unique(units)),
        rating=rated.scale.words,
        people=counts,
        predicted=count_classes(said),
        confusion=confusion.tolist(),
    )


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
