"""The panels of figure 2 of the entailment paper: a metric's values and people's ratings, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.result import AgreementRow
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import spell_file
from dialogauge.reproduce.entailment_agreement import agreement_of, remarks_of
from dialogauge.reproduce.entailment_corpora import RatedCorpus, Scale
from dialogauge.reproduce.entailment_rows import TableRow, find_embeddings, make_rows
from dialogauge.reproduce.entailment_table3 import EntailmentInputs
from dialogauge.stats.arrays import Floats

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
        raise InputError("; ".join(caveat.message for caveat in embeddings.caveats(list(found.values()))))
    remarks = embeddings.caveats(rows)
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
