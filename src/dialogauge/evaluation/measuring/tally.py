"""What is kept of one metric on one system where rows are too many to keep: a summary for each group of units. Tallies
of parts of a corpus add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.sample import Places, Sample, real_beside
from dialogauge.evaluation.units import Answered, Keys, UnitSample, add_all
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.prepared import AnyPrepared
from dialogauge.stats.resampling import GROUPS

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """Groups come from keys of units, which are hashes: no table of units is needed."""

    metric: AnyMetric
    groups: tuple[Any, ...] = (None,) * GROUPS
    """The summary of each group; None for one without rows."""
    sizes: Counts = field(default_factory=lambda: np.zeros(GROUPS, dtype=np.int64))
    """How many rows each group has."""
    turns: int = 0
    """That had what the metric needs, those without a value among them."""
    coverage: Counts | None = None
    units: UnitSample = field(default_factory=UnitSample)

    @classmethod
    def noted(cls, metric: AnyMetric, keys: Keys, messages: Keys, places: Places, rows: Any) -> Tally:
        """Of the rows of a batch of turns, of which these are the keys of units and messages of all."""
        defined = np.flatnonzero(metric.defined(rows))
        places_defined = places[defined]
        whole = cls.of_rows(metric, keys[places_defined], rows[defined])
        units = UnitSample.bounded(Answered.noted(keys[places_defined], messages[places_defined]))
        return cls(metric, whole.groups, whole.sizes, len(places), metric.coverage(rows), units)

    @classmethod
    def of_rows(cls, metric: AnyMetric, keys: Keys, rows: Any) -> Tally:
        members = (keys % np.uint64(GROUPS)).astype(np.int64)
        groups = [None] * GROUPS
        for group in np.unique(members):
            groups[group] = metric.summarise(rows[np.flatnonzero(members == group)])
        return cls(metric, _bounded(metric, groups), np.bincount(members, minlength=GROUPS).astype(np.int64))

    def __add__(self, other: Tally) -> Tally:
        pairs = zip(self.groups, other.groups, strict=True)
        groups = [theirs if mine is None else mine if theirs is None else mine + theirs for mine, theirs in pairs]
        known = [each.coverage for each in (self, other) if each.coverage is not None]
        return Tally(
            self.metric,
            _bounded(self.metric, groups),
            self.sizes + other.sizes,
            self.turns + other.turns,
            reduce(np.add, known) if known else None,
            self.units + other.units,
        )

    def sample(self, label: str, system: str, ready: AnyPrepared, real_units: Keys | None) -> Sample:
        """With the real conversations that the system is held against, where any were given."""
        metric, whole, coverage = ready.metric, self, self.coverage
        beside = real_beside(ready, system, real_units)
        if beside is not None:
            whole = self + Tally.of_rows(metric, beside.units, beside.rows)
            coverage = beside.covered(coverage)
        present = [group for group in whole.groups if group is not None]
        return Sample(
            label=label,
            system=system,
            metric=metric,
            turns=self.turns,
            signature=ready.signature,
            units=np.unique(self.units.answered.units),
            summary=add_all(present) if present else metric.summarise(ready.measure([])),
            groups=list(whole.groups),
            sizes=whole.sizes,
            ceiling=self.units.ceiling,
            real_units=None if beside is None else beside.units,
            real_rows=None if beside is None else beside.rows,
            coverage=coverage,
            answered=self.units.answered,
        )


def _bounded(metric: AnyMetric, groups: Sequence[Any]) -> tuple[Any, ...]:
    """The groups without what their sum does not keep."""
    present = [place for place, group in enumerate(groups) if group is not None]
    kept = list(groups)
    for place, summary in zip(present, metric.bounded([groups[place] for place in present]), strict=True):
        kept[place] = summary
    return tuple(kept)
