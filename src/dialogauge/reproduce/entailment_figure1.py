"""Figure 1 of the entailment paper: people's scores of the responses that a model puts in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.corpus.corpus import SourceFile
from dialogauge.encode.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import Caveat
from dialogauge.evaluation.forms import Forms
from dialogauge.metrics.entailment import CLASSES
from dialogauge.reproduce.entailment_classes import Predicted, predict, predict_each, true_responses
from dialogauge.reproduce.entailment_corpora import RatedCorpus, Scale, read_corpora
from dialogauge.reproduce.entailment_figure1_text import counts_table, notes_of, pairs_table, scores_table
from dialogauge.reproduce.entailment_models import NamedModel, find_models
from dialogauge.reproduce.entailment_published import gone
from dialogauge.reproduce.entailment_scores import ClassPair, ClassScore, class_pairs, class_scores, scores_by_class
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Table

SCHEMA = "dialogauge.entailment_figure1/1"


@dataclass(frozen=True)
class ClassCount:
    """How many responses of a system a model puts in each class."""

    model: str
    corpus: str
    system: str
    n: int
    entailment: int
    neutral: int
    contradiction: int


@dataclass(frozen=True)
class BoxPanel:
    """Ratings of the responses of each class, to be drawn side by side."""

    model: str
    corpus: str
    scale: Scale
    scores: dict[str, Floats]


@dataclass(frozen=True, repr=False)
class EntailmentFigure1(Forms):
    scores: list[ClassScore]
    pairs: list[ClassPair]
    counts: list[ClassCount]
    panels: list[BoxPanel]
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    def to_records(self) -> list[dict[str, Any]]:
        """One for each class, pair of classes and system, as `kind` says."""
        parts = {"class": self.scores, "pair": self.pairs, "system": self.counts}
        records = [{"kind": kind, **asdict(each)} for kind, found in parts.items() for each in found]  # type: ignore[attr-defined]
        names = dict.fromkeys(name for record in records for name in record)
        return [{name: record.get(name) for name in names} for record in records]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "figure": 1,
            "files": [asdict(file) for file in self.files],
            "classes": [asdict(each) for each in self.scores],
            "pairs": [asdict(each) for each in self.pairs],
            "systems": [asdict(each) for each in self.counts],
            "notes": notes_of(self),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> Table:
        return scores_table(self)

    def all_tables(self) -> list[Table]:
        """Means, tests, and counts by system."""
        return [scores_table(self), pairs_table(self), counts_table(self)]


def reproduce_entailment_figure1(
    folder: str | Path,
    models: Mapping[str, str],
    only: Sequence[str] = (),
    *,
    cache: bool = True,
    progress: bool = False,
) -> EntailmentFigure1:
    """`models` are directories by name, beside the model that comes with dialogauge; `only` names corpora."""
    rated, caveats = read_corpora(Path(folder), only)
    found, lacking = find_models(models)
    encoders = Encoders(Cache() if cache else None, progress)
    result = EntailmentFigure1([], [], [], [], tuple(file for each in rated for file in each.corpus.files), [])
    remarks: list[Caveat] = []
    for model, corpus, predicted in predict_each(found, rated, encoders, progress):
        remarks += predicted.caveats
        result.scores.extend(class_scores(model.name, corpus, predicted))
        result.pairs.extend(class_pairs(model.name, corpus, predicted))
        result.counts.extend(_counts(model, corpus, predicted, encoders))
        scores = dict(zip(CLASSES, scores_by_class(corpus, predicted), strict=True))
        result.panels.append(BoxPanel(model.name, corpus.title, corpus.scale, scores))
    result.caveats.extend([gone(), *caveats, *lacking, *remarks, *encoders.caveats()])
    return result


def _counts(model: NamedModel, rated: RatedCorpus, predicted: Predicted, encoders: Encoders) -> list[ClassCount]:
    """Of each system, and of the true responses where there are any."""
    systems = np.array([turn.system for turn in predicted.turns])
    parts = {system: predicted.classes[systems == system] for system in dict.fromkeys(systems.tolist())}
    found = [Predicted([], classes, []) for classes in parts.values()]
    names = list(parts)
    if real := true_responses(rated):
        names.append(real[0].system)
        found.append(predict(model, real, encoders))
    return [
        ClassCount(model.name, rated.title, name, int(each.known.sum()), *each.counts())
        for name, each in zip(names, found, strict=True)
    ]
