"""What is correlated: a metric's values and people's ratings of the same turns, dialogues or systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats

Level = Literal["turn", "dialogue", "system"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue", "system")
COUNTED = {"turn": "turns", "dialogue": "dialogues", "system": "systems"}


@dataclass(frozen=True)
class Scope:
    """Whose agreement it is: on one corpus, about one dimension, at one level, for all systems or (turns) just one."""

    corpus: str
    dimension: str
    level: Level
    system: str | None = None


@dataclass(frozen=True, repr=False)
class Points:
    """Point i is a turn, a dialogue or a system. Every metric has a value there, and people rated it."""

    scope: Scope
    metrics: list[str]
    values: Floats
    """(points, metrics), as the metrics gave them."""
    people: Floats
    """The mean rating of each point."""
    names: list[str]
    """The turn's id, the dialogue or the system."""
    systems: list[str]
    """Whose point it is."""
    units: NDArray[np.int64]
    """Points that may depend on each other (turns of one dialogue, answers to one context) have one number."""
    value_intervals: Floats | None = None
    """(points, metrics, 2): of systems' scores, from resampled contexts; NaN where there is none."""
    people_intervals: Floats | None = None
    """(points, 2): of systems' mean ratings."""

    def __repr__(self) -> str:
        return f"<Points: {len(self.names)} of {self.scope}, {len(self.metrics)} metrics>"

    def column(self, metric: str) -> Floats:
        """The values of one metric."""
        found: Floats = self.values[:, self.metrics.index(metric)]
        return found
