"""RUBER: relatedness to the context as a trained model sees it, likeness to a reference, and both blended into one
score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Self, get_args

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder
from dialogauge.errors import Caveat, unknown
from dialogauge.learned.ruber.model import Pooling, pool_words, usual_pooling
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.embedding import word_vectors
from dialogauge.metrics.embedding.word_vectors import EmbeddingMetric, PreparedEmbedding
from dialogauge.metrics.encoding import COVERAGE, NAMED, PreparedReader, ReadMeans, text_caveats
from dialogauge.metrics.prepared import Sums
from dialogauge.stats.arrays import cosine

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import SavedModel
    from dialogauge.learned.ruber.model import RuberModel


def ruber_referenced(response: Floats, reference: Floats, pool: Pooling = "maxmin") -> float:
    """The cosine of the two pooled texts; each text is an array of one row per word."""
    return cosine(pool_words(response, pool), pool_words(reference, pool))


@dataclass(frozen=True)
class RuberReferenced(EmbeddingMetric):
    """The mean over turns of `ruber_referenced`, by the pooling that is usual for the vectors unless one is given."""

    name = "ruber_referenced"
    title = "likeness of pooled word vectors of response and reference, as in RUBER"
    citations = ("tao2018ruber", "ghazarian2019better")

    pool: Pooling | None = field(default=None, metadata=UNSIGNED)

    def __post_init__(self) -> None:
        if self.pool is not None and self.pool not in get_args(Pooling):
            raise unknown("pool of ruber_referenced", str(self.pool), get_args(Pooling))

    def filled(self, encoder: Encoder) -> Self:
        return replace(self, pool=self.pool or usual_pooling(encoder))

    def reduce(self, words: Floats, unknown: int) -> Floats:
        return np.asarray(pool_words(words, self.pool or "maxmin"))

    def similarity(self, response: Floats, reference: Floats) -> float:
        return cosine(response, reference)

    def recipe_with(self, encoder: Encoder, known: None) -> dict[str, str]:
        return super().recipe_with(encoder, known) | {"pool": self.pool or usual_pooling(encoder)}


SCORE, CUT, SILENT = range(3)
"""A row: the score; whether a text was too long; whether a text has no vector."""


@dataclass(frozen=True)
class RuberUnreferenced(ReadMeans):
    """The mean over turns of the model's relatedness. A text without a vector (empty, or with static vectors of unknown
    words alone) is related to nothing: 0, counted. With one that a transformer cannot read, a turn has no score."""

    name = "ruber_unreferenced"
    title = "how related a response is to its context, learned from conversations"
    citations = ("tao2018ruber", "ghazarian2019better")
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"context"}),)

    model: str | None = field(default=None, metadata=NAMED)
    """A model directory; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata=NAMED)
    """Where the model's encoder is found; None for the name the model has for it."""

    def open(self, encoders: Encoders, known: None) -> PreparedRelatedness:
        return PreparedRelatedness(self, known, *open_model(self.model, self.encoder, encoders))

    def caveats(self, summary: Sums) -> list[Caveat]:
        return text_caveats(self.label, summary.n, float(summary.total[CUT]), float(summary.total[SILENT]))


@dataclass(frozen=True)
class PreparedRelatedness(PreparedReader[Floats, Sums]):
    """A model with the encoder it was trained with."""

    model: RuberModel

    @property
    def trained(self) -> SavedModel:
        return self.model.saved

    def measure(self, turns: Sequence[Turn]) -> Floats:
        contexts, responses = [turn.context for turn in turns], [turn.response for turn in turns]
        found = self.model.relatedness(self.encoder, contexts, responses)
        scores = np.where(found.coverage[:, -1], np.nan, np.where(found.silent, 0.0, found.values))
        return np.column_stack([scores, found.cut, found.silent, found.coverage])

    def recipe(self) -> dict[str, str]:
        return {"model": self.model.identity, **self.encoder.recipe(), "context": str(self.model.context)}


def open_model(model: str | None, encoder: str | None, encoders: Encoders) -> tuple[Encoder, RuberModel]:
    """The model, and its encoder as the run has it."""
    from dialogauge.learned.directory import find_encoder
    from dialogauge.learned.ruber.model import open_ruber

    opened = open_ruber(model)
    found = find_encoder(opened.saved, encoder, encoders)
    opened.expect(found)
    return found, opened


Blend = Literal["arithmetic", "geometric", "min", "max"]
"""The mean, the root of the product, the lower or the higher of the two scores."""


def blended(unreferenced: Floats, referenced: Floats, blend: Blend = "arithmetic") -> Floats:
    """Of two scores from 0 to 1."""
    if blend == "min":
        return np.minimum(unreferenced, referenced)
    if blend == "max":
        return np.maximum(unreferenced, referenced)
    if blend == "geometric":
        return np.asarray(np.sqrt(unreferenced * referenced))
    return np.asarray((unreferenced + referenced) / 2)


@dataclass(frozen=True)
class Ruber(ReadMeans):
    """The mean over turns of the blend. Both scores are first brought to 0 to 1 by constants of the model."""

    name = "ruber"
    title = "relatedness to the context and likeness to a reference, blended"
    citations = ("tao2018ruber", "ghazarian2019better")
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"context", "references"}),)
    parts = ("unreferenced", "referenced")

    blend: Blend = "arithmetic"
    model: str | None = field(default=None, metadata=NAMED)
    """A model directory; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata=NAMED)

    def __post_init__(self) -> None:
        if self.blend not in get_args(Blend):
            raise unknown("blend of ruber", str(self.blend), get_args(Blend))

    def open(self, encoders: Encoders, known: None) -> PreparedRuber:
        from dialogauge.learned.directory import encoder_name

        encoder, model = open_model(self.model, self.encoder, encoders)
        name = self.encoder or encoder_name(model.saved)
        likeness = RuberReferenced(encoder=name, pool=model.normalisation.pool).open(encoders, None)
        return PreparedRuber(self, known, encoder, model, likeness)

    def caveats(self, summary: Sums) -> list[Caveat]:
        cut, silent = summary.total[3:-COVERAGE]
        caveats = text_caveats(self.label, summary.n, float(cut), 0.0)
        if silent:
            message = (
                f"{self.label}: {int(silent)} of {int(summary.n)} turns have a text without any vector, like no other"
            )
            caveats.append(Caveat("no_vectors", message))
        return caveats


@dataclass(frozen=True)
class PreparedRuber(PreparedRelatedness):
    """Both parts, and how they are brought to one range."""

    asked: Ruber
    likeness: PreparedEmbedding

    def measure(self, turns: Sequence[Turn]) -> Floats:
        related, alike = super().measure(turns), self.likeness.measure(turns)
        ranges = self.model.normalisation
        unreferenced = ranges.unreferenced(related[:, SCORE])
        referenced = np.where(alike[:, word_vectors.SILENT], 0.0, ranges.referenced(alike[:, word_vectors.SCORE]))
        cut = np.maximum(related[:, CUT], alike[:, word_vectors.CUT])
        silent = np.maximum(related[:, SILENT], alike[:, word_vectors.SILENT])
        coverage = related[:, -COVERAGE:] + alike[:, -COVERAGE:]
        coverage[:, -1] = coverage[:, -1] > 0
        scores = blended(unreferenced, referenced, self.asked.blend)
        return np.column_stack([scores, unreferenced, referenced, cut, silent, coverage])

    def recipe(self) -> dict[str, str]:
        return super().recipe() | {"pool": self.model.normalisation.pool}
