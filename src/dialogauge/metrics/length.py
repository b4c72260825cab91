"""How long the responses are: no measure of quality, but what many measures turn out to follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats
from dialogauge.metrics.means import MeanMetric
from dialogauge.text.words import RECIPE, words


@dataclass(frozen=True)
class Length(MeanMetric):
    """Mean number of words; the part `characters` counts code points. An empty response counts 0."""

    name = "length"
    title = "words per response"
    higher_is_better = None
    bounds = (0.0, np.inf)
    parts = ("characters",)
    main = "words"

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = [(len(words(turn.response)), len(turn.response)) for turn in turns]
        return np.array(rows, dtype=np.float64).reshape(len(turns), 2)

    def recipe(self) -> dict[str, str]:
        return RECIPE
