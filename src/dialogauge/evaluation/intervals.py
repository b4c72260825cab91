"""Every sample's interval, by its metric's way of resampling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.floors import Floor, floors_of
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Groups, Sample, group_rows, jackknife
from dialogauge.evaluation.units import number
from dialogauge.metrics.base import Floats
from dialogauge.progress import progress_bar
from dialogauge.stats.resampling import (
    ANOTHER_SAMPLE,
    GROUPS,
    NO_INTERVAL,
    SINGLE,
    Interval,
    Jackknife,
    bootstrap_weights,
    expanded,
    percentile_interval,
)


class Estimate(NamedTuple):
    """A value with its interval and, where the metric has one, its floor."""

    value: float
    interval: Interval
    floor: Floor | None = None


class Resampler:
    """The same resamples for all samples. Bootstrap and jackknife have random streams of their own, so that an
    interval never depends on which other metrics were asked for."""

    def __init__(self, samples: Sequence[Sample], settings: Settings) -> None:
        self.settings = settings
        self._samples = samples
        self._bootstrap_rng, self._jackknife_rng = np.random.default_rng(settings.seed).spawn(2)
        self.count, numbered = number([sample.own_keys for sample in samples])
        self._units = {id(sample): units for sample, units in zip(samples, numbered, strict=True)}
        self._groups = self._jackknife_rng.permutation(np.arange(self.count) % _groups_of(self.count))
        self._number_real()

    def _number_real(self) -> None:
        """Units of real conversations are numbered after the others, and put into groups of their own: whether they
        are there changes nothing for metrics that do not look at them."""
        beside = [sample for sample in self._samples if sample.real_units is not None and not sample.groups]
        if not beside:
            return
        count, numbered = number([sample.units[len(sample.own_keys) :] for sample in beside])
        for sample, places in zip(beside, numbered, strict=True):
            self._units[id(sample)] = np.concatenate([self._units[id(sample)], self.count + places])
        (rng,) = self._jackknife_rng.spawn(1)
        together = self.count + count
        if together <= SINGLE:
            self._groups_with_real = rng.permutation(together)
            return
        own = self._groups if self.count > SINGLE else rng.permutation(self.count) % GROUPS
        self._groups_with_real = np.concatenate([own, rng.permutation(count) % GROUPS])

    def units(self, sample: Sample) -> NDArray[np.int64]:
        """The number of each row's unit."""
        return self._units[id(sample)]

    def bootstrap(self) -> list[dict[str, Floats]]:
        """The values of each sample in each resample."""
        found: list[dict[str, list[Any]]] = [defaultdict(list) for _ in self._samples]
        chosen = [
            (s, self._by_unit(s), blocks) for s, blocks in zip(self._samples, found, strict=True) if bootstraps(s)
        ]
        widest = max(len(sample.units) for sample, _, _ in chosen)
        for weights in bootstrap_weights(self.count, self.settings.resamples, self._bootstrap_rng, widest):
            for sample, (rows, units), blocks in chosen:
                summary = sample.metric.summarise(rows, weights if units is None else weights[:, units])
                for part, block in sample.metric.conclude(summary).items():
                    blocks[part].append(block)
        return [{part: np.concatenate(pieces) for part, pieces in blocks.items()} for blocks in found]

    def _by_unit(self, sample: Sample) -> tuple[Any, NDArray[np.int64] | None]:
        """The rows and each row's unit; where every unit has just one row, in the order of units, with None."""
        units = self.units(sample)
        order = np.argsort(units)
        if np.array_equal(units[order], np.arange(self.count)):
            return sample.rows[order], None
        return sample.rows, units

    def groups(self, sample: Sample) -> Groups:
        """What the jackknife leaves out."""
        if sample.sizes is not None:
            return Groups(sample.groups, sample.sizes)
        units, groups = self.units(sample), self.group_of_units(sample)
        sizes = np.bincount(groups[np.unique(units)], minlength=int(groups.max()) + 1)
        return Groups(group_rows(sample, units, groups), sizes)

    def group_of_units(self, sample: Sample) -> NDArray[np.int64]:
        """The group of each unit by its number, for a sample that kept its rows."""
        return self._groups if sample.real_units is None else self._groups_with_real

    def jackknife(self, sample: Sample) -> dict[str, Jackknife]:
        return jackknife(sample.metric, sample.summary, *self.groups(sample))

    def estimates(self, floors: bool = True, progress: bool = False) -> list[dict[str, Estimate]]:
        """Of the main value and each part, for each sample; with floors where the metric has any."""

        bootstrapped = self.bootstrap() if self.count and any(map(bootstraps, self._samples)) else []
        found = []
        for place, sample in enumerate(progress_bar(self._samples, "intervals", shown=progress, unit="score")):
            if sample.unit_count < 2:
                found.append(_alone(sample))
            elif bootstraps(sample):
                found.append(self._bootstrapped(sample, bootstrapped[place]))
            else:
                found.append(self._jackknifed(sample, floors))
        return found

    def _bootstrapped(self, sample: Sample, draws: dict[str, Floats]) -> dict[str, Estimate]:
        values = sample.metric.conclude(sample.summary)
        confidence = expanded(self.settings.confidence, sample.unit_count)
        return {part: Estimate(float(values[part]), percentile_interval(draws[part], confidence)) for part in draws}

    def _jackknifed(self, sample: Sample, floors: bool) -> dict[str, Estimate]:
        metric, groups = sample.metric, self.groups(sample)
        statistics = jackknife(metric, sample.summary, *groups)
        found = {
            part: Estimate(statistic.estimate, self._interval(sample, part, statistic))
            for part, statistic in statistics.items()
        }
        if not floors or metric.distance is None:
            return found
        known = floors_of(sample, metric.distance, groups, self.settings)
        return {part: estimate._replace(floor=known.get(part)) for part, estimate in found.items()}

    def _interval(self, sample: Sample, part: str, statistic: Jackknife) -> Interval:
        metric = sample.metric
        if not metric.has_interval(sample.summary, sample.fewest_units):
            return NO_INTERVAL
        wider = ANOTHER_SAMPLE if metric.interval_of == "another_sample" else 1.0
        return statistic.interval(self.settings.confidence, metric.limits(part), wider)


def method(sample: Sample) -> str:
    """How a sample's interval is found: without rows, only the jackknife is left."""
    return "jackknife" if sample.groups else sample.metric.resampling


def bootstraps(sample: Sample) -> bool:
    return method(sample) == "bootstrap"


def _alone(sample: Sample) -> dict[str, Estimate]:
    """Of a single unit there is a value, and nothing to resample or to extrapolate from."""
    values = sample.metric.conclude(sample.summary)
    known = not sample.metric.extrapolates
    return {part: Estimate(float(value) if known else np.nan, NO_INTERVAL) for part, value in values.items()}


def _groups_of(units: int) -> int:
    return units if units <= SINGLE else GROUPS
