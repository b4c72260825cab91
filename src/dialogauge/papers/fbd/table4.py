"""Table 4 of the FBD paper: whether the vectors that FBD takes for Gaussian are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from dialogauge.papers.fbd.published import PAPER, load_corpora, table4
from dialogauge.papers.side_by_side import SideBySide, Source, encoder_for, files_of, make_table, stand_in_caveats
from dialogauge.progress import progress_bar
from dialogauge.studies.normality import normality
from dialogauge.studies.normality_result import NormalityRow, mean_and_deviation
from dialogauge.tables import Table

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
class ReproducedNormality(SideBySide):
    schema = "dialogauge.reproduced-normality/1"

    source: Source
    titles: Mapping[str, str]
    cells: list[NormalityCell]

    def head(self) -> dict[str, Any]:
        return {"source": asdict(self.source)}

    def to_table(self) -> Table:
        rows = [
            (
                *(cell.encoder, cell.model, self.titles[cell.corpus], cell.vectors),
                f"{cell.published:.2f} ± {cell.published_deviation:.2f}",
                mean_and_deviation(cell.w, cell.w_deviation, 3),
                mean_and_deviation(cell.p, cell.p_deviation, 2),
            )
            for cell in self.cells
        ]
        return make_table(("encoder", "paper's model", "on", "vectors of"), ("paper", "W", "p"), rows, self.notes())

    def notes(self) -> list[str]:
        return [
            f"paper: table {self.source.number} of {PAPER}, which does not say whether it shows W or p, or of"
            " which vectors",
            "W, p: Shapiro-Wilk's test of each dimension, mean ± standard deviation over dimensions, of responses"
            " averaged over systems",
            "of Gaussian vectors W is near 1 and p is 0.50 ± 0.29",
        ]


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
        files=files_of(corpora.values()),
        caveats=[*(caveat for corpus in corpora.values() for caveat in corpus.caveats), *stand_in_caveats(used)],
    )


def _mean(rows: Sequence[NormalityRow], field: str) -> float | None:
    values = [value for row in rows if (value := getattr(row, field)) is not None]
    return fmean(values) if values else None
