"""The embedding metrics, FBD and PRD as the authors of the FBD paper took them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder, Tokens
from dialogauge.encode.static import InputTable, StaticEncoder
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import Floats
from dialogauge.metrics.distance.codebooks import Fit, minibatch_codebooks
from dialogauge.metrics.distance.distribution import CONTEXT, RealSide
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.distance.prd import Prd
from dialogauge.metrics.embedding.word_vectors import (
    EmbeddingAverage,
    EmbeddingExtrema,
    EmbeddingGreedy,
    EmbeddingMetric,
    PreparedEmbedding,
    best_matches,
)
from dialogauge.metrics.encoding import NAMED
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.prepared import Sums
from dialogauge.stats.arrays import unit_rows

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders


@dataclass(frozen=True)
class PaperEmbedding(EmbeddingMetric):
    """Only the first reference counts, and words are looked up as they stand between spaces."""

    encoder: str = field(default="static:minilm", metadata=NAMED)

    def asked_of(self, encoders: Encoders) -> StaticEncoder:
        found = super().asked_of(encoders)
        if not isinstance(found, StaticEncoder):
            raise InputError(f"{self.name} of fbd-paper needs word vectors: encoder=static:FILE, found {self.encoder}")
        return found

    def open(self, encoders: Encoders, known: None) -> PreparedEmbedding:
        return PreparedPaperEmbedding(self, known, self.asked_of(encoders))

    def references(self, turn: Turn) -> tuple[str, ...]:
        return turn.references[:1]

    def tokens(self, encoder: Encoder, texts: Sequence[str]) -> list[Tokens]:
        if not isinstance(encoder, StaticEncoder):
            return super().tokens(encoder, texts)
        return encoder.tokens(texts, split=str.split)

    def recipe_with(self, encoder: Encoder, known: None) -> dict[str, str]:
        return {**COMPAT, **super().recipe_with(encoder, known), "words": "spaces", "references": "first"}


@dataclass(frozen=True)
class PreparedPaperEmbedding(PreparedEmbedding):
    """Says where other vectors stand in for the paper's."""

    def caveats(self, summary: Sums) -> list[Caveat]:
        caveats = super().caveats(summary)
        if isinstance(self.encoder, InputTable):
            label = self.asked.label
            message = f"{label}: a model's input vectors, where the paper had GloVe's; its numbers do not come out"
            caveats.append(Caveat("stand_in_vectors", message))
        return caveats


@dataclass(frozen=True)
class PaperAverage(PaperEmbedding, EmbeddingAverage):
    """The mean of the word vectors, as in our own recipe."""


@dataclass(frozen=True)
class PaperGreedy(PaperEmbedding, EmbeddingGreedy):
    """Best matches in both directions, summed over known words and divided by all words, unknown ones included."""

    def reduce(self, words: Floats, unknown: int) -> Any:
        return unit_rows(words), len(words) + unknown

    def similarity(self, response: Any, reference: Any) -> float:
        (ours, own), (theirs, others) = response, reference
        forth, back = best_matches(ours, theirs)
        return float(forth.sum() / own + back.sum() / others) / 2

    def recipe_with(self, encoder: Encoder, known: None) -> dict[str, str]:
        return {**super().recipe_with(encoder, known), "greedy": "over-all-words"}


@dataclass(frozen=True)
class PaperExtrema(PaperEmbedding, EmbeddingExtrema):
    """The plain maximum of each dimension, whatever its magnitude."""

    def reduce(self, words: Floats, unknown: int) -> Floats:
        return np.asarray(words.max(axis=0))

    def recipe_with(self, encoder: Encoder, known: None) -> dict[str, str]:
        return {**super().recipe_with(encoder, known), "extrema": "maximum"}


@dataclass(frozen=True)
class PaperFbd(Fbd):
    """Only that the whole history counts, and the signature, differ."""

    context: int | None = field(default=None, metadata=CONTEXT)

    def recipe_with(self, encoder: Encoder, known: RealSide) -> dict[str, str]:
        return {**COMPAT, **super().recipe_with(encoder, known)}


@dataclass(frozen=True)
class PaperPrd(Prd):
    """The clustering is theirs; their curve and ours are the same."""

    context: int | None = field(default=None, metadata=CONTEXT)
    fit: ClassVar[Fit] = staticmethod(minibatch_codebooks)

    def recipe_with(self, encoder: Encoder, known: RealSide) -> dict[str, str]:
        return {**COMPAT, **super().recipe_with(encoder, known), "kmeans": "minibatch-ninit10"}
