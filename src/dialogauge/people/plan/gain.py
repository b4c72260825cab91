"""What a metric takes off the variance of a difference, so that fewer ratings do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dialogauge.people.plan.components import Places
from dialogauge.stats.arrays import Floats

FEWEST = 10
"""Units that ratings and metric must share for a correlation to be worth anything."""


@dataclass(frozen=True)
class MetricGain:
    """How far a metric knows which of two systems people will prefer on a unit."""

    correlation: float
    """Of the metric's differences with the ratings' differences, at as many raters a turn as the ratings had, on the
    same units; where systems share none, of its values with the ratings' within a system."""
    gain: float
    """The variance of a unit's difference that the metric explains, which does not depend on the number of raters. The
    squared correlation is taken less what chance gives (adjusted), and 0 where nothing is left."""
    units: int


def metric_gain(people: Floats, values: Floats, systems: Places, units: Places) -> MetricGain | None:
    """Of turns with their mean ratings and a metric's values; those without both count nowhere. Differences go over all
    pairs of systems, each less its pair's mean. None where fewer than ten units have both, or one of the two never
    differs."""
    both = ~np.isnan(people) & ~np.isnan(values)
    tables = [_by_unit(column[both], systems[both], units[both]) for column in (people, values)]
    shared = [[left - right for left, right in combinations(table, 2)] for table in tables]
    rows = [_centred(np.array(kind)) for kind in shared] if shared[0] else []
    if not rows or _filled(rows[0]) < FEWEST:
        # A difference of two systems on units of their own has twice the variance of one.
        rows = [np.sqrt(2) * _centred(table) for table in tables]
    units_behind = _filled(rows[0])
    if units_behind < FEWEST:
        return None
    rated, scored = (row[~np.isnan(rows[0])] for row in rows)
    if not np.any(rated) or not np.any(scored):
        return None
    r = float(rated @ scored / np.sqrt((rated @ rated) * (scored @ scored)))
    adjusted = max(1 - (1 - r * r) * (units_behind - 1) / (units_behind - 2), 0.0)
    freedom = len(rated) - len(rows[0])
    return MetricGain(r, adjusted * float(rated @ rated) / freedom, units_behind)


def _by_unit(values: Floats, systems: Places, units: Places) -> Floats:
    """(systems, units): the mean over turns, NaN where there is none."""
    shape = int(systems.max(initial=-1)) + 1, int(units.max(initial=-1)) + 1
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (systems, units), values)
    np.add.at(counts, (systems, units), 1)
    return np.asarray(np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0))


def _centred(rows: Floats) -> Floats:
    """Each row less its mean; a row with fewer than two values has none."""
    enough = (~np.isnan(rows)).sum(axis=1) >= 2
    kept = rows[enough]
    if not len(kept):
        return np.full((1, rows.shape[1]), np.nan)
    return np.asarray(kept - np.nanmean(kept, axis=1, keepdims=True))


def _filled(rows: Floats) -> int:
    """Units with a value in any row."""
    return int((~np.isnan(rows)).any(axis=0).sum()) if rows.size else 0
