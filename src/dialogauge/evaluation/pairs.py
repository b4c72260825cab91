"""Two systems under one metric: their difference, how sure it is, and how large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from dialogauge.evaluation.intervals import Resampler, method
from dialogauge.evaluation.resampling import CELLS_AT_ONCE, Jackknife, percentile_interval
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.settings import Settings
from dialogauge.metrics.base import Floats

ALPHA = 0.05
EXCHANGES_PER_PAIR = 200
"""A p-value from R exchanges is at least 1/(R + 1), and Holm's correction multiplies it by the number of pairs: with
200 exchanges for each pair, the smallest corrected p-value stays at a tenth of 0.05."""


@dataclass(frozen=True)
class Pair:
    """`difference` is first minus second; None where something is undefined or cannot be tested."""

    metric: str
    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    effect: float | None
    """The difference in standard deviations of a unit's difference: for means, Cohen's d of paired samples."""
    units: int
    test: str | None
    better: str | None
    """The system that is better, where the corrected test says so."""


def paired(first: Sample, second: Sample) -> tuple[Sample, Sample]:
    """Both systems on the units they share; as they are where they share none or where no rows are kept."""
    shared = np.intersect1d(first.units, second.units)
    if first.groups or second.groups or not len(shared):
        return first, second
    return _on(first, shared), _on(second, shared)


def _on(sample: Sample, units: Any) -> Sample:
    kept = np.isin(sample.units, units)
    if kept.all():
        return sample
    rows = sample.rows[np.flatnonzero(kept)]
    return replace(sample, units=sample.units[kept], rows=rows, summary=sample.metric.summarise(rows))


@dataclass(frozen=True)
class Resampled:
    """Samples with the resamples they share."""

    resampler: Resampler
    bootstrapped: dict[str, dict[str, Floats]]
    """For each system its values in each resample; empty where the jackknife is used."""
    exchanges: int


def compare_pair(first: Sample, second: Sample, part: str, resampled: Resampled) -> Pair:
    """The difference with its interval and test, not yet corrected for the number of pairs."""
    if not first.turns or not second.turns:
        return _undefined(_name(first, part), first.system, second.system)
    metric, resampler = first.metric, resampled.resampler
    difference = float(metric.conclude(first.summary)[part]) - float(metric.conclude(second.summary)[part])
    shared = len(np.intersect1d(first.units, second.units))
    if method(first) == "bootstrap":
        values = resampled.bootstrapped[first.system][part] - resampled.bootstrapped[second.system][part]
        interval = percentile_interval(values, resampler.settings.confidence)
        error = float(np.nanstd(values, ddof=1)) if len(values) > 1 else np.nan
        p = randomisation_test(first, second, part, difference, resampled) if shared else np.nan
        test = "randomisation"
    else:
        statistic = resampler.jackknife(first)[part].minus(resampler.jackknife(second)[part])
        interval, error = statistic.interval(resampler.settings.confidence), statistic.error
        p = t_test(statistic) if shared else np.nan
        test = "jackknife"
    units = shared or len(np.union1d(first.units, second.units))
    spread = error * np.sqrt(units)
    return Pair(
        metric=_name(first, part),
        first=first.system,
        second=second.system,
        difference=_defined(difference),
        low=_defined(interval.low),
        high=_defined(interval.high),
        p=_defined(p),
        p_holm=None,
        effect=_defined(difference / spread) if spread else None,
        units=shared,
        test=None if np.isnan(p) else test,
        better=None,
    )


def randomisation_test(first: Sample, second: Sample, part: str, difference: float, resampled: Resampled) -> float:
    """Paired approximate randomisation (Noreen 1989): in every unit the two systems change places with probability
    one half. The p-value is the share of such exchanges, the observed one included, that differ as much."""
    if np.isnan(difference):
        return float("nan")
    metric, resampler, exchanges = first.metric, resampled.resampler, resampled.exchanges
    rng = np.random.default_rng([resampler.settings.seed, 1])
    mine, theirs = resampler.units(first), resampler.units(second)
    as_large, tolerance = 1, 1e-12 * max(1.0, abs(difference))
    block = max(1, CELLS_AT_ONCE // resampler.count)
    for start in range(0, exchanges, block):
        swapped = rng.integers(2, size=(min(block, exchanges - start), resampler.count)).astype(np.float64)
        a = metric.summarise(first.rows, 1 - swapped[:, mine]) + metric.summarise(second.rows, swapped[:, theirs])
        b = metric.summarise(first.rows, swapped[:, mine]) + metric.summarise(second.rows, 1 - swapped[:, theirs])
        found = metric.conclude(a)[part] - metric.conclude(b)[part]
        as_large += int(np.count_nonzero(np.abs(found) >= abs(difference) - tolerance))
    return as_large / (exchanges + 1)


def t_test(statistic: Jackknife) -> float:
    """Two-sided, of the hypothesis that the statistic is 0, by its jackknife standard error."""
    from scipy.special import stdtr

    if not statistic.error > 0:
        return 1.0 if statistic.value == 0 else float("nan")
    return float(2 * stdtr(statistic.freedom, -abs(statistic.value) / statistic.error))


def holm(pairs: Sequence[Pair], higher_is_better: bool | None) -> list[Pair]:
    """Corrects the p-values of one metric's pairs for their number (Holm 1979) and names the better systems."""
    tested = sorted((pair for pair in pairs if pair.p is not None), key=lambda pair: pair.p or 0.0)
    corrected: dict[tuple[str, str], float] = {}
    largest = 0.0
    for rank, pair in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * (pair.p or 0.0)))
        corrected[pair.first, pair.second] = largest
    return [_judged(pair, corrected.get((pair.first, pair.second)), higher_is_better) for pair in pairs]


def _judged(pair: Pair, p: float | None, higher_is_better: bool | None) -> Pair:
    better = None
    if p is not None and p < ALPHA and pair.difference and higher_is_better is not None:
        better = pair.first if (pair.difference > 0) == higher_is_better else pair.second
    return replace(pair, p_holm=p, better=better)


def all_pairs(samples: Sequence[Sample], part: str, settings: Settings) -> list[Pair]:
    """Every pair of one metric's samples. Where all stand on the same units, they share one set of resamples."""
    exchanges = exchanges_for(len(samples), settings)
    units = np.unique(samples[0].units)
    together = all(np.array_equal(units, np.unique(sample.units)) for sample in samples)
    common = _resample(samples, settings, exchanges) if together else None
    pairs = []
    for first, second in combinations(samples, 2):
        if common:
            pairs.append(compare_pair(first, second, part, common))
        else:
            both = paired(first, second)
            pairs.append(compare_pair(*both, part, _resample(both, settings, exchanges)))
    return holm(pairs, samples[0].metric.higher_is_better)


def exchanges_for(systems: int, settings: Settings) -> int:
    """As many exchanges as resamples were asked for, or more where there are many pairs."""
    return max(settings.resamples, EXCHANGES_PER_PAIR * systems * (systems - 1) // 2)


def _resample(samples: Sequence[Sample], settings: Settings, exchanges: int) -> Resampled:
    resampler = Resampler(samples, settings)
    values = resampler.bootstrap() if method(samples[0]) == "bootstrap" else []
    bootstrapped = {sample.system: found for sample, found in zip(samples, values, strict=False)}
    return Resampled(resampler, bootstrapped, exchanges)


def _undefined(metric: str, first: str, second: str) -> Pair:
    return Pair(metric, first, second, None, None, None, None, None, None, units=0, test=None, better=None)


def _name(sample: Sample, part: str) -> str:
    return f"{sample.label}.{part}" if part else sample.label


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
