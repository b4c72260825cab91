"""Figure 2 of the entailment paper: distances from what was said before, and Extrema, against people's scores."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge.agreement.agreement_table import interval_and_p
from dialogauge.agreement.result import AgreementRow
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.reproduce.entailment_corpora import read_corpora
from dialogauge.reproduce.entailment_published import GONE, PAPER, gone
from dialogauge.reproduce.entailment_scatter import ScatterPanel, figure_rows, scatter_panels
from dialogauge.reproduce.entailment_table3 import NUMBERS, EntailmentInputs
from dialogauge.tables import Cell, Header, Table

SCHEMA = "dialogauge.entailment_figure2/1"
JITTER = 0.1
"""The standard deviation of the noise that is added to ratings where they are drawn, as in the paper."""


@dataclass(frozen=True, repr=False)
class EntailmentFigure2(Forms):
    panels: list[ScatterPanel]
    resamples: int
    seed: int
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

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

    def to_dict(self) -> dict[str, Any]:
        points = [
            {"corpus": p.corpus, "title": p.title, "human": p.people.tolist(), "metric": p.values.tolist()}
            for p in self.panels
        ]
        return {
            "schema": SCHEMA,
            "figure": 2,
            "files": [asdict(file) for file in self.files],
            "settings": {"resamples": self.resamples, "seed": self.seed, "jitter": JITTER},
            "panels": self.to_records(),
            "points": points,
            "notes": self._notes(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> Table:
        headers = [Header("on", align="left"), Header("metric", align="left")]
        headers += [Header("n"), Header("Pearson"), Header("Spearman")]
        rows = [
            [
                *map(Cell, (panel.corpus, panel.title, str(panel.row.n))),
                *(_estimate(panel.row, name) for name in ("pearson", "spearman")),
            ]
            for panel in self.panels
        ]
        return Table(headers, rows, self._notes())

    def _notes(self) -> list[str]:
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
        files=tuple(file for each in grade for file in each.corpus.files),
        caveats=list(dict.fromkeys([gone(), *caveats, *remarks])),
    )


def _estimate(row: AgreementRow, name: str) -> Cell:
    ends = (getattr(row, f"{name}_low"), getattr(row, f"{name}_high"), getattr(row, f"{name}_p"))
    return Cell(fixed(getattr(row, name)), interval_and_p(*ends))
