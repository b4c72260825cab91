"""BERTScore: each token is held against the most similar token of the other text, in the space of an encoder."""

from __future__ import annotations

import csv
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder, Tokens
from dialogauge.errors import Caveat, InputError, UnsuitedEncoder
from dialogauge.files import plain_file
from dialogauge.metrics.base import UNSIGNED, Floats, Learned
from dialogauge.metrics.bounded_sample import SmallestKeys, random_key
from dialogauge.metrics.encoding import (
    COVERAGE,
    NAMED,
    EncoderMetric,
    PreparedEncoding,
    ReadMeans,
    layer_recipe,
    text_caveats,
    together,
)
from dialogauge.metrics.prepared import Sums
from dialogauge.stats.arrays import unit_rows

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders


@dataclass(frozen=True)
class Idf:
    """Inverse document frequency with one added to both counts: log((texts + 1) / (texts with the token + 1))."""

    texts: int
    counts: dict[int, int]

    @classmethod
    def from_texts(cls, texts: Sequence[Sequence[int]]) -> Idf:
        return cls(len(texts), dict(Counter(token for text in texts for token in set(text))))

    def weights(self, ids: NDArray[np.int32]) -> Floats:
        return np.array([math.log((self.texts + 1) / (self.counts.get(token, 0) + 1)) for token in ids.tolist()])

    @cached_property
    def digest(self) -> str:
        """Eight digits that tell two sets of references apart, for signatures."""
        content = f"{self.texts} {sorted(self.counts.items())}"
        return hashlib.blake2b(content.encode(), digest_size=4).hexdigest()


LAYERS = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "roberta-base": 10,
    "roberta-large": 17,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "xlnet-base-cased": 5,
    "xlnet-large-cased": 7,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "mpnet-base": 8,
}
"""By the last part of a model's name, the layer whose scores agree best with people, as the bert-score package 0.3.13
found on WMT16."""


class Baseline(NamedTuple):
    """What unrelated sentences score under a model: F1, precision, recall."""

    values: Floats
    digest: str


