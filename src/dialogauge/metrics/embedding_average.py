"""Embedding average: the mean of a text's word vectors stands for the text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.base import Floats
from dialogauge.metrics.embedding import EmbeddingMetric
from dialogauge.stats.arrays import cosine


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
