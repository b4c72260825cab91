"""Figure 1 of the entailment paper: people's scores of the responses that a model puts in each class."""

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
from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.evaluation.result import short_p
from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.papers.entailment.classes import (
    FEWEST_UNITS,
    ClassPair,
    ClassScore,
    Predicted,
    class_pairs,
    class_scores,
    predict,
    predict_each,
    scores_by_class,
    true_responses,
)
from dialogauge.papers.entailment.published import (
    GONE,
    PAPER,
    NamedModel,
    RatedCorpus,
    Scale,
    find_models,
    gone,
    read_corpora,
)
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Header, Table

LEFT = ("model", "on")


def scores_table(figure: EntailmentFigure1) -> Table:
    headers = [Header(name, align="left") for name in (*LEFT, "predicted class")]
    headers += [Header("n"), Header("mean score"), Header("units"), Header("over units")]
    rows = [
        [
            *map(Cell, (each.model, each.corpus, each.label, str(each.n))),
            Cell(fixed(each.mean), _interval(each.low, each.high)),
            Cell(str(each.units)),
            Cell(_interval(each.low_over_units, each.high_over_units)),
        ]
        for each in figure.scores
    ]
    notes = [
        *notes_of(figure),
        "mean score: of people's mean ratings of single responses, [95% interval] by Student's t, which takes responses"
        " as independent; units: dialogues or contexts; over units: the 95% interval that keeps their responses"
        f" together, from {FEWEST_UNITS} of them on",
    ]
    return Table(headers, rows, notes, "classes")


def pairs_table(figure: EntailmentFigure1) -> Table:
    headers = [Header(name, align="left") for name in (*LEFT, "classes")]
    headers += [Header("difference"), Header("Welch's t"), Header("p"), Header("p (Holm)"), Header("Hedges' g")]
    rows = [
        [
            *map(Cell, (each.model, each.corpus, f"{each.first} - {each.second}")),
            Cell(fixed(each.difference), _interval(each.low, each.high)),
            Cell("–" if each.t is None else f"{each.t:.2f}", "" if each.freedom is None else f"({each.freedom:.1f})"),
            *(Cell("–" if p is None else short_p(p)) for p in (each.p, each.p_holm)),
            Cell(fixed(each.g), _interval(each.g_low, each.g_high)),
        ]
        for each in figure.pairs
    ]
    notes = [
        "difference: of mean scores, [95% interval]; Welch's t (degrees of freedom) takes responses as independent, and"
        " p can be too small where a context or a dialogue has several: compare the intervals over units above",
        "p (Holm): corrected for the three pairs of a model and corpus; Hedges' g: the difference in pooled standard"
        " deviations, [95% interval]",
    ]
    return Table(headers, rows, notes, "pairs-of-classes")


def counts_table(figure: EntailmentFigure1) -> Table:
    headers = [Header(name, align="left") for name in (*LEFT, "system")]
    headers += [Header("n"), *map(Header, CLASSES)]
    rows = [
        [
            *map(Cell, (each.model, each.corpus, each.system, str(each.n))),
            *(_share(getattr(each, label), each.n) for label in CLASSES),
        ]
        for each in figure.counts
    ]
    notes = ["predicted classes of each system's responses; true responses: the references, each once for its context"]
    return Table(headers, rows, notes, "systems")


def notes_of(figure: EntailmentFigure1) -> list[str]:
    shown = zip(figure.scores[:: len(CLASSES)], figure.panels, strict=True)
    rated = dict.fromkeys(f"{each.corpus}: {panel.scale.words}" for each, panel in shown)
    return [
        GONE,
        f"figure 1 of {PAPER}, which shows BERT's predictions and no numbers: people liked what is taken for entailment"
        " best, and contradiction better than neutral",
        f"ratings: {'; '.join(rated)}",
    ]


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{fixed(low)}, {fixed(high)}]"


def _share(count: int, total: int) -> Cell:
    return Cell(str(count), f"{count / total:.1%}" if total else "")


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
