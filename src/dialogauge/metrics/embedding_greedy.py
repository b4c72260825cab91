"""Greedy matching: each word is held against the most similar word of the other text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.base import Floats
from dialogauge.metrics.embedding import EmbeddingMetric
from dialogauge.stats.arrays import unit_rows

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
