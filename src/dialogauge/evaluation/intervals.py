"""Every sample's interval, by its metric's way of resampling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.resampling import (
    GROUPS,
    NO_INTERVAL,
    SINGLE,
    Interval,
    Jackknife,
    bootstrap_weights,
    jackknife,
    percentile_interval,
)
from dialogauge.evaluation.sample import Sample, group_rows
from dialogauge.evaluation.settings import Settings
from dialogauge.evaluation.units import number
from dialogauge.metrics.base import Floats


class Resampler:
    """The same resamples for all samples. Bootstrap and jackknife have random streams of their own, so that an
    interval never depends on which other metrics were asked for."""

    def __init__(self, samples: Sequence[Sample], settings: Settings) -> None:
        self.settings = settings
        self._samples = samples
        self._bootstrap_rng, self._jackknife_rng = np.random.default_rng(settings.seed).spawn(2)
        self.count, numbered = number([sample.units for sample in samples])
        self._units = {id(sample): units for sample, units in zip(samples, numbered, strict=True)}
        groups = self.count if self.count <= SINGLE else GROUPS
        self._groups = self._jackknife_rng.permutation(np.arange(self.count) % groups)

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

    def jackknife(self, sample: Sample) -> dict[str, Jackknife]:
        if sample.groups:
            sizes = np.bincount((sample.units % np.uint64(GROUPS)).astype(np.int64), minlength=GROUPS)
            return jackknife(sample.metric, sample.summary, sample.groups, sizes)
        units = self.units(sample)
        sizes = np.bincount(self._groups[np.unique(units)], minlength=int(self._groups.max()) + 1)
        return jackknife(sample.metric, sample.summary, group_rows(sample, units, self._groups), sizes)

    def intervals(self) -> list[dict[str, Interval]]:
        """Of the main value and each part, for each sample."""
        confidence = self.settings.confidence
        bootstrapped = self.bootstrap() if self.count and any(map(bootstraps, self._samples)) else []
        found = []
        for place, sample in enumerate(self._samples):
            if sample.unit_count < 2:
                found.append(dict.fromkeys(("", *sample.metric.parts), NO_INTERVAL))
            elif bootstraps(sample):
                values = bootstrapped[place]
                found.append({part: percentile_interval(values[part], confidence) for part in values})
            else:
                parts = self.jackknife(sample)
                found.append({part: parts[part].interval(confidence, sample.metric.bounds) for part in parts})
        return found


def method(sample: Sample) -> str:
    """How a sample's interval is found: without rows, only the jackknife is left."""
    return "jackknife" if sample.groups else sample.metric.resampling


def bootstraps(sample: Sample) -> bool:
    return method(sample) == "bootstrap"
