"""Table 3 of the entailment paper: how far metrics agree with people, by what they see texts with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from dialogauge.agreement import Agreement, correlate
from dialogauge.agreement.correlate_corpora import mean_rows
from dialogauge.agreement.result import AgreementRow, Ceiling
from dialogauge.corpus.corpus import Corpus
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.caveats import number_free
from dialogauge.evaluation.digits import fixed
from dialogauge.metrics.base import AnyMetric, spell_file
from dialogauge.metrics.dialogue.semantic import SemanticDistance, SemanticSimilarity
from dialogauge.metrics.embedding.bertscore import BertScore
from dialogauge.metrics.embedding.word_vectors import EmbeddingAverage, EmbeddingExtrema, EmbeddingGreedy
from dialogauge.papers.entailment.inputs import (
    GONE,
    OTHER_CORPORA,
    PAPER,
    Embeddings,
    EntailmentInputs,
    NamedModel,
    RatedCorpus,
    find_embeddings,
    find_models,
    read_corpora,
)
from dialogauge.papers.side_by_side import (
    BERT_BASE,
    Published,
    SideBySide,
    check_known,
    estimate,
    files_of,
    make_table,
    numbers_of,
    read_published,
)
from dialogauge.tables import Cell, Table, counted

MEAN = "mean of GRADE"
NUMBERS = [name + part for name in ("pearson", "spearman") for part in ("", "_low", "_high", "_p")]
EMBEDDINGS = {"bert": "BERT", "elmo": "ELMo", "use": "USE", "word2vec": "word2vec"}
KINDS: dict[str, tuple[str, Callable[..., AnyMetric]]] = {
    "ss_h2": ("SS(H-2)", partial(SemanticDistance, history="last_two")),
    "ss_h1": ("SS(H-1)", SemanticDistance),
    "average": ("A", EmbeddingAverage),
    "greedy": ("G", EmbeddingGreedy),
    "extrema": ("E", EmbeddingExtrema),
    "second_last": ("SS, second last", partial(SemanticDistance, history="second_last")),
    "similarity_h2": ("similarity(H-2)", partial(SemanticSimilarity, history="last_two")),
    "similarity_h1": ("similarity(H-1)", SemanticSimilarity),
    "bertscore": ("BERTScore", BertScore),
}
OURS = ("second_last/bert", "second_last/use", "similarity_h2/bert", "similarity_h1/bert", "bertscore/bert")
ENTAILMENT = {"entailment": "probability", "expected": "expected"}


@cache
def entailment_table3() -> Published[tuple[float, ...]]:
    """Correlations by metric and embedding, as `ss_h1/use`: SS with the last utterance, SS with the last two (h2),
    and the three metrics of word vectors."""
    return read_published(__file__, "table3", lambda _, numbers: tuple(numbers.values()))


@dataclass(frozen=True)
class TableRow:
    """`name` is what --only takes. `metric` is None where the embedding is not to be had."""

    name: str
    title: str
    metric: AnyMetric | None
    encoder: str | None
    published: tuple[float, ...] | None = None
    """Of Reddit and OpenSubtitles, as printed."""

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return -1.0 if self.name.startswith("ss_") else 1.0

    def can_score(self, corpus: Corpus) -> bool:
        if self.metric is None:
            return False
        needed = all("references" in enough for enough in self.metric.needs)
        return not needed or any(turn.references for turn in corpus)

    @property
    def looks_back_two(self) -> bool:
        """Whether a turn with one utterance before it has no value."""
        return getattr(self.metric, "history", None) == "second_last"


def make_rows(embeddings: Embeddings, models: Sequence[NamedModel], only: Sequence[str] = ()) -> list[TableRow]:
    """The paper's, then ours. `only` has names of rows, or of all rows of a kind: `ss_h1/use`, `ss_h1`."""
    published = entailment_table3().rows
    rows = [_row(name, embeddings, published.get(name)) for name in (*published, *OURS)]
    for model in models:
        for kind, score in ENTAILMENT.items():
            title = f"entailment ({model.name}), {score}"
            rows.append(TableRow(f"{kind}/{model.name}", title, model.metric(score), None))  # type: ignore[arg-type]
    names = dict.fromkeys(name for row in rows for name in (row.name, row.name.partition("/")[0]))
    check_known("row of table 3", only, names | dict.fromkeys(ENTAILMENT))
    return [row for row in rows if not only or {row.name, row.name.partition("/")[0]} & set(only)]


def _row(name: str, embeddings: Embeddings, published: tuple[float, ...] | None) -> TableRow:
    kind, _, embedding = name.partition("/")
    title, make = KINDS[kind]
    encoder = embeddings.encoders[embedding]
    shown = EMBEDDINGS[embedding]
    if encoder and encoder != BERT_BASE:
        shown = f"{shown}: {spell_file(encoder)}" if published else spell_file(encoder)
    elif encoder is None:
        shown = f"{shown}: not to be had"
    return TableRow(name, f"{title} ({shown})", make(encoder=encoder) if encoder else None, encoder, published)


SAID = ("known_fault", "unpaired")
"""Caveats of correlations that are no news here: those of the files come with them, and systems are not compared."""


def agreement_of(rows: Sequence[TableRow], rated: RatedCorpus, options: Mapping[str, Any]) -> Agreement:
    metrics = [row.metric for row in rows if row.metric]
    return correlate({rated.name: rated.corpus}, metrics, level="turn", dimension=rated.scale.dimension, **options)


def rows_together(rows: Sequence[TableRow], rated: RatedCorpus) -> list[list[TableRow]]:
    """Rows that stand on the same turns: what needs a second last utterance is apart where some turns have none."""
    able = [row for row in rows if row.can_score(rated.corpus)]
    if all(len(turn.context) > 1 for turn in rated.turns):
        return [able] if able else []
    parts = [[row for row in able if row.looks_back_two == back] for back in (False, True)]
    return [part for part in parts if part]


def remarks_of(agreement: Agreement, rated: RatedCorpus) -> list[Caveat]:
    """With the corpus's name. What is said alike of several metrics, but for numbers, is said of the first."""
    alike: dict[tuple[str, str], list[str]] = {}
    for caveat in agreement.caveats:
        if caveat.code not in SAID:
            message = caveat.message.removeprefix(f"{rated.name}, {rated.scale.dimension}: ")
            message = message.removeprefix(f"{rated.name}: ")
            metric = next((name for name in agreement.metrics if message.startswith(f"{name}: ")), "")
            alike.setdefault((caveat.code, number_free(message.removeprefix(metric))), []).append(message)
    caveats = []
    for (code, _), (first, *others) in alike.items():
        more = f" (the like: {counted(len(others), 'other metric')})" if others else ""
        caveats.append(Caveat(code, f"{rated.title}: {first}{more}"))
    return caveats


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
    embeddings = find_embeddings(inputs.vectors, inputs.models or {}, inputs.elmo)
    rows = make_rows(embeddings, models, inputs.only)
    stand_ins = embeddings.caveats(row.name for row in rows)
    if not any(row.metric for row in rows):
        raise InputError("; ".join(caveat.message for caveat in stand_ins))
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
        caveats=list(dict.fromkeys([OTHER_CORPORA, *caveats, *lacking, *stand_ins, *remarks])),
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
