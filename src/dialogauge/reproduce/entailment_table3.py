"""Table 3 of the entailment paper: how far metrics agree with people, by what they see texts with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge.agreement.macro import mean_rows
from dialogauge.agreement.result import AgreementRow, Ceiling
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.forms import Forms
from dialogauge.reproduce.entailment_agreement import agreement_of, remarks_of, rows_together
from dialogauge.reproduce.entailment_corpora import RatedCorpus, read_corpora
from dialogauge.reproduce.entailment_models import NamedModel, find_models
from dialogauge.reproduce.entailment_published import entailment_table3, gone
from dialogauge.reproduce.entailment_rows import ENTAILMENT, TableRow, find_embeddings, make_rows
from dialogauge.reproduce.entailment_table3_text import MEAN, notes_of, table3_text
from dialogauge.tables import Table

SCHEMA = "dialogauge.entailment_table3/1"
NUMBERS = [name + part for name in ("pearson", "spearman") for part in ("", "_low", "_high", "_p")]


@dataclass(frozen=True)
class EntailmentInputs:
    """`folder` holds the rated corpora, `vectors` is a file in place of word2vec, `models` names an encoder in place
    of BERT, `entailment` has model directories by name. `only` names rows of table 3, else corpora."""

    folder: str | Path
    vectors: str | Path | None = None
    models: Mapping[str, str] | None = None
    entailment: Mapping[str, str] | None = None
    only: Sequence[str] = ()


@dataclass(frozen=True, repr=False)
class EntailmentTable3(Forms):
    """`ours` has our numbers by row and corpus (MEAN: over GRADE's); they are oriented: more is better."""

    rows: list[TableRow]
    corpora: list[RatedCorpus]
    ours: dict[tuple[str, str], AgreementRow]
    ceilings: dict[str, Ceiling]
    """Of corpora with several ratings for each turn."""
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]
    resamples: int
    seed: int

    def to_records(self) -> list[dict[str, Any]]:
        """One for each row and corpus that it can be had for, or one without a corpus where it can be had for none."""
        records = []
        for row in self.rows:
            mine = {name: found for (known, name), found in self.ours.items() if known == row.name}
            records += [_record(row, corpus, found) for corpus, found in mine.items()] or [_record(row, None, None)]
        return records

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "source": asdict(entailment_table3().source),
            "files": [asdict(file) for file in self.files],
            "settings": {"resamples": self.resamples, "seed": self.seed},
            "corpora": [{"name": each.name, "title": each.title, **asdict(each.scale)} for each in self.corpora],
            "rows": self.to_records(),
            "ceilings": [{**asdict(each), "reachable": each.reachable} for each in self.ceilings.values()],
            "notes": notes_of(self),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> Table:
        return table3_text(self)


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
        files=tuple(file for corpus in corpora for file in corpus.corpus.files),
        caveats=list(dict.fromkeys([gone(), *caveats, *lacking, *embeddings.caveats(rows), *remarks])),
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
