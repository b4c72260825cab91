"""How far rows of the entailment paper's table 3 agree with people on one corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from dialogauge.agreement import Agreement, correlate
from dialogauge.corpus.corpus import Corpus
from dialogauge.encode.encoders import STATIC, UNIVERSAL
from dialogauge.encode.universal import open_universal
from dialogauge.errors import Caveat, DialogaugeError
from dialogauge.evaluation.caveats import number_free
from dialogauge.metrics.base import AnyMetric, spell_file
from dialogauge.metrics.dialogue.semantic import SemanticDistance, SemanticSimilarity
from dialogauge.metrics.embedding.bertscore import BertScore
from dialogauge.metrics.embedding.word_vectors import EmbeddingAverage, EmbeddingExtrema, EmbeddingGreedy
from dialogauge.papers.entailment.inputs import NamedModel, RatedCorpus
from dialogauge.papers.side_by_side import (
    BERT_BASE,
    Published,
    check_known,
    encoder_for,
    read_published,
    stand_in_caveats,
    static_encoder,
)
from dialogauge.tables import counted

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


@dataclass(frozen=True)
class Embeddings:
    """What takes the part of the paper's, None for what is not to be had; and what is to be said of each."""

    encoders: Mapping[str, str | None]
    remarks: Mapping[str, list[Caveat]]

    def caveats(self, rows: Sequence[TableRow]) -> list[Caveat]:
        """Of the embeddings of these rows."""
        used = dict.fromkeys(row.name.partition("/")[2] for row in rows)
        return [caveat for embedding in used for caveat in self.remarks.get(embedding, ())]


def find_embeddings(vectors: str | Path | None, models: Mapping[str, str]) -> Embeddings:
    """`vectors` is a file in place of word2vec, `models` names an encoder in place of BERT."""
    bert = encoder_for(BERT_BASE, models)
    static = static_encoder(vectors) if vectors else f"{STATIC}minilm"
    use, said = find_use()
    remarks = {
        "bert": stand_in_caveats({BERT_BASE: bert}),
        "elmo": [Caveat("no_model", "ELMo is not to be had: its rows show the paper's numbers alone")],
        "use": [said],
        "word2vec": [Caveat("stand_in_model", f"{spell_file(static)} stands in for word2vec of Google News")],
    }
    return Embeddings({"bert": bert, "elmo": None, "use": use, "word2vec": static}, remarks)


def find_use() -> tuple[str | None, Caveat]:
    """The Universal Sentence Encoder where it is installed."""
    try:
        identity = open_universal().identity
    except DialogaugeError as error:
        return None, Caveat("no_model", f"the Universal Sentence Encoder is not installed: {error}")
    return UNIVERSAL, Caveat("stand_in_model", f"the multilingual {identity} stands in for the English USE")


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
