"""Figure 1 of the entailment paper in numbers: means by class, tests between classes, and classes by system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.score_table import short_p
from dialogauge.metrics.entailment import CLASSES
from dialogauge.reproduce.entailment_published import GONE, PAPER
from dialogauge.reproduce.entailment_scores import FEWEST_UNITS
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.reproduce.entailment_figure1 import EntailmentFigure1

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
