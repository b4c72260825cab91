"""Two systems under one metric: their difference, how sure it is, and how large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.exchanges import exchanges_for, randomisation_tests
from dialogauge.evaluation.intervals import Resampler, bootstraps
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Sample, on_units
from dialogauge.evaluation.units import Keys, add_all, enough
from dialogauge.stats.resampling import GROUPS, NO_INTERVAL, deviation, expanded, percentile_interval, t_test
from dialogauge.stats.significance import TwoSampleResult, UnitSums, holm_corrected, jackknife_test, permutation_test

ALPHA = 0.05
NO_SPREAD = 1e-12
"""A standard error below this share of the values is rounding."""


@dataclass(frozen=True)
class Pair:
    """`difference` is first minus second: where they are paired on the units both have, else each on its own. None
    where something is undefined or untested."""

    metric: str
    first: str
    second: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    effect: float | None = None
    """The difference in standard deviations of a unit's difference: for means, Cohen's d of paired samples. Where the
    systems are not paired, in standard deviations of a unit."""
    units: int = 0
    """How many units both systems have."""
    test: str | None = None
    """Paired: "randomisation" or "jackknife". Not paired: "permutation" or "welch", and "jackknife" where both systems
    are held against the same real conversations."""
    better: str | None = None
    """The system that is better, where the corrected test says so."""
    first_units: int = 0
    """How many units of the first system the comparison stands on."""
    second_units: int = 0
    paired: bool = True
    """Whether the test pairs the units that both systems have."""

    def turned(self) -> Pair:
        """The same pair the other way round."""
        difference, effect, low, high = (
            None if value is None else -value for value in (self.difference, self.effect, self.high, self.low)
        )
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=difference,
            effect=effect,
            low=low,
            high=high,
            first_units=self.second_units,
            second_units=self.first_units,
        )


def all_pairs(
    samples: Sequence[Sample], part: str, settings: Settings, asked: Mapping[str, str] | None = None
) -> list[Pair]:
    """Every pair of one metric's samples, or each system with the one that `asked` has for it. Where all stand on the
    same units, they share one set of resamples."""
    exchanges = exchanges_for(samples[0].metric, part, len(samples), settings)
    present = [sample for sample in samples if len(sample.units)]
    common = Contest(present, part, settings, exchanges) if _same_units(present) else None
    pairs = []
    for first, second in combinations(samples, 2):
        if asked and first.system != asked.get(second.system) and second.system != asked.get(first.system):
            continue
        if not len(first.units) or not len(second.units):
            pairs.append(Pair(_name(first, part), first.system, second.system))
        elif common:
            pairs.append(common.pair(first, second, first.unit_count))
        else:
            pairs.append(_compared(first, second, part, settings, exchanges))
    return holm(pairs, samples[0].metric.direction(part))


class Contest:
    """Samples of one metric with the resamples they share. Without `exchanges`, which are too many where there are very
    many pairs, the jackknife takes their place."""

    def __init__(self, samples: Sequence[Sample], part: str, settings: Settings, exchanges: int) -> None:
        self._part = part
        self._settings = settings
        resampler = Resampler(samples, settings)
        self._bootstrapped, self._p, self._jackknives = {}, {}, {}
        self._values = {sample.system: float(sample.metric.conclude(sample.summary)[part]) for sample in samples}
        if bootstraps(samples[0]) and exchanges:
            values = zip(samples, resampler.bootstrap(), strict=True)
            self._bootstrapped = {sample.system: found[part] for sample, found in values}
            self._p = randomisation_tests(samples, part, resampler, exchanges)
        else:
            self._jackknives = {sample.system: resampler.jackknife(sample)[part] for sample in samples}

    def pair(self, first: Sample, second: Sample, shared: int) -> Pair:
        """The difference with its interval and test, not yet corrected for the number of pairs. `shared` is the number
        of units that both have."""
        values = [self._values[sample.system] for sample in (first, second)]
        if self._jackknives:
            both = [self._jackknives[sample.system] for sample in (first, second)]
            values = [statistic.estimate for statistic in both]
            statistic = both[0].minus(both[1])
            interval, error, test = statistic.interval(self._settings.confidence), statistic.error, "jackknife"
            p = t_test(statistic, NO_SPREAD * max(map(abs, values)))
        else:
            with np.errstate(invalid="ignore"):  # where both are infinite
                differences = self._bootstrapped[first.system] - self._bootstrapped[second.system]
            confidence = expanded(self._settings.confidence, shared or min(first.unit_count, second.unit_count))
            interval, test = percentile_interval(differences, confidence), "randomisation"
            error = deviation(differences)
            p = self._p[first.system, second.system]
        # A stream keeps no rows by which to leave out units that only one system has.
        together = first.unit_count + second.unit_count - shared if first.groups or not shared else shared
        if together < 2:
            interval, error = NO_INTERVAL, np.nan
        # By this many the variance of the difference is smaller than that of one unit's, or of one unit of a system.
        size = together if shared else 1 / (1 / first.unit_count + 1 / second.unit_count)
        spread = error > NO_SPREAD * max(map(abs, values))
        # Systems that are held against the same real conversations can be tested on contexts of their own.
        tested = (shared > 1 or first.real_units is not None) and together > 1 and not np.isnan(p)
        return Pair(
            metric=_name(first, self._part),
            first=first.system,
            second=second.system,
            difference=defined(values[0] - values[1]),
            low=defined(interval.low),
            high=defined(interval.high),
            p=defined(p) if tested else None,
            effect=defined((values[0] - values[1]) / (error * np.sqrt(size))) if spread else None,
            units=shared,
            test=test if tested else None,
            first_units=first.unit_count,
            second_units=second.unit_count,
        )


def two_sample_test(first: Sample, second: Sample, part: str, settings: Settings, permutations: int) -> TwoSampleResult:
    """Means by permutation of whole units, everything else (and means, too, where there are no `permutations`) by the
    jackknives of both."""
    metric = first.metric
    column = metric.mean_of(part) if metric.resampling == "bootstrap" else None
    if column is None or first.groups or not permutations:
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


def holm(pairs: Sequence[Pair], higher_is_better: bool | None) -> list[Pair]:
    """Corrects the p-values of one metric's pairs for their number and names the better systems."""
    corrected = holm_corrected([pair.p for pair in pairs])
    return [_judged(pair, p, higher_is_better) for pair, p in zip(pairs, corrected, strict=True)]


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
        sizes=None if sample.sizes is None else np.where(np.arange(GROUPS) < kept, sample.sizes, 0),
        summary=add_all([group for group in groups if group is not None]),
        groups=groups,
    )


