"""How often the class that a model predicts is the one that people's ratings come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dialogauge.metrics.entailment import CLASSES
from dialogauge.reproduce.entailment_classes import Predicted, Thresholds, count_classes
from dialogauge.reproduce.entailment_corpora import RatedCorpus
from dialogauge.reproduce.entailment_models import NamedModel
from dialogauge.reproduce.entailment_published import entailment_table2
from dialogauge.stats.intervals import clustered_mean


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
