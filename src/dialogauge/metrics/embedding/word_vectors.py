"""Embedding average, vector extrema and greedy matching: metrics that compare the word vectors of response and
reference."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder, Tokens
from dialogauge.errors import Caveat
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.encoding import (
    COVERAGE,
    EncoderMetric,
    PreparedEncoding,
    ReadMeans,
    layer_recipe,
    text_caveats,
    together,
)
from dialogauge.metrics.prepared import Sums
from dialogauge.stats.arrays import cosine, unit_rows

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

SCORE, CUT, SILENT, UNKNOWN, WORDS = range(5)
"""A row: the score; whether a text was too long, whether a text has no vector; unknown words, and words."""


@dataclass(frozen=True)
class EmbeddingMetric(EncoderMetric[Floats, Sums], ReadMeans):
    """The similarity of response and reference by the vectors of their words; of several references the best.

    A text without a vector (empty, or with static vectors of unknown words alone) is like nothing: 0, counted. With one
    that a transformer cannot read, a turn has no score.
    """

    higher_is_better = True
    bounds = (-1.0, 1.0)
    needs = (frozenset({"references"}),)

    layer: int | None = field(default=None, metadata=UNSIGNED)

    @abstractmethod
    def reduce(self, words: Floats, unknown: int) -> Any:
        """What is kept of a text: of its word vectors, of which there is at least one, and of how many words have
        none."""

    @abstractmethod
    def similarity(self, response: Any, reference: Any) -> float:
        """Of two texts as `reduce` left them."""

    def filled(self, encoder: Encoder) -> Self:
        """With the options that it leaves to the encoder."""
        return self

    def tokens(self, encoder: Encoder, texts: Sequence[str]) -> list[Tokens]:
        return encoder.tokens(texts, layer=self.layer)

    def asked_of(self, encoders: Encoders) -> Encoder:
        found = encoders.get(self.encoder, self.dtype)
        found.expect("tokens", pairs=False, layer=self.layer)
        return found

    def open(self, encoders: Encoders, known: None) -> PreparedEmbedding:
        return PreparedEmbedding(self, known, self.asked_of(encoders))

    def caveats(self, summary: Sums) -> list[Caveat]:
        cut, silent, unknown, words = (int(total) for total in summary.total[CUT : WORDS + 1])
        caveats = text_caveats(self.label, summary.n, cut, silent)
        if unknown:
            message = f"{self.label}: {unknown} of {words} words have no vector and are left out"
            caveats.append(Caveat("unknown_words", message))
        return caveats

    def recipe_with(self, encoder: Encoder, known: None) -> dict[str, str]:
        return super().recipe_with(encoder, known) | layer_recipe(self.layer, encoder)


@dataclass(frozen=True)
class PreparedEmbedding(PreparedEncoding[Floats, Sums]):
    """Compares the words of texts."""

    asked: EmbeddingMetric

    @property
    def metric(self) -> EmbeddingMetric:
        return self.asked.filled(self.encoder)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        spelled, metric = self.encoder.spelled, self.metric
        mentioned = (text for turn in turns for text in (turn.response, *metric.references(turn)))
        texts = list(dict.fromkeys(spelled(text) for text in mentioned))
        tokens = dict(zip(texts, metric.tokens(self.encoder, texts), strict=True))
        kept = {
            text: metric.reduce(found.words.astype(np.float64), found.unknown)
            for text, found in tokens.items()
            if len(found.words)
        }
        rows = [self._row(turn, tokens, kept) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), WORDS + 1 + COVERAGE)

    def _row(self, turn: Turn, tokens: dict[str, Tokens], kept: dict[str, Any]) -> list[float]:
        response = self.encoder.spelled(turn.response)
        references = [self.encoder.spelled(text) for text in self.asked.references(turn)]
        legible = [text for text in references if not _illegible(tokens[text])]
        lost = _illegible(tokens[response]) or not legible
        comparable = [reference for reference in legible if response in kept and reference in kept]
        scores = [self.asked.similarity(kept[response], kept[reference]) for reference in comparable]
        said = [tokens[text] for text in (response, *references)]
        unknown = sum(text.unknown for text in said)
        return [
            np.nan if lost else max(scores, default=0.0),
            any(text.dropped for text in said),
            not comparable,
            unknown,
            unknown + sum(len(text.words) for text in said),
            *together((text.coverage for text in said), lost),
        ]


def _illegible(tokens: Tokens) -> bool:
    """Whether there are vectors, and none of them says anything of the text."""
    return tokens.coverage.illegible and len(tokens.words) > 0


def embedding_average(response: Floats, reference: Floats) -> float:
    """The cosine of the two means; each text is an array of one row per word (Liu et al. 2016, section 3.2)."""
    return cosine(response.mean(axis=0), reference.mean(axis=0))


@dataclass(frozen=True)
class EmbeddingAverage(EmbeddingMetric):
    """The mean over turns of `embedding_average`."""

    name = "embedding_average"
    title = "likeness of the mean word vectors of response and reference"
    citations = ("liu2016not",)

    def reduce(self, words: Floats, unknown: int) -> Floats:
        return np.asarray(words.mean(axis=0))

    def similarity(self, response: Floats, reference: Floats) -> float:
        return cosine(response, reference)


def extrema(words: Floats) -> Floats:
    """In each dimension the signed value of largest magnitude; of two that differ only in sign the negative one
    (Forgues et al. 2014, as in Liu et al. 2016, section 3.2)."""
    highest, lowest = words.max(axis=0), words.min(axis=0)
    return np.asarray(np.where(highest > np.abs(lowest), highest, lowest))


def embedding_extrema(response: Floats, reference: Floats) -> float:
    """The cosine of the two texts' extrema; each text is an array of one row per word."""
    return cosine(extrema(response), extrema(reference))


