"""Figure 1 of the entailment paper: people's scores of the responses that a model puts in each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge.agreement.table import interval_and_p
from dialogauge.encode.encoders import Encoders
from dialogauge.evaluation.result import short_p
from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.papers.entailment.classes import (
    FEWEST_UNITS,
    ClassPair,
    ClassScore,
    Predicted,
    class_pairs,
    class_scores,
    judge,
    predict,
    scores_by_class,
    true_responses,
)
from dialogauge.papers.entailment.inputs import GONE, PAPER, NamedModel, RatedCorpus, Scale
from dialogauge.papers.side_by_side import SideBySide, estimate, make_table
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Table

LEFT = ("model", "on")


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
class EntailmentFigure1(SideBySide):
    schema = "dialogauge.entailment_figure1/1"

    scores: list[ClassScore]
    pairs: list[ClassPair]
    counts: list[ClassCount]
    panels: list[BoxPanel]

    def to_records(self) -> list[dict[str, Any]]:
        """One for each class, pair of classes and system, as `kind` says."""
        parts = {"class": self.scores, "pair": self.pairs, "system": self.counts}
        records = [{"kind": kind, **asdict(each)} for kind, found in parts.items() for each in found]  # type: ignore[attr-defined]
        names = dict.fromkeys(name for record in records for name in record)
        return [{name: record.get(name) for name in names} for record in records]

    def head(self) -> dict[str, Any]:
        return {"figure": 1}

    def body(self) -> dict[str, Any]:
        parts = {"classes": self.scores, "pairs": self.pairs, "systems": self.counts}
        found = {name: [asdict(each) for each in part] for name, part in parts.items()}  # type: ignore[attr-defined]
        return {**found, "notes": self.notes()}

    def notes(self) -> list[str]:
        shown = zip(self.scores[:: len(CLASSES)], self.panels, strict=True)
        rated = dict.fromkeys(f"{each.corpus}: {panel.scale.words}" for each, panel in shown)
        return [
            GONE,
            f"figure 1 of {PAPER}, which shows BERT's predictions and no numbers: people liked what is taken for"
            " entailment best, and contradiction better than neutral",
            f"ratings: {'; '.join(rated)}",
        ]

    def to_table(self) -> Table:
        return scores_table(self)

    def all_tables(self) -> list[Table]:
        """Means, tests, and counts by system."""
        return [scores_table(self), pairs_table(self), counts_table(self)]


def scores_table(figure: EntailmentFigure1) -> Table:
    rows: list[list[str | Cell]] = [
        [
            *(each.model, each.corpus, each.label, str(each.n)),
            estimate(each.mean, each.low, each.high),
            str(each.units),
            interval_and_p(each.low_over_units, each.high_over_units, None),
        ]
        for each in figure.scores
    ]
    notes = [
        *figure.notes(),
        "mean score: of people's mean ratings of single responses, [95% interval] by Student's t, which takes responses"
        " as independent; units: dialogues or contexts; over units: the 95% interval that keeps their responses"
        f" together, from {FEWEST_UNITS} of them on",
    ]
    return make_table((*LEFT, "predicted class"), ("n", "mean score", "units", "over units"), rows, notes, "classes")


def pairs_table(figure: EntailmentFigure1) -> Table:
    rows: list[list[str | Cell]] = [
        [
            *(each.model, each.corpus, f"{each.first} - {each.second}"),
            estimate(each.difference, each.low, each.high),
            Cell("–" if each.t is None else f"{each.t:.2f}", "" if each.freedom is None else f"({each.freedom:.1f})"),
            *("–" if p is None else short_p(p) for p in (each.p, each.p_holm)),
            estimate(each.g, each.g_low, each.g_high),
        ]
        for each in figure.pairs
    ]
    right = ("difference", "Welch's t", "p", "p (Holm)", "Hedges' g")
    notes = [
        "difference: of mean scores, [95% interval]; Welch's t (degrees of freedom) takes responses as independent, and"
        " p can be too small where a context or a dialogue has several: compare the intervals over units above",
        "p (Holm): corrected for the three pairs of a model and corpus; Hedges' g: the difference in pooled standard"
        " deviations, [95% interval]",
    ]
    return make_table((*LEFT, "classes"), right, rows, notes, "pairs-of-classes")


def counts_table(figure: EntailmentFigure1) -> Table:
    rows: list[list[str | Cell]] = [
        [
            *(each.model, each.corpus, each.system, str(each.n)),
            *(_share(getattr(each, label), each.n) for label in CLASSES),
        ]
        for each in figure.counts
    ]
    notes = ["predicted classes of each system's responses; true responses: the references, each once for its context"]
    return make_table((*LEFT, "system"), ("n", *CLASSES), rows, notes, "systems")


def _share(count: int, total: int) -> Cell:
    return Cell(str(count), f"{count / total:.1%}" if total else "")


def reproduce_entailment_figure1(
    folder: str | Path,
    models: Mapping[str, str],
    only: Sequence[str] = (),
    *,
    cache: bool = True,
    progress: bool = False,
) -> EntailmentFigure1:
    """`models` are directories by name, beside the model that comes with dialogauge; `only` names corpora."""
    judged = judge(folder, models, only, cache, progress)
    scores, pairs, counts, panels = list[ClassScore](), list[ClassPair](), list[ClassCount](), list[BoxPanel]()
    for model, corpus, predicted in judged.each:
        scores += class_scores(model.name, corpus, predicted)
        pairs += class_pairs(model.name, corpus, predicted)
        counts += _counts(model, corpus, predicted, judged.encoders)
        by_class = dict(zip(CLASSES, scores_by_class(corpus, predicted), strict=True))
        panels.append(BoxPanel(model.name, corpus.title, corpus.scale, by_class))
    return EntailmentFigure1(scores, pairs, counts, panels, files=judged.files, caveats=judged.caveats)


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
