"""RUBER's referenced metric: the cosine of a response and a reference, each pooled from the vectors of its words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from dialogauge.encode.static_base import StaticEncoder
from dialogauge.errors import unknown
from dialogauge.metrics.base import UNSIGNED, Floats
from dialogauge.metrics.embedding import EmbeddingMetric, cosine

Pooling = Literal["maxmin", "max", "mean"]


def pool_words(words: Floats, pool: Pooling) -> Floats:
    """One vector for a text of one row per word: in each dimension the largest value, the mean, or the largest values
    followed by the smallest (Tao et al. 2018)."""
    if pool == "mean":
        return np.asarray(words.mean(axis=0))
    highest = words.max(axis=0)
    return np.asarray(highest if pool == "max" else np.concatenate([highest, words.min(axis=0)]))


def ruber_referenced(response: Floats, reference: Floats, pool: Pooling = "maxmin") -> float:
    """The cosine of the two pooled texts; each text is an array of one row per word."""
    return cosine(pool_words(response, pool), pool_words(reference, pool))


@dataclass(frozen=True)
class RuberReferenced(EmbeddingMetric):
    """The mean over turns of `ruber_referenced`. Without a pooling: the largest and smallest values of static vectors,
    as RUBER has it, and the mean of contextual ones, whose largest values are much the same whatever a text says."""

    name = "ruber_referenced"
    title = "likeness of pooled word vectors of response and reference, as in RUBER"

    pool: Pooling | None = field(default=None, metadata=UNSIGNED)

    def __post_init__(self) -> None:
        if self.pool is not None and self.pool not in get_args(Pooling):
            raise unknown("pool of ruber_referenced", str(self.pool), get_args(Pooling))

    @property
    def pooling(self) -> Pooling:
        return self.pool or ("maxmin" if isinstance(self.vectors, StaticEncoder) else "mean")

    def reduce(self, words: Floats, unknown: int) -> Floats:
        return pool_words(words, self.pooling)

    def similarity(self, response: Floats, reference: Floats) -> float:
        return cosine(response, reference)

    def recipe(self) -> dict[str, str]:
        return super().recipe() | ({} if self.asked is None else {"pool": self.pooling})
