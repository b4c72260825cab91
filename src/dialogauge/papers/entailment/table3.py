"""Table 3 of the entailment paper: how far metrics agree with people, by what they see texts with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge.agreement.correlate_corpora import mean_rows
from dialogauge.agreement.result import AgreementRow, Ceiling
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.digits import fixed
from dialogauge.papers.entailment.inputs import (
    GONE,
    OTHER_CORPORA,
    PAPER,
    EntailmentInputs,
    NamedModel,
    RatedCorpus,
    find_models,
    read_corpora,
)
from dialogauge.papers.entailment.rows import (
    ENTAILMENT,
    TableRow,
    agreement_of,
    entailment_table3,
    find_embeddings,
    make_rows,
    remarks_of,
    rows_together,
)
from dialogauge.papers.side_by_side import SideBySide, estimate, files_of, make_table, numbers_of
from dialogauge.tables import Cell, Table

MEAN = "mean of GRADE"
NUMBERS = [name + part for name in ("pearson", "spearman") for part in ("", "_low", "_high", "_p")]


@dataclass(frozen=True, repr=False)
class EntailmentTable3(SideBySide):
    """`ours` has our numbers by row and corpus (MEAN: over GRADE's); they are oriented: more is better."""

    schema = "dialogauge.entailment_table3/1"

    rows: list[TableRow]
    corpora: list[RatedCorpus]
    ours: dict[tuple[str, str], AgreementRow]
    ceilings: dict[str, Ceiling]
    """Of corpora with several ratings for each turn."""
    resamples: int
    seed: int

    @property
    def columns(self) -> dict[str, str]:
        """Titles of GRADE's corpora, of the mean over them, then of the others."""
        titles = {each.name: each.title.removeprefix("GRADE ").removesuffix("Dialogues") for each in self.corpora}
        grade = {each.name: titles[each.name] for each in self.corpora if each.is_grade}
        return {**grade, **({MEAN: MEAN} if any(name == MEAN for _, name in self.ours) else {}), **titles}

    def to_records(self) -> list[dict[str, Any]]:
        """One for each row and corpus that it can be had for, or one without a corpus where it can be had for none."""
        records = []
        for row in self.rows:
            mine = {name: found for (known, name), found in self.ours.items() if known == row.name}
            records += [_record(row, corpus, found) for corpus, found in mine.items()] or [_record(row, None, None)]
        return records

    def head(self) -> dict[str, Any]:
        return {"source": asdict(entailment_table3().source)}

    def body(self) -> dict[str, Any]:
        return {
            "settings": {"resamples": self.resamples, "seed": self.seed},
            "corpora": [{"name": each.name, "title": each.title, **asdict(each.scale)} for each in self.corpora],
            "rows": self.to_records(),
            "ceilings": [{**asdict(each), "reachable": each.reachable} for each in self.ceilings.values()],
            "notes": self.notes(),
        }

    def to_table(self) -> Table:
        right = [
            *entailment_table3().titles,
            *(text for title in self.columns.values() for text in (f"{title} r", "ρ")),
        ]
        return make_table(["metric"], right, [*map(self._line, self.rows), *self._people()], self.notes())

    def _line(self, row: TableRow) -> list[str | Cell]:
        published = [fixed(row.sign * value) for value in row.published or ()] or ["", ""]
        cells = [cell for name in self.columns for cell in _pair(self.ours.get((row.name, name)), name == MEAN)]
        return [row.title, *published, *cells]

    def _people(self) -> list[list[str]]:
        """What people's agreement allows, and how many turns there are."""
        lines: dict[str, list[str]] = {"(one rater)": [], "(ceiling)": [], "(turns)": []}
        for name in self.columns:
            known = self.ceilings.get(name)
            lines["(one rater)"] += [fixed(known.pearson), fixed(known.spearman)] if known else ["", ""]
            lines["(ceiling)"] += [fixed(known.reachable) if known else "", ""]
            most = max((found.n for (_, corpus), found in self.ours.items() if corpus == name), default=None)
            lines["(turns)"] += [str(most) if most is not None and name != MEAN else "", ""]
        return [[name, "", "", *texts] for name, texts in lines.items()]

    def notes(self) -> list[str]:
        how = f"bootstrap over dialogues or contexts ({self.resamples} resamples, seed {self.seed})"
        notes = [
            GONE,
            f"Reddit, OpenSubtitles: Pearson, table 3 of {PAPER}; then ours: Pearson (r) and Spearman (ρ) with the mean"
            " rating, over turns of all systems",
            "all are oriented: more is better, and below 0 a metric points the wrong way. SS is a distance: the paper"
            " prints its correlations as they are, below 0 where it agrees with people, and here their signs are"
            " turned. The code of the paper computes a similarity in its place (similarity rows), whose sign needs no"
            " turning",
            "H-1: the last utterance; H-2: the last two as one text, by the paper's section 5.2.2; second last: the one"
            " before the last alone, as the caption of its figure 2 has it",
            f"mean of GRADE: of its corpora, each counting once; [low, high]: 95% interval, {how}; those of single"
            " corpora are in the JSON and CSV",
            "A, G, E and BERTScore hold the response against a reference, which FED and ConTurE have not",
            "(one rater): one rater against the mean of the others; (ceiling): what a metric would reach that knew"
            " people's mean; ConTurE has one rating for each turn, the majority of three",
            "ratings: " + "; ".join(f"{each.title}: {each.scale.words}" for each in self.corpora),
        ]
        return [*notes, *self._fewer()]

    def _fewer(self) -> Iterator[str]:
        """Where rows stand on fewer turns than others."""
        for each in self.corpora:
            turns = {row.name: made.n for row in self.rows if (made := self.ours.get((row.name, each.name)))}
            most = max(turns.values(), default=0)
            if fewer := {name: n for name, n in turns.items() if n < most}:
                yield f"{each.title}: {', '.join(fewer)} on {min(fewer.values())} of {most} turns alone"


def _pair(ours: AgreementRow | None, with_interval: bool) -> list[str | Cell]:
    if ours is None:
        return ["", ""]
    found = [numbers_of(ours, name) for name in ("pearson", "spearman")]
    return [estimate(value, low, high) if with_interval else fixed(value) for value, low, high, _ in found]


def reproduce_entailment_table3(
    inputs: EntailmentInputs, *, cache: bool = True, resamples: int = 1000, seed: int = 0, progress: bool = False
) -> EntailmentTable3:
    """Pearson and Spearman over turns, with 95 % intervals over dialogues or contexts."""
    corpora, caveats = read_corpora(Path(inputs.folder))
    models, lacking = _models(inputs)
    embeddings = find_embeddings(inputs.vectors, inputs.models or {})
    rows = make_rows(embeddings, models, inputs.only)
    if not any(row.metric for row in rows):
        raise InputError("; ".join(caveat.message for caveat in embeddings.caveats(rows)))
    options = {"cache": cache, "resamples": resamples, "seed": seed, "progress": progress}
    ours: dict[tuple[str, str], AgreementRow] = {}
    ceilings: dict[str, Ceiling] = {}
    remarks: list[Caveat] = []
    for corpus in corpora:
        for together in rows_together(rows, corpus):
            agreement = agreement_of(together, corpus, options)
            by_metric = {each.metric: each for each in agreement.rows}
            ours |= {(row.name, corpus.name): by_metric[row.metric.label] for row in together if row.metric}
            if agreement.ceilings:
                ceilings.setdefault(corpus.name, agreement.ceilings[0])
            remarks += remarks_of(agreement, corpus)
    for row in rows:
        mine = [ours[row.name, each.name] for each in corpora if each.is_grade and (row.name, each.name) in ours]
        if means := mean_rows(mine):
            ours[row.name, MEAN] = means[0]
    return EntailmentTable3(
        rows=rows,
        corpora=corpora,
        ours=ours,
        ceilings=ceilings,
        files=files_of(each.corpus for each in corpora),
        caveats=list(dict.fromkeys([OTHER_CORPORA, *caveats, *lacking, *embeddings.caveats(rows), *remarks])),
        resamples=resamples,
        seed=seed,
    )


def _models(inputs: EntailmentInputs) -> tuple[list[NamedModel], list[Caveat]]:
    """Those that the rows need; without any, rows of entailment are left out unless they were asked for."""
    kinds = {name.partition("/")[0] for name in inputs.only}
    if kinds and not kinds & ENTAILMENT.keys():
        return [], []
    try:
        return find_models(inputs.entailment or {})
    except InputError as error:
        if kinds or inputs.entailment:
            raise
        return [], [Caveat("no_model", f"rows of entailment are left out: {error}")]


def _record(row: TableRow, corpus: str | None, ours: AgreementRow | None) -> dict[str, Any]:
    published = row.published or (None, None)
    return {
        "row": row.name,
        "title": row.title,
        "metric": row.metric.label if row.metric else None,
        "published_reddit": published[0],
        "published_opensubtitles": published[1],
        "published_sign": row.sign if row.published else None,
        "corpus": corpus,
        "n": ours.n if ours else None,
        **{name: getattr(ours, name) if ours else None for name in NUMBERS},
        "signature": ours.signature if ours else None,
    }
