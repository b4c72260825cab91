"""Semantic distance: how far a response is from what was said before it, more where it is dull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialogauge.metrics.dull import dull_factor
from dialogauge.metrics.semantic import SemanticMetric


def semantic_distance(likeness: float, words: int, left: int) -> float:
    """1 less the cosine of response and history, times 1 + log10((2 + n) / (2 + m)) for n content words of the
    response, of which m are left without dull phrases (Dziri et al. 2019, the THRED paper)."""
    return max(0.0, 1 - likeness) * dull_factor(left, words)


@dataclass(frozen=True)
class SemanticDistance(SemanticMetric):
    """The mean over turns of `semantic_distance`."""

    name = "semantic_distance"
    title = "distance of a response from what was said before it, more for dull ones"
    citations = ("dziri2019evaluating", "dziri2019augmenting")
    higher_is_better = False

    def value(self, likeness: float, words: int, left: int) -> float:
        return semantic_distance(likeness, words, left)

    def factor(self, words: int, left: int) -> float:
        return dull_factor(left, words)

    def direction(self, part: str) -> bool | None:
        return True if part == "cosine" else self.higher_is_better

    def limits(self, part: str) -> tuple[float, float]:
        if part == "cosine":
            return (-1.0, 1.0)
        if part == "factor":
            return (1.0, np.inf if self.dull else 1.0)
        if part == "difference":
            return (-np.inf, np.inf) if self.dull else (-2.0, 2.0)
        return (0.0, np.inf if self.dull else 2.0)
