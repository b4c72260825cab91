"""Semantic similarity: how near a response is to what was said before it, less where it is dull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.dull import dull_factor
from dialogauge.metrics.semantic import SemanticMetric


def semantic_similarity(likeness: float, words: int, left: int) -> float:
    """The cosine of response and history, times 1 + log10((2 + m) / (2 + n)) for n content words of the response, of
    which m are left without dull phrases (the code of Dziri et al. 2019)."""
    return likeness * dull_factor(words, left)


@dataclass(frozen=True)
class SemanticSimilarity(SemanticMetric):
    """The mean over turns of `semantic_similarity`."""

    name = "semantic_similarity"
    title = "likeness of a response to what was said before it, less for dull ones"
    citations = ("dziri2019evaluating", "dziri2019augmenting")
    higher_is_better = True

    def value(self, likeness: float, words: int, left: int) -> float:
        return semantic_similarity(likeness, words, left)

    def factor(self, words: int, left: int) -> float:
        return dull_factor(words, left)

    def limits(self, part: str) -> tuple[float, float]:
        """The factor has no lower end, and can turn the sign of a cosine."""
        if part == "factor":
            return (-np.inf, 1.0) if self.dull else (1.0, 1.0)
        if part == "cosine" or (part == "" and not self.dull):
            return (-1.0, 1.0)
        return (-np.inf, np.inf) if self.dull else (-2.0, 2.0)
