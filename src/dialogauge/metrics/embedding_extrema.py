"""Vector extrema: the most extreme value of each dimension stands for the text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.base import Floats
from dialogauge.metrics.embedding import EmbeddingMetric
from dialogauge.stats.arrays import cosine


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
