"""RUBER's referenced metric: the cosine of a response and a reference, each pooled from the vectors of its words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self, get_args

import numpy as np

from dialogauge.encode.base import Encoder
from dialogauge.errors import unknown
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.embedding import EmbeddingMetric
from dialogauge.models.pooling import Pooling, pool_words, usual_pooling
from dialogauge.stats.arrays import cosine


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
