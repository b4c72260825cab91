"""Table 4 of the FBD paper: whether the vectors that FBD takes for Gaussian are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from dialogauge import tables
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.forms import Forms
from dialogauge.papers.fbd.published import Source, load_corpora, table4
from dialogauge.papers.models import encoder_for, stand_in_caveats
from dialogauge.progress import progress_bar
from dialogauge.studies.normality import normality
from dialogauge.studies.normality_table import NormalityRow, mean_and_deviation

SCHEMA = "dialogauge.reproduced-normality/1"
KINDS = {"references": "references", "system": "responses"}


@dataclass(frozen=True)
class NormalityCell:
    """The paper's number for a model and a corpus beside W and p of the Shapiro-Wilk test: means and standard
    deviations over dimensions, of responses averaged over systems."""

    model: str
    encoder: str
    corpus: str
    vectors: str
    """"references" or "responses"."""
    published: float
    published_deviation: float
    w: float | None
    w_deviation: float | None
    p: float | None
    p_deviation: float | None


@dataclass(frozen=True, repr=False)
class ReproducedNormality(Forms):
    source: Source
    titles: Mapping[str, str]
    cells: list[NormalityCell]
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    def to_records(self) -> list[dict[str, Any]]:
        return [asdict(cell) for cell in self.cells]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "source": asdict(self.source),
            "files": [asdict(file) for file in self.files],
            "cells": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> tables.Table:
        left = [tables.Header(name, align="left") for name in ("encoder", "paper's model", "on", "vectors of")]
        headers = [*left, tables.Header("paper"), tables.Header("W"), tables.Header("p")]
        rows = [
            [
                *map(tables.Cell, (cell.encoder, cell.model, self.titles[cell.corpus], cell.vectors)),
                tables.Cell(f"{cell.published:.2f} ± {cell.published_deviation:.2f}"),
                tables.Cell(mean_and_deviation(cell.w, cell.w_deviation, 3)),
                tables.Cell(mean_and_deviation(cell.p, cell.p_deviation, 2)),
            ]
            for cell in self.cells
        ]
        notes = [
            f"paper: table {self.source.number} of Xiang et al. 2021, which does not say whether it shows W or p, or of"
            " which vectors",
            "W, p: Shapiro-Wilk's test of each dimension, mean ± standard deviation over dimensions, of responses"
            " averaged over systems",
            "of Gaussian vectors W is near 1 and p is 0.50 ± 0.29",
        ]
        return tables.Table(headers, rows, notes)


def reproduce_table4(
    folder: str | Path, models: Mapping[str, str], *, cache: bool = True, seed: int = 0, progress: bool = False
) -> ReproducedNormality:
    """For both base models on six corpora; `models` names encoders in their place. The context is whole, as in the
    paper."""
    table = table4()
    corpora = load_corpora(Path(folder), table.titles)
    used = {row.encoder: encoder_for(row.encoder, models) for row in table.rows.values()}
    cells = []
    for model, row in table.rows.items():
        encoder = used[row.encoder]
        if encoder is None:
            continue
        for name, corpus in progress_bar(corpora.items(), f"{model}: {encoder}", shown=progress, unit="corpus"):
            found = normality(corpus, encoder=encoder, context=None, cache=cache, seed=seed)
            for kind, vectors in KINDS.items():
                mine = [line for line in found.rows if line.kind == kind]
                paper = row.values[name]
                means = (_mean(mine, field) for field in ("w_mean", "w_sd", "p_mean", "p_sd"))
                cells.append(NormalityCell(row.encoder, encoder, name, vectors, paper.mean, paper.deviation, *means))
    return ReproducedNormality(
        source=table.source,
        titles=table.titles,
        cells=cells,
        files=tuple(file for corpus in corpora.values() for file in corpus.files),
        caveats=[*(caveat for corpus in corpora.values() for caveat in corpus.caveats), *stand_in_caveats(used)],
    )


def _mean(rows: Sequence[NormalityRow], field: str) -> float | None:
    values = [value for row in rows if (value := getattr(row, field)) is not None]
    return fmean(values) if values else None
