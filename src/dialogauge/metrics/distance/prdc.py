"""Precision, recall, density and coverage of generated (context, response) pairs, by their nearest real neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.bounded_sample import BoundedSample, bounded_caveats, bounded_together, draw, total
from dialogauge.metrics.distance.distribution import DistributionMetric
from dialogauge.metrics.distance.paired_rows import PairedRows, PairedSummary
from dialogauge.stats.arrays import centred_rows, distance_blocks, rounding

UnitKeys = NDArray[np.uint64]
LIMIT = 1000
"""The most vectors of a side whose neighbours are looked for."""


class PrdcValues(NamedTuple):
    precision: float
    recall: float
    density: float
    coverage: float


def prdc(real: Floats, generated: Floats, k: int = 5, units: tuple[UnitKeys, UnitKeys] | None = None) -> PrdcValues:
    """How two sets of rows cover each other, where a row's ball reaches to its k-th nearest neighbour on its own side.

    Precision: the share of generated rows in the ball of any real row; recall the same with sides changed
    (Kynkäänniemi et al. 2019). Density: the mean number of real balls around a generated row, divided by k, which may
    exceed 1; coverage: the share of real rows with a generated row in their ball (Naeem et al. 2020). All but density
    lie in [0, 1].

    Balls are closed, up to rounding: a row as far away as the neighbour is inside, and so are copies of a row whose
    neighbours are copies too (the package `prdc` leaves them out; without ties both agree). A row is never its own
    neighbour, nor are rows of the same of the given `units` (dialogues, contexts), which are near for another reason
    than that the sides are alike. A side of k rows or fewer has no balls: recall is NaN if that side is the generated
    one, the other three if it is the real one, and all four if a side is empty.
    """
    if k < 1:
        raise InputError(f"k is {k}; the number of neighbours must be at least 1")
    real, generated = centred_rows(real, generated)
    n, m = len(real), len(generated)
    if not n or not m:
        return PrdcValues(np.nan, np.nan, np.nan, np.nan)
    slack = rounding(real, generated)
    of_real, of_generated = units or (np.arange(n, dtype=np.uint64), np.arange(n, n + m, dtype=np.uint64))
    reach, reach_generated = _reach(real, k, of_real) + slack, _reach(generated, k, of_generated) + slack
    around = np.zeros(m, dtype=np.int64)
    covered = recalled = 0
    for rows, distances in distance_blocks(real, generated):
        if units is not None:
            distances[of_real[rows, None] == of_generated] = np.inf
        inside = distances <= reach[rows, None]
        around += inside.sum(axis=0)
        covered += int(inside.any(axis=1).sum())
        recalled += int((distances <= reach_generated).any(axis=1).sum())
    balls = np.nan if np.isnan(reach).all() else 1.0
    return PrdcValues(
        precision=balls * float((around > 0).mean()),
        recall=np.nan if np.isnan(reach_generated).all() else recalled / n,
        density=balls * float(around.mean()) / k,
        coverage=balls * covered / n,
    )


def _reach(rows: Floats, k: int, units: UnitKeys) -> Floats:
    """The squared distance from each row to its k-th nearest row of another unit; NaN where there are fewer."""
    if len(rows) <= k:
        return np.full(len(rows), np.nan)
    found = np.empty(len(rows))
    for block, distances in distance_blocks(rows, rows):
        distances[units[block, None] == units] = np.inf
        found[block] = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return np.where(np.isinf(found), np.nan, found)


@dataclass(frozen=True)
class Prdc(DistributionMetric[BoundedSample]):
    """`prdc` of the two sides, where rows of one dialogue or context are no neighbours; the main value is
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
