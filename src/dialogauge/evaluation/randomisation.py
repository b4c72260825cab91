"""Paired approximate randomisation (Noreen 1989): if two systems were equally good, it would not matter which of them
gave which response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.sample import Sample
from dialogauge.stats.resampling import CELLS_AT_ONCE

ROUNDING = 1e-9
"""Differences that agree to this share of themselves, or to some units in the last place of the values, are equal."""


def randomisation_tests(
    samples: Sequence[Sample], part: str, resampler: Resampler, exchanges: int
) -> dict[tuple[str, str], float]:
    """The p-value of every pair of samples, which stand on the same units. In each exchange, the two systems change
    places in every unit with probability one half; the p-value is the share of exchanges, the observed one
    included, in which they differ as much. NaN where a value is undefined."""
    metric = samples[0].metric
    values = {sample.system: float(metric.conclude(sample.summary)[part]) for sample in samples}
    pairs = list(combinations(values, 2))
    least = {(a, b): _least(values[a], values[b]) for a, b in pairs}
    as_large = Counter(pairs)
    rng = np.random.default_rng([resampler.settings.seed, 1])
    block = max(1, CELLS_AT_ONCE // max(resampler.count, *(len(sample.units) for sample in samples)))
    for start in range(0, exchanges, block):
        swapped = rng.integers(2, size=(min(block, exchanges - start), resampler.count)).astype(np.float64)
        given, kept = {}, {}
        for sample in samples:
            weights = swapped[:, resampler.units(sample)]
            given[sample.system] = metric.summarise(sample.rows, weights)
            kept[sample.system] = metric.summarise(sample.rows, 1 - weights)
        for a, b in pairs:
            one, other = (metric.conclude(summary)[part] for summary in (kept[a] + given[b], kept[b] + given[a]))
            with np.errstate(invalid="ignore"):  # where both are infinite
                found = one - other
            as_large[a, b] += int(np.count_nonzero(np.abs(found) >= least[a, b]))
    return {(a, b): float("nan") if np.isnan(least[a, b]) else as_large[a, b] / (exchanges + 1) for a, b in pairs}


def _least(first: float, second: float) -> float:
    """How large a difference must be to count as at least the observed one, rounding aside."""
    difference = abs(first - second)
    return difference * (1 - ROUNDING) - 16 * float(np.spacing(max(abs(first), abs(second))))
