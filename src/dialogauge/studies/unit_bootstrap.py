"""A statistic of turns, with the bootstrap's interval over what they depend on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.options import Settings
from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import NO_INTERVAL, IntervalEstimate, expanded, percentile_interval, point_weights


def over_units(statistic: Callable[[Floats], Floats], units: NDArray[np.int64], settings: Settings) -> IntervalEstimate:
    """`statistic` takes weights, (resamples, turns), and gives one value for each resample; `units` has the number of
    the dialogue or context of each turn, from 0."""
    exact = float(statistic(np.ones((1, len(units))))[0])
    count = int(units.max()) + 1
    if count < 2:
        return IntervalEstimate(exact, *NO_INTERVAL)
    rng = np.random.default_rng(settings.seed)
    drawn = np.concatenate([statistic(weights) for weights in point_weights(units, settings.resamples, rng)])
    return IntervalEstimate(exact, *percentile_interval(drawn, expanded(settings.confidence, count)))
