"""Precision, recall, density and coverage of generated (context, response) pairs, by their nearest real neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats
from dialogauge.metrics.distribution import DistributionMetric
from dialogauge.metrics.drawn import Drawn, draw_sides, total
from dialogauge.metrics.mmd import bounded_caveat
from dialogauge.metrics.neighbours import prdc
from dialogauge.metrics.sides import SideRows, Sides, repeated

LIMIT = 1000
"""The most vectors of a side whose neighbours are looked for."""


@dataclass(frozen=True)
class Prdc(DistributionMetric):
    """`neighbours.prdc` of the two sides; the main value is the harmonic mean of precision and recall. NaN with too few
    vectors for k neighbours."""

    name = "prdc"
    title = "precision and recall of (context, response) pairs by nearest real neighbours (F1)"
    higher_is_better = True
    bounds = (0.0, np.inf)
    """All but density stay below 1."""
    parts = ("precision", "recall", "density", "coverage")
    rate: ClassVar[float | None] = 0.0
    """The values of two samples of one distribution hardly change with their size."""
    limit: ClassVar[int | None] = LIMIT

    k: int = 5

    def side(self, vectors: NDArray[Any]) -> Drawn:
        return Drawn.of(vectors, LIMIT)

    def summarise(self, measures: SideRows, weights: Floats | None = None) -> Sides[Drawn]:
        return draw_sides(repeated(measures, weights), LIMIT)

    def total(self, sides: Sequence[Drawn]) -> Drawn:
        return total(sides)

    def limits(self, part: str) -> tuple[float, float]:
        return self.bounds if part == "density" else (0.0, 1.0)

    def conclude(self, summary: Sides[Drawn], real: Any = None) -> dict[str, float]:
        found = prdc(summary.real.rows, summary.generated.rows, self.k)
        both = found.precision + found.recall
        f1 = 2 * found.precision * found.recall / both if both else both
        return {"": f1, **found._asdict()}

    def caveats(self, summary: Sides[Drawn]) -> list[Caveat]:
        return [*super().caveats(summary), *bounded_caveat(self.label, summary, LIMIT)]
