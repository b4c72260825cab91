"""Table 3 of the entailment paper: how far metrics agree with people, by what they see texts with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dialogauge.agreement.correlate_corpora import mean_rows
from dialogauge.agreement.result import AgreementRow, Ceiling, interval_and_p
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.digits import fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.papers.entailment.published import (
    GONE,
    PAPER,
    NamedModel,
    RatedCorpus,
    entailment_table3,
    find_models,
    gone,
    read_corpora,
)
from dialogauge.papers.entailment.rows import (
    ENTAILMENT,
    TableRow,
    agreement_of,
    find_embeddings,
    make_rows,
    remarks_of,
    rows_together,
)
from dialogauge.tables import Cell, Header, Table

MEAN = "mean of GRADE"
EMPTY = Cell("")


def table3_text(result: EntailmentTable3) -> Table:
    headers = [Header("metric", align="left"), *(Header(name) for name in entailment_table3().corpora)]
    for name in columns_of(result):
        headers += [Header(f"{_title(name, result)} r"), Header("ρ")]
    rows = [_line(row, result) for row in result.rows]
    return Table(headers, [*rows, *_people(result)], notes_of(result))


def columns_of(result: EntailmentTable3) -> list[str]:
    """GRADE's corpora, the mean over them, then the others."""
    grade = [each.name for each in result.corpora if each.is_grade]
    mean = [MEAN] if any(name == MEAN for _, name in result.ours) else []
    return [*grade, *mean, *(each.name for each in result.corpora if not each.is_grade)]


def _title(name: str, result: EntailmentTable3) -> str:
    short = {each.name: each.title.removeprefix("GRADE ").removesuffix("Dialogues") for each in result.corpora}
    return short.get(name, name)


def _line(row: TableRow, result: EntailmentTable3) -> list[Cell]:
    published = [Cell(fixed(row.sign * value)) for value in row.published or ()] or [EMPTY, EMPTY]
    cells = [text for name in columns_of(result) for text in _pair(result.ours.get((row.name, name)), name == MEAN)]
    return [Cell(row.title), *published, *cells]


def _pair(ours: AgreementRow | None, with_interval: bool) -> list[Cell]:
    if ours is None:
        return [EMPTY, EMPTY]
    return [
        Cell(
            fixed(getattr(ours, name)),
            interval_and_p(getattr(ours, f"{name}_low"), getattr(ours, f"{name}_high"), None) if with_interval else "",
        )
        for name in ("pearson", "spearman")
    ]


def _people(result: EntailmentTable3) -> list[list[Cell]]:
    """What people's agreement allows, and how many turns there are."""
    one, ceiling, turns = [], [], []
    for name in columns_of(result):
        known = result.ceilings.get(name)
        one += [Cell(fixed(known.pearson)), Cell(fixed(known.spearman))] if known else [EMPTY, EMPTY]
        ceiling += [Cell(fixed(known.reachable)) if known else EMPTY, EMPTY]
        most = max((found.n for (_, corpus), found in result.ours.items() if corpus == name), default=None)
        turns += [Cell(str(most) if most is not None and name != MEAN else ""), EMPTY]
    lines = {"(one rater)": one, "(ceiling)": ceiling, "(turns)": turns}
    return [[Cell(name), EMPTY, EMPTY, *cells] for name, cells in lines.items()]


def notes_of(result: EntailmentTable3) -> list[str]:
    how = f"bootstrap over dialogues or contexts ({result.resamples} resamples, seed {result.seed})"
    notes = [
        GONE,
        f"Reddit, OpenSubtitles: Pearson, table 3 of {PAPER}; then ours: Pearson (r) and Spearman (ρ) with the mean"
        " rating, over turns of all systems",
        "all are oriented: more is better, and below 0 a metric points the wrong way. SS is a distance: the paper"
        " prints its correlations as they are, below 0 where it agrees with people, and here their signs are turned."
        " The code of the paper computes a similarity in its place (similarity rows), whose sign needs no turning",
        "H-1: the last utterance; H-2: the last two as one text, by the paper's section 5.2.2; second last: the one"
        " before the last alone, as the caption of its figure 2 has it",
        f"mean of GRADE: of its corpora, each counting once; [low, high]: 95% interval, {how}; those of single corpora"
        " are in the JSON and CSV",
        "A, G, E and BERTScore hold the response against a reference, which FED and ConTurE have not",
        "(one rater): one rater against the mean of the others; (ceiling): what a metric would reach that knew people's"
        " mean; ConTurE has one rating for each turn, the majority of three",
        "ratings: " + "; ".join(f"{each.title}: {each.scale.words}" for each in result.corpora),
    ]
    return [*notes, *_fewer(result.corpora, result)]


def _fewer(corpora: list[RatedCorpus], result: EntailmentTable3) -> list[str]:
    """Where rows stand on fewer turns than others."""
    found = []
    for each in corpora:
        turns = {row.name: made.n for row in result.rows if (made := result.ours.get((row.name, each.name)))}
        most = max(turns.values(), default=0)
        if fewer := {name: n for name, n in turns.items() if n < most}:
            found.append(f"{each.title}: {', '.join(fewer)} on {min(fewer.values())} of {most} turns alone")
    return found


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
