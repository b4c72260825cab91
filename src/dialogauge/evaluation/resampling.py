"""Intervals by resampling: the bootstrap for sums and means, the jackknife where repeated rows would bias."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import accumulate
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats, Metric

CELLS_AT_ONCE = 4_000_000
GROUPS = 50


class Interval(NamedTuple):
    """NaN where there is no interval."""

    low: float
    high: float


NO_INTERVAL = Interval(np.nan, np.nan)


def bootstrap_weights(units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each unit is drawn in each resample (Efron 1979), as blocks of shape (resamples, units)."""
    block = max(1, CELLS_AT_ONCE // units)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(units, size=(rows, units)) + np.arange(rows)[:, None] * units
        counts = np.bincount(drawn.ravel(), minlength=rows * units)
        yield counts.reshape(rows, units).astype(np.float64)


def bootstrap_values(metric: Metric, measures: Any, units: NDArray[np.int64], weights: Floats) -> dict[str, Floats]:
    """The metric's values in each resample of a block."""
    return metric.conclude(metric.summarise(measures, weights[:, units]))


def percentile_interval(values: Floats, confidence: float) -> Interval:
    """The middle `confidence` of the values. Resamples in which the value is undefined are left out."""
    defined = values[~np.isnan(values)]
    if defined.size < 2:
        return NO_INTERVAL
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def jackknife_groups(units: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Each unit's group: single units where there are few, else 50 random groups of nearly one size."""
    return rng.permutation(np.arange(units) % GROUPS)


def jackknife_intervals(
    metric: Metric, measures: Any, units: NDArray[np.int64], groups: NDArray[np.int64], confidence: float
) -> dict[str, Interval]:
    """Delete-a-group jackknife for groups of unequal size (Busing, Meijer & van der Leeden 1999), centred at
    the value itself, with Student's t, cut to the metric's bounds."""
    members = groups[units]
    present = np.unique(members)
    summaries = [metric.summarise(measures[np.flatnonzero(members == group)]) for group in present]
    whole = metric.conclude(reduce(add, summaries))
    if len(present) < 2:
        return dict.fromkeys(whole, NO_INTERVAL)
    without = [metric.conclude(rest) for rest in _leave_one_out(summaries)]
    sizes = np.array([len(np.unique(units[members == group])) for group in present])
    return {
        part: _jackknife_interval(
            float(whole[part]),
            np.array([float(values[part]) for values in without]),
            sizes,
            confidence,
            metric.bounds,
        )
        for part in whole
    }


def _leave_one_out(summaries: list[Any]) -> list[Any]:
    """The sum of all but each, from running sums on both sides."""
    before = list(accumulate(summaries, add))
    after = list(accumulate(reversed(summaries), add))[::-1]
    middle = [left + right for left, right in zip(before[:-2], after[2:], strict=True)]
    return [after[1], *middle, before[-2]]


def _jackknife_interval(
    value: float, without: Floats, sizes: NDArray[np.int64], confidence: float, bounds: tuple[float, float]
) -> Interval:
    from scipy.special import stdtrit

    share = sizes.sum() / sizes
    pseudo = share * value - (share - 1) * without
    centre = len(sizes) * value - np.sum((1 - 1 / share) * without)
    error = np.sqrt(np.mean((pseudo - centre) ** 2 / (share - 1)))
    reach = stdtrit(len(sizes) - 1, (1 + confidence) / 2) * error
    low, high = np.clip([value - reach, value + reach], *bounds)
    return Interval(float(low), float(high))
