"""Figure 2 of the entailment paper: distances from what was said before, and Extrema, against people's scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.result import AgreementRow
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import spell_file
from dialogauge.papers.entailment.inputs import (
    GONE,
    OTHER_CORPORA,
    PAPER,
    EntailmentInputs,
    RatedCorpus,
    Scale,
    find_embeddings,
    read_corpora,
)
from dialogauge.papers.entailment.table3 import NUMBERS, TableRow, agreement_of, make_rows, remarks_of
from dialogauge.papers.side_by_side import SideBySide, estimate, files_of, make_table, numbers_of
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Table

SHOWN = ("second_last", "ss_h1", "extrema/bert")


@dataclass(frozen=True)
class ScatterPanel:
    """A metric's values and people's mean ratings of the same turns; point i of each belongs to turn i."""

    corpus: str
    title: str
    scale: Scale
    people: Floats
    values: Floats
    units: NDArray[np.int64]
    row: AgreementRow
    """The correlations, from these numbers as they are."""


def figure_rows(inputs: EntailmentInputs) -> tuple[list[TableRow], list[Caveat]]:
    """Distances by USE where it is installed, else by what stands in for BERT."""
    embeddings = find_embeddings(inputs.vectors, inputs.models or {})
    by = "use" if embeddings.encoders["use"] else "bert"
    names = [name if "/" in name else f"{name}/{by}" for name in SHOWN]
    found = {row.name: row for row in make_rows(embeddings, [], names)}
    rows = [found[name] for name in names if found[name].metric]
    if not rows:
        raise InputError("; ".join(caveat.message for caveat in embeddings.caveats(found)))
    remarks = embeddings.caveats(row.name for row in rows)
    if by == "bert":
        remarks = [*embeddings.remarks["use"], *remarks]
    return [replace(row, title=_title(row)) for row in rows], remarks


def _title(row: TableRow) -> str:
    name = row.title.partition(" (")[0]
    return f"{'Extrema' if name == 'E' else name} ({spell_file(row.encoder or '')})"


def scatter_panels(
    rows: Sequence[TableRow], rated: RatedCorpus, options: dict[str, Any]
) -> tuple[list[ScatterPanel], list[Caveat]]:
    agreement = agreement_of(rows, rated, options)
    (points,) = agreement.points
    found = {row.metric: row for row in agreement.rows}
    panels = [
        ScatterPanel(
            corpus=rated.title,
            title=row.title,
            scale=rated.scale,
            people=points.people,
            values=points.column(row.metric.label),
            units=points.units,
            row=found[row.metric.label],
        )
        for row in rows
        if row.metric
    ]
    return panels, remarks_of(agreement, rated)


JITTER = 0.1
"""The standard deviation of the noise that is added to ratings where they are drawn, as in the paper."""


@dataclass(frozen=True, repr=False)
class EntailmentFigure2(SideBySide):
    schema = "dialogauge.entailment_figure2/1"

    panels: list[ScatterPanel]
    resamples: int
    seed: int

    def to_records(self) -> list[dict[str, Any]]:
        return [
            {
                "corpus": panel.corpus,
                "title": panel.title,
                "metric": panel.row.metric,
                "n": panel.row.n,
                **{name: getattr(panel.row, name) for name in NUMBERS},
                "higher_is_better": panel.row.higher_is_better,
                "signature": panel.row.signature,
            }
            for panel in self.panels
        ]

    def head(self) -> dict[str, Any]:
        return {"figure": 2}

    def body(self) -> dict[str, Any]:
        points = [
            {"corpus": p.corpus, "title": p.title, "human": p.people.tolist(), "metric": p.values.tolist()}
            for p in self.panels
        ]
        settings = {"resamples": self.resamples, "seed": self.seed, "jitter": JITTER}
        return {"settings": settings, "panels": self.to_records(), "points": points, "notes": self.notes()}

    def to_table(self) -> Table:
        rows: list[list[str | Cell]] = [
            [
                *(panel.corpus, panel.title, str(panel.row.n)),
                *(estimate(*numbers_of(panel.row, name)) for name in ("pearson", "spearman")),
            ]
            for panel in self.panels
        ]
        return make_table(("on", "metric"), ("n", "Pearson", "Spearman"), rows, self.notes())

    def notes(self) -> list[str]:
        how = f"{self.resamples} resamples, seed {self.seed}"
        return [
            GONE,
            f"figure 2 of {PAPER} shows SS of USE with the second last utterance and with the last one, and Extrema of"
            " BERT; second last is the reading of its caption, where table 3 has the last two",
            f"correlations are of the ratings as they are; what is drawn has noise, N(0, {JITTER:g}) as in the paper",
            "correlations are oriented: of SS, a distance, less is better, and its sign is turned",
            f"[low, high]: 95% interval, bootstrap over dialogues or contexts ({how})",
        ]


def reproduce_entailment_figure2(
    inputs: EntailmentInputs, *, cache: bool = True, resamples: int = 1000, seed: int = 0, progress: bool = False
) -> EntailmentFigure2:
    """On GRADE's corpora, which have references, or on those of them that are named."""
    grade, caveats = read_corpora(Path(inputs.folder), inputs.only, grade_alone=True)
    rows, remarks = figure_rows(inputs)
    options = {"cache": cache, "resamples": resamples, "seed": seed, "progress": progress}
    panels: list[ScatterPanel] = []
    for corpus in grade:
        able = [row for row in rows if row.can_score(corpus.corpus)]
        found, said = scatter_panels(able, corpus, options)
        panels += found
        remarks += said
    return EntailmentFigure2(
        panels=panels,
        resamples=resamples,
        seed=seed,
        files=files_of(each.corpus for each in grade),
        caveats=list(dict.fromkeys([OTHER_CORPORA, *caveats, *remarks])),
    )
