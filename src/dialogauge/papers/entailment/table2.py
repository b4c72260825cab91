"""Table 2 of the entailment paper: how often the class that a model predicts is the one that people's ratings come
to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.papers.entailment.classes import Predicted, Thresholds, count_classes, judge
from dialogauge.papers.entailment.inputs import GONE, PAPER, NamedModel, RatedCorpus
from dialogauge.papers.side_by_side import Published, SideBySide, estimate, make_table, read_published
from dialogauge.stats.resampling import clustered_mean
from dialogauge.tables import Cell, Table


@cache
def entailment_table2() -> Published[dict[str, float]]:
    """Accuracies, by the paper's names of its models and corpora."""
    return read_published(__file__, "table2", lambda _, numbers: numbers)


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
    rows = entailment_table2().rows.items()
    return [Accurate(method, corpus, True, number) for method, row in rows for corpus, number in row.items()]


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


@dataclass(frozen=True, repr=False)
class EntailmentTable2(SideBySide):
    schema = "dialogauge.entailment_table2/1"

    rows: list[Accurate]
    thresholds: Thresholds

    def to_records(self) -> list[dict[str, Any]]:
        return [row.record() for row in self.rows]

    def head(self) -> dict[str, Any]:
        return {"source": asdict(entailment_table2().source)}

    def body(self) -> dict[str, Any]:
        rule = {"thresholds": asdict(self.thresholds), "classes": list(CLASSES)}
        return {**rule, "rows": [asdict(row) for row in self.rows], "notes": self.notes()}

    def to_table(self) -> Table:
        right = ("n", "accuracy", "commonest class", "people: e/n/c", "predicted: e/n/c")
        return make_table(("method", "on"), right, map(_cells, self.rows), self.notes())

    def notes(self) -> list[str]:
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
    rule, judged = thresholds or Thresholds(), judge(folder, models, only, cache, progress)
    rows = [*published_rows(), *(accuracy_of(*each, rule) for each in judged.each)]
    return EntailmentTable2(rows, rule, files=judged.files, caveats=judged.caveats)


def _cells(row: Accurate) -> list[str | Cell]:
    if row.published:
        return [f"{row.method} (paper)", row.corpus, "", f"{row.accuracy:.3f}", "", "", ""]
    return [
        *(row.method, row.corpus, str(row.n)),
        estimate(row.accuracy, row.low, row.high),
        Cell(f"{row.commonest_share:.3f}", row.commonest or ""),
        *("/".join(map(str, counts or ())) for counts in (row.people, row.predicted)),
    ]