def _nearest(sizes: NDArray[np.int64], wanted: int) -> int:
    """How many of the first sizes come nearest to a sum; one at least."""
    return int(np.argmin(np.abs(np.cumsum(sizes) - wanted))) + 1


def _judged(pair: Pair, p: float | None, higher_is_better: bool | None) -> Pair:
    better = None
    if p is not None and p < ALPHA and pair.difference and higher_is_better is not None:
        better = pair.first if (pair.difference > 0) == higher_is_better else pair.second
    return replace(pair, p_holm=p, better=better)


def _compared(first: Sample, second: Sample, part: str, settings: Settings, exchanges: int) -> Pair:
    """Two systems on the units they share, where these are enough; else each on its own. So are logs that overlap: the
    dialogues that stand in both are the same, and say nothing of the others."""
    ours, theirs = first.same_units(second)
    shared = first.shared_units(second)
    if enough(shared, min(first.unit_count, second.unit_count)):
        both = (
            (first, second)
            if first.groups
            else (on_units(first, ours), _renamed(on_units(second, theirs), theirs, ours))
        )
        pair = Contest(both, part, settings, exchanges).pair(*both, shared)
        all_units = shared == max(first.unit_count, second.unit_count)
        if first.groups or all_units or not _differs_nowhere(pair, both):
            return pair
    if first.metric.grows and first.metric.learns and first.summary.n != second.summary.n:
        # What was learned from more turns of one system stays with its rows, also of those that would be kept.
        return Pair(_name(first, part), first.system, second.system, units=shared, paired=False)
    if first.real_units is not None:
        if not first.groups and not second.groups:
            first, second = cut_to_one_size(first, second, settings)
        both = first, second if second.groups else _renamed(second, second.own_units, ~second.own_units)
        return replace(Contest(both, part, settings, exchanges).pair(*both, 0), units=shared, paired=False)
    found = two_sample_test(first, second, part, settings, exchanges)
    tested = not np.isnan(found.p)
    return Pair(
        metric=_name(first, part),
        first=first.system,
        second=second.system,
        difference=defined(found.values[0] - found.values[1]),
        low=defined(found.interval.low),
        high=defined(found.interval.high),
        p=defined(found.p),
        effect=defined(found.effect),
        units=shared,
        test=found.test if tested else None,
        first_units=found.units[0],
        second_units=found.units[1],
        paired=False,
    )


def _differs_nowhere(pair: Pair, samples: Sequence[Sample]) -> bool:
    """Whether a difference and its interval are 0, but for rounding."""
    found = (pair.difference, pair.low, pair.high)
    scale = max(abs(float(value)) for sample in samples for value in sample.metric.conclude(sample.summary).values())
    return None not in found and max(abs(value) for value in found if value is not None) <= NO_SPREAD * scale


def _renamed(sample: Sample, old: Keys, new: Keys) -> Sample:
    """The sample with other keys for some of its units."""
    order = np.argsort(old)
    places = np.minimum(np.searchsorted(old[order], sample.units), len(old) - 1)
    known = old[order][places] == sample.units
    return replace(sample, units=np.where(known, new[order][places], sample.units))


def _same_units(samples: Sequence[Sample]) -> bool:
    """Whether all stand on the same units, under the same keys."""
    return bool(samples) and all(
        samples[0].stands_on_units_of(other) and _paired_as_named(samples[0], other) for other in samples[1:]
    )


def _paired_as_named(first: Sample, second: Sample) -> bool:
    ours, theirs = first.same_units(second)
    return np.array_equal(ours, theirs)


def _name(sample: Sample, part: str) -> str:
    return f"{sample.label}.{part}" if part else sample.label