@dataclass(frozen=True)
class EmbeddingExtrema(EmbeddingMetric):
    """The mean over turns of `embedding_extrema`."""

    name = "embedding_extrema"
    title = "likeness of the most extreme values of response and reference"
    citations = ("forgues2014bootstrapping", "liu2016not")

    def reduce(self, words: Floats, unknown: int) -> Floats:
        return extrema(words)

    def similarity(self, response: Floats, reference: Floats) -> float:
        return cosine(response, reference)


BLOCK = 512
"""So many words at a time are held against all of the other text."""


def embedding_greedy(response: Floats, reference: Floats) -> float:
    """The mean over words of the best cosine in the other text, in both directions, averaged (Rus & Lintean 2012, as in
    Liu et al. 2016, section 3.2). Each text is an array of one row per word."""
    forth, back = best_matches(unit_rows(response), unit_rows(reference))
    return float(forth.mean() + back.mean()) / 2


def best_matches(response: Floats, reference: Floats) -> tuple[Floats, Floats]:
    """For each word of either text its best cosine in the other, from rows of length 1."""
    forth, back = np.empty(len(response)), np.full(len(reference), -np.inf)
    for start in range(0, len(response), BLOCK):
        cosines = response[start : start + BLOCK] @ reference.T
        forth[start : start + BLOCK] = cosines.max(axis=1)
        np.maximum(back, cosines.max(axis=0), out=back)
    return forth, back


@dataclass(frozen=True)
class EmbeddingGreedy(EmbeddingMetric):
    """The mean over turns of `embedding_greedy`."""

    name = "embedding_greedy"
    title = "likeness of each word to its nearest in the other text, both ways"
    citations = ("rus2012comparison", "liu2016not")

    def reduce(self, words: Floats, unknown: int) -> Floats:
        return unit_rows(words)

    def similarity(self, response: Floats, reference: Floats) -> float:
        forth, back = best_matches(response, reference)
        return float(forth.mean() + back.mean()) / 2
