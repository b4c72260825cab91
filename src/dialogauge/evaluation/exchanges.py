"""Approximate randomisation: the p-values of all pairs of systems that stand on the same units, from exchanges that
all pairs share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.base import AnyMetric, Floats
from dialogauge.stats.resampling import CACHED_CELLS, CELLS_AT_ONCE

ROUNDING = 1e-9
"""Differences that agree to this share of themselves, or to some units in the last place of the values, are equal."""
EXCHANGES_PER_PAIR = 200
"""A p-value from R exchanges is at least 1/(R + 1), and Holm's correction multiplies it by the number of pairs: with
200 exchanges for each pair, the smallest corrected p-value stays at a tenth of 0.05."""
MOST_SYSTEMS, MOST_SYSTEMS_BY_MEANS = 40, 100
"""Exchanges and pairs both grow with the square of the number of systems. With more systems than these there are no
exchanges: tests are Student's, on the jackknife. A mean after an exchange is a matrix product; any other score must be
concluded anew."""
SUMMARY = 32
"""Numbers that a summary has at most, and more than most have."""

Keys = tuple[str, str]


def exchanges_wanted(systems: int, settings: Settings) -> int:
    """As many exchanges as resamples were asked for, or more where there are many pairs."""
    return max(settings.resamples, EXCHANGES_PER_PAIR * systems * (systems - 1) // 2)


def exchanges_for(metric: AnyMetric, part: str, systems: int, settings: Settings) -> int:
    """Those that are wanted; 0 where they are too many to be made."""
    most = MOST_SYSTEMS if metric.mean_of(part) is None else MOST_SYSTEMS_BY_MEANS
    return exchanges_wanted(systems, settings) if systems <= most else 0


def randomisation_tests(
    samples: Sequence[Sample], part: str, resampler: Resampler, exchanges: int
) -> dict[Keys, float]:
    """The p-value of every pair of samples, which stand on the same units. In each exchange, the two systems change
    places in every unit with probability one half; the p-value is the share of exchanges, the observed one
    included, in which they differ as much. NaN where a value is undefined."""
    metric = samples[0].metric
    values = [float(metric.conclude(sample.summary)[part]) for sample in samples]
    least = np.array([[_least(one, other) for other in values] for one in values])
    sums = _sums_of_means(samples, part, resampler)
    counted = (
        _count_anew(samples, part, resampler, exchanges, least)
        if sums is None
        else _count_means(sums, resampler, exchanges, least)
    )
    return {
        (samples[a].system, samples[b].system): float("nan")
        if np.isnan(least[a, b])
        else float(1 + counted[a, b]) / (exchanges + 1)
        for a, b in combinations(range(len(samples)), 2)
    }


def _sums_of_means(samples: Sequence[Sample], part: str, resampler: Resampler) -> Floats | None:
    """For a score that is a mean of rows, each system's sum in each unit, over the number of its rows. None where it is
    no mean, or where systems have not the same number of rows in each unit: then an exchange changes that, too."""
    column = samples[0].metric.mean_of(part)
    if column is None:
        return None
    sizes = [np.bincount(resampler.units(sample), minlength=resampler.count) for sample in samples]
    if not all(np.array_equal(sizes[0], other) for other in sizes[1:]):
        return None
    sums = [
        np.bincount(resampler.units(sample), sample.rows[:, column], minlength=resampler.count) for sample in samples
    ]
    return np.array(sums) / sizes[0].sum() if np.isfinite(sums).all() else None


def _count_means(sums: Floats, resampler: Resampler, exchanges: int, least: Floats) -> Floats:
    """The difference of means after an exchange is the sum over units of theirs, with the sign turned where they
    changed places: one matrix product for all pairs."""
    counted = np.zeros(least.shape)
    rng = np.random.default_rng([resampler.settings.seed, 1])
    block = max(1, CACHED_CELLS // max(sums.shape))
    for start in range(0, exchanges, block):
        swapped = rng.integers(2, size=(min(block, exchanges - start), resampler.count))
        signed = sums @ (1.0 - 2.0 * swapped.T)
        for a in range(len(sums) - 1):
            apart = signed[a + 1 :] - signed[a]
            np.abs(apart, out=apart)
            counted[a, a + 1 :] += np.count_nonzero(apart >= least[a, a + 1 :, None], axis=1)
    return counted


def _count_anew(samples: Sequence[Sample], part: str, resampler: Resampler, exchanges: int, least: Floats) -> Floats:
    """What each system keeps and gives away is summarised once for all pairs, and concluded for each."""
    metric, counted = samples[0].metric, np.zeros(least.shape)
    rng = np.random.default_rng([resampler.settings.seed, 1])
    widest = max(resampler.count, *(len(sample.units) for sample in samples))
    block = max(1, CELLS_AT_ONCE // max(widest, SUMMARY * len(samples)))
    for start in range(0, exchanges, block):
        swapped = rng.integers(2, size=(min(block, exchanges - start), resampler.count)).astype(np.float64)
        given, kept = [], []
        for sample in samples:
            weights = swapped[:, resampler.units(sample)]
            given.append(metric.summarise(sample.rows, weights))
            kept.append(metric.summarise(sample.rows, 1 - weights))
        for a, b in combinations(range(len(samples)), 2):
            one, other = (metric.conclude(summary)[part] for summary in (kept[a] + given[b], kept[b] + given[a]))
            with np.errstate(invalid="ignore"):  # where both are infinite
                found = one - other
            counted[a, b] += np.count_nonzero(np.abs(found) >= least[a, b])
    return counted


def _least(first: float, second: float) -> float:
    """How large a difference must be to count as at least the observed one, rounding aside."""
    difference = abs(first - second)
    return difference * (1 - ROUNDING) - 16 * float(np.spacing(max(abs(first), abs(second))))
