"""Two systems on units of their own (last week's dialogues and this week's): nothing pairs them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Sample, on_units
from dialogauge.evaluation.units import add_all
from dialogauge.stats.resampling import GROUPS
from dialogauge.stats.two_samples import TwoSampleResult, UnitSums, jackknife_test, permutation_test


def two_sample_test(first: Sample, second: Sample, part: str, settings: Settings, permutations: int) -> TwoSampleResult:
    """Means by permutation of whole units, everything else by the jackknives of both."""
    metric = first.metric
    column = metric.mean_of(part) if metric.resampling == "bootstrap" else None
    if column is None or first.groups:
        both = cut_to_one_size(first, second, settings)
        one, other = (Resampler([sample], settings).jackknife(sample)[part] for sample in both)
        return jackknife_test(one, other, (both[0].unit_count, both[1].unit_count), settings.confidence)
    sums = [UnitSums.from_values(sample.rows[:, column], sample.units) for sample in (first, second)]
    rng = np.random.default_rng([settings.seed, 2])
    return permutation_test(sums[0], sums[1], settings.confidence, permutations, rng)


def cut_to_one_size(first: Sample, second: Sample, settings: Settings) -> tuple[Sample, Sample]:
    """Where a score changes with the number of turns, as many turns of the larger system as the smaller one has: whole
    units, drawn by chance."""
    turns = [int(sample.summary.n) for sample in (first, second)]
    if not first.metric.grows or turns[0] == turns[1]:
        return first, second
    if turns[0] > turns[1]:
        return _cut(first, turns[1], settings), second
    return first, _cut(second, turns[0], settings)


def _cut(sample: Sample, turns: int, settings: Settings) -> Sample:
    if sample.groups:
        return _cut_groups(sample, turns)
    units, sizes = np.unique(sample.own_keys, return_counts=True)
    order = np.random.default_rng([settings.seed, 3]).permutation(len(units))
    return on_units(sample, units[order[: _nearest(sizes[order], turns)]])


def _cut_groups(sample: Sample, turns: int) -> Sample:
    """A unit's group comes from a hash, so that the first groups are as good as any."""
    kept = _nearest(np.array([0 if group is None else int(group.n) for group in sample.groups]), turns)
    groups = [group if place < kept else None for place, group in enumerate(sample.groups)]
    return replace(
        sample,
        units=sample.units[sample.units % np.uint64(GROUPS) < kept],
        summary=add_all([group for group in groups if group is not None]),
        groups=groups,
    )


def _nearest(sizes: NDArray[np.int64], wanted: int) -> int:
    """How many of the first sizes come nearest to a sum; one at least."""
    return int(np.argmin(np.abs(np.cumsum(sizes) - wanted))) + 1
