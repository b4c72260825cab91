"""Precision, recall, density and coverage of generated (context, response) pairs, by their nearest real neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import Values
from dialogauge.metrics.distance.bounded_sample import BoundedSample, bounded_caveats, bounded_together, draw, total
from dialogauge.metrics.distance.distribution import DistributionMetric
from dialogauge.metrics.distance.neighbours import prdc
from dialogauge.metrics.distance.paired_rows import PairedRows, PairedSummary

LIMIT = 1000
"""The most vectors of a side whose neighbours are looked for."""


@dataclass(frozen=True)
class Prdc(DistributionMetric[BoundedSample]):
    """`neighbours.prdc` of the two sides, where rows of one dialogue or context are no neighbours; the main value is
    the harmonic mean of precision and recall. NaN with too few vectors for k neighbours."""

    name = "prdc"
    title = "precision and recall of (context, response) pairs by nearest real neighbours (F1)"
    citations = ("kynkaanniemi2019improved", "naeem2020reliable")
    higher_is_better = True
    bounds = (0.0, np.inf)
    """All but density stay below 1."""
    parts = ("precision", "recall", "density", "coverage")
    main = "f1"
    ideal: ClassVar[float] = 1.0

    k: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.k < LIMIT:
            raise InputError(f"prdc: k is {self.k}; the number of neighbours must be at least 1, and below {LIMIT}")

    def rate(self, nearer: float) -> float:
        """As found: balls shrink with the number of dialogues, by a power that depends on the vectors' dimension."""
        return float(np.clip(np.log2(nearer), 0.0, 1.0)) if nearer > 0 else 0.0

    def sides(self, rows: PairedRows) -> tuple[BoundedSample, BoundedSample]:
        return draw(rows, LIMIT)

    def bounded(self, summaries: Sequence[PairedSummary[BoundedSample]]) -> list[PairedSummary[BoundedSample]]:
        return bounded_together(summaries)

    def total(self, sides: Sequence[BoundedSample]) -> BoundedSample:
        return total(sides)

    def limits(self, part: str) -> tuple[float, float]:
        return self.bounds if part == "density" else (0.0, 1.0)

    def conclude(self, summary: PairedSummary[BoundedSample]) -> Values:
        found = prdc(summary.real.rows, summary.generated.rows, self.k, (summary.real.units, summary.generated.units))
        both = found.precision + found.recall
        f1 = 2 * found.precision * found.recall / both if both else both
        return {"": f1, **found._asdict()}

    def caveats(self, summary: PairedSummary[BoundedSample]) -> list[Caveat]:
        return bounded_caveats(self.label, summary)