def read_baseline(path: Path, layer: int) -> Baseline:
    """One row of a baseline file as the bert-score package has them: CSV with the columns LAYER, P, R and F."""
    try:
        data = plain_file(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read as a baseline: {error.strerror}", path) from error
    rows = csv.DictReader(data.decode("utf-8-sig", "replace").splitlines())
    try:
        if not {"LAYER", "P", "R", "F"} <= set(rows.fieldnames or ()):
            raise InputError("expected a baseline file with the columns LAYER,P,R,F", path, 1)
        for row in rows:
            number, values = int(row["LAYER"]), np.array([float(row[name]) for name in ("F", "P", "R")])
            if number == layer:
                if not (np.abs(values) < 1).all():
                    raise InputError("expected baselines below 1", path, rows.line_num)
                return Baseline(values, hashlib.blake2b(data, digest_size=4).hexdigest())
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError("expected four numbers", path, rows.line_num) from None
    except csv.Error:
        raise InputError("expected a baseline file with the columns LAYER,P,R,F", path, 1) from None
    raise InputError(f"has no line for layer {layer}", path)


References = tuple[str, tuple[str, ...]]
"""An id with its references."""
IDF_RECORDS = 1 << 18
"""The most of them that token frequencies are counted in."""
CUT, EMPTY = 3, 4
"""Columns after F1, precision and recall: whether a text was too long, whether one has no token of its own."""


class Match(NamedTuple):
    """One token and the token of the other text that it is most like."""

    token: str
    place: tuple[int, int]
    matched: str
    matched_place: tuple[int, int]
    similarity: float
    weight: float
    """Its share of the precision (or recall)."""


class Alignment(NamedTuple):
    """Why a response got its score: precision goes over its tokens, recall over the reference's."""

    precision: list[Match]
    recall: list[Match]


def bertscore(
    response: Floats, reference: Floats, response_weights: Floats, reference_weights: Floats
) -> tuple[float, float, float]:
    """F1, precision and recall of two texts, each an array of one row per token with a weight (0 for special tokens,
    which may be matched but do not count). Zhang et al. 2020, section 3. NaN where all weights of a text are 0."""
    cosines = unit_rows(response) @ unit_rows(reference).T
    precision = _weighted(cosines.max(axis=1), response_weights)
    recall = _weighted(cosines.max(axis=0), reference_weights)
    total = precision + recall
    return (2 * precision * recall / total if total else 0.0), precision, recall


def _weighted(values: Floats, weights: Floats) -> float:
    total = float(weights.sum())
    return float(values @ weights) / total if total else math.nan


@dataclass(frozen=True)
class BertScore(EncoderMetric[Floats, Sums], ReadMeans):
    """The mean over turns of F1; of several references the one with the best F1. An empty text scores 0, counted; one
    that the encoder cannot read has no score."""

    name = "bertscore"
    title = "likeness of tokens in context to the references (F1)"
    citations = ("zhang2020bertscore",)
    higher_is_better = True
    bounds = (-np.inf, np.inf)
    """Precision and recall lie in [-1, 1]; of two with different signs, F1 can be anything."""
    needs = (frozenset({"references"}),)
    parts = ("precision", "recall")
    main = "f1"

    layer: int | None = field(default=None, metadata=UNSIGNED)
    idf: bool = field(default=False, metadata=UNSIGNED)
    baseline: str | None = field(default=None, metadata=NAMED)

    @property
    def learns(self) -> bool:
        return self.idf

    def layer_of(self, encoder: Encoder) -> int | None:
        """The one asked for, else the one known to agree best with people for this model, else the encoder's usual
        one: a transformer's last."""
        name = encoder.recipe().get("enc", "").rpartition("@")[0]
        return LAYERS.get(name, encoder.usual_layer) if self.layer is None else self.layer

    def asked_of(self, encoders: Encoders) -> Encoder:
        found = encoders.get(self.encoder, self.dtype)
        if not found.contextual:
            raise UnsuitedEncoder(f"bertscore needs an encoder that reads tokens in context, found {self.encoder}")
        found.expect("tokens", pairs=False, layer=self.layer_of(found))
        return found

    def survey(self, turns: Iterable[Turn], beside_real: bool = False) -> SmallestKeys[References] | None:
        """The references of each id once, whatever number of systems have it."""
        if not self.idf:
            return None
        records = ((turn.id, turn.references) for turn in turns if turn.references)
        return SmallestKeys.choose(
            IDF_RECORDS, ((random_key(record), record) for record in dict.fromkeys(records)), True
        )

    def learn(
        self, surveyed: SmallestKeys[References] | None, encoders: Encoders, real: Corpus | None = None
    ) -> Learned[Floats, Sums]:
        if surveyed is None:
            return Learned(self)
        encoder = self.asked_of(encoders)
        texts = [encoder.spelled(text) for _, references in surveyed.records for text in references]
        return Learned(self, Idf.from_texts(encoder.token_ids(texts)))

    def open(self, encoders: Encoders, known: Idf | None) -> PreparedBertScore:
        encoder = self.asked_of(encoders)
        layer = self.layer_of(encoder)
        if self.baseline and layer is None:
            raise InputError(f"{self.label}: a baseline is of one layer; choose it with layer=")
        base = read_baseline(Path(self.baseline), layer) if self.baseline and layer is not None else None
        return PreparedBertScore(self, known, encoder, layer, base)

    def caveats(self, summary: Sums) -> list[Caveat]:
        return text_caveats(self.label, summary.n, summary.total[CUT], summary.total[EMPTY])


@dataclass(frozen=True)
class PreparedBertScore(PreparedEncoding[Floats, Sums]):
    """Weighs tokens by how rare they are, where that was learned."""

    asked: BertScore
    known: Idf | None
    encoder: Encoder
    layer: int | None
    base: Baseline | None

    def measure(self, turns: Sequence[Turn]) -> Floats:
        texts = list(dict.fromkeys(text for turn in turns for text in (turn.response, *turn.references)))
        tokens = self.encoder.tokens([self.encoder.spelled(text) for text in texts], layer=self.layer)
        found = dict(zip(texts, tokens, strict=True))
        rows = [self._row(found[turn.response], [found[text] for text in turn.references]) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), EMPTY + 1 + COVERAGE)

    def _row(self, response: Tokens, references: Sequence[Tokens]) -> list[float]:
        cut = any(text.dropped for text in (response, *references))
        legible = [reference for reference in references if not reference.coverage.illegible]
        lost = response.coverage.illegible or not legible
        covered = together((text.coverage for text in (response, *references)), lost)
        if lost:
            return [math.nan, math.nan, math.nan, cut, False, *covered]
        scores = [self._score(response, reference) for reference in legible]
        best = max(scores, key=lambda score: -math.inf if math.isnan(score[0]) else score[0])
        empty = response.special.all() or all(reference.special.all() for reference in legible)
        return [*self._rescaled(best), cut, empty, *covered]

    def _score(self, response: Tokens, reference: Tokens) -> tuple[float, float, float]:
        if response.special.all() or reference.special.all():
            return 0.0, 0.0, 0.0
        states = (response.states.astype(np.float64), reference.states.astype(np.float64))
        return bertscore(*states, self._weights(response), self._weights(reference))

    def _weights(self, tokens: Tokens) -> Floats:
        return self.known.weights(tokens.ids) if self.known else (~tokens.special).astype(np.float64)

    def _rescaled(self, score: tuple[float, float, float]) -> Floats:
        if self.base is None:
            return np.array(score)
        return (np.array(score) - self.base.values) / (1 - self.base.values)

    def align(self, response: str, reference: str) -> Alignment:
        """Which token stands for which, to explain a score: `BertScore().prepare(corpus).align("hi", "hello")`."""
        texts = (response, reference)
        tokens = self.encoder.tokens([self.encoder.spelled(text) for text in texts], layer=self.layer)
        ours, theirs = (self._placed(text, found) for text, found in zip(texts, tokens, strict=True))
        cosines = unit_rows(ours.states.astype(np.float64)) @ unit_rows(theirs.states.astype(np.float64)).T
        said, meant = self.encoder.token_spellings(response, ours), self.encoder.token_spellings(reference, theirs)
        return Alignment(
            self._matches(ours, theirs, cosines, said, meant), self._matches(theirs, ours, cosines.T, meant, said)
        )

    def _placed(self, text: str, tokens: Tokens) -> Tokens:
        """With places in the text as it was given, before it was spelled for the encoder."""
        shift = len(text) - len(text.lstrip()) - self.encoder.spelled(text).startswith(" ")
        return replace(tokens, offsets=np.where(tokens.special[:, None], 0, tokens.offsets + shift))

    def _matches(
        self, tokens: Tokens, others: Tokens, cosines: Floats, spelled: list[str], others_spelled: list[str]
    ) -> list[Match]:
        weights = self._weights(tokens)
        return [
            Match(
                spelled[row],
                _place(tokens.offsets[row]),
                others_spelled[best],
                _place(others.offsets[best]),
                float(cosines[row, best]),
                float(weights[row] / weights.sum()),
            )
            for row, best in enumerate(cosines.argmax(axis=1))
            if weights[row]
        ]

    def recipe(self) -> dict[str, str]:
        idf = f"references@{self.known.digest}" if self.known else "no"
        base = f"@{self.base.digest}" if self.base else "no"
        return {**super().recipe(), **layer_recipe(self.layer, self.encoder), "idf": idf, "baseline": base}


def _place(offsets: NDArray[np.int32]) -> tuple[int, int]:
    return int(offsets[0]), int(offsets[1])
