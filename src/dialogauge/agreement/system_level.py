"""Agreement on whole systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dialogauge.agreement.points import Aligned
from dialogauge.agreement.turn_level import BOOTSTRAP, PERM_BOTH, PERMUTATION, SWAPS, Coefficient, Correlations, stream
from dialogauge.evaluation.intervals import Resampler, bootstraps
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.dialogue.length import Column
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import Floats, group_means, settled
from dialogauge.stats.correlations import kendall_rows, pearson_rows, spearman_rows
from dialogauge.stats.permutations import (
    PairValues,
    RowStatistic,
    kendall_permutation_p,
    permutation_p,
    swap_entries,
    swap_systems,
    swaps_for,
)
from dialogauge.stats.resampling import IntervalEstimate, bootstrap_weights, fisher_interval, percentile_interval

PERM_SYS = "PERM-SYS"
ROWS: dict[str, RowStatistic] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall": kendall_rows,
}

Scored = dict[tuple[int, ...], tuple[Floats, Floats, list[Sample]]]
"""Values and draws of metrics that were scored before, by the identities of the samples they come from. The samples are
kept, so that no other one can have their identities."""


@dataclass(frozen=True)
class SystemScores:
    """What systems score, and how that varies with the contexts they are judged on."""

    values: Floats
    """(systems, metrics)."""
    people: Floats
    """The mean rating of each system."""
    value_draws: Floats
    """(resamples, systems, metrics): values as contexts are drawn anew, the same for all metrics and people."""
    people_draws: Floats
    """(resamples, systems)."""

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Of values, (systems, metrics, 2), and of mean ratings, (systems, 2)."""

        def each(draws: Floats) -> Floats:
            flat = draws.reshape(len(draws), -1).T
            found = np.array([percentile_interval(column, confidence) for column in flat])
            return found.reshape(*draws.shape[1:], 2)

        return each(self.value_draws), each(self.people_draws)


def score_systems(aligned: Aligned, requests: Sequence[Request], settings: Settings, scored: Scored) -> SystemScores:
    """Metrics that repeated rows would bias get the values of a resample from the jackknife: to first order, each
    unit's influence times how much more than once it was drawn.

    Dimensions that were rated on the same turns share what metrics score: it is kept in `scored`."""
    people = _people(aligned)
    columns = [(aligned.samples[request.name], request.part or "") for request in requests]
    every = [sample for samples, _ in columns for sample in samples]
    resampler = Resampler([*people, *every], settings)
    key = tuple(map(id, every))
    if key not in scored:
        series = [_Series(samples, part, resampler) for samples, part in columns]
        scored[key] = (*_draw(series, resampler, settings), every)
    values, value_draws, _ = scored[key]
    ratings, people_draws = _draw([_Series(people, "", resampler)], resampler, settings)
    return SystemScores(values, ratings[:, 0], value_draws, people_draws[:, :, 0])


def correlate_systems(
    scores: SystemScores, signs: Floats, aligned: Aligned, names: Sequence[str], settings: Settings
) -> Correlations:
    """Contexts and systems are drawn anew together; no interval is narrower than Fisher's for so many systems, since
    resamples of a handful of systems are too much like each other."""
    x, y = scores.values * signs, scores.people
    systems, metrics = x.shape
    drawn = stream(settings, BOOTSTRAP).spawn(1)[0].integers(systems, size=(settings.resamples, systems))
    people = np.take_along_axis(scores.people_draws, drawn, axis=1)
    own = np.take_along_axis(scores.value_draws * signs, drawn[:, :, None], axis=1)
    p = permutation_p(x, y, settings.resamples, stream(settings, PERMUTATION))
    p["kendall"] = kendall_permutation_p(x, y, settings.resamples, stream(settings, PERMUTATION))
    means = _means(aligned, names, scores.values)
    coefficients = {}
    for name, rows in ROWS.items():
        draws = np.column_stack([_rows(rows, own[:, :, place], people) for place in range(metrics)])
        bounds = [
            _bounds(name, float(value), draws[:, place], systems, settings.confidence)
            for place, value in enumerate(rows(x.T, y[None]))
        ]
        between = tests = by_system = None
        if name != "kendall" and metrics > 1:
            between = rows(x.T[:, None], x.T[None])
            by_system = swap_systems(x, y, swaps_for(metrics, settings.resamples), stream(settings, SWAPS), rows)
            tests = by_system | _both(y, aligned, means, signs, settings, rows)
        coefficients[name] = Coefficient(bounds, p[name], draws, between, tests, by_system)
    test = {pair: PERM_BOTH if set(pair) <= means.keys() else PERM_SYS for pair in combinations(range(metrics), 2)}
    return Correlations(coefficients, test, settings.confidence)


def _draw(series: Sequence[_Series], resampler: Resampler, settings: Settings) -> tuple[Floats, Floats]:
    """The values, (systems, series), and those of every resample, (resamples, systems, series): the same resamples
    whatever the series."""
    blocks: list[list[Floats]] = [[] for _ in series]
    widest = max(one.widest for one in series)
    for weights in bootstrap_weights(resampler.count, settings.resamples, stream(settings, BOOTSTRAP), widest):
        for block, one in zip(blocks, series, strict=True):
            block.append(one.draw(weights))
    values = np.column_stack([one.values for one in series])
    return values, np.stack([np.concatenate(block) for block in blocks], axis=2)


class _Series:
    """One metric's scores of all systems."""

    def __init__(self, samples: Sequence[Sample], part: str, resampler: Resampler) -> None:
        self._samples, self._part, self._resampler = samples, part, resampler
        self.widest = max(len(sample.units) for sample in samples)
        self._jackknives = [None if bootstraps(sample) else resampler.jackknife(sample)[part] for sample in samples]
        self.values = settled(
            np.array(
                [
                    float(sample.metric.conclude(sample.summary)[part]) if jackknife is None else jackknife.estimate
                    for sample, jackknife in zip(samples, self._jackknives, strict=True)
                ]
            )
        )

    def draw(self, weights: Floats) -> Floats:
        """(resamples, systems), for weights of all units."""
        return np.column_stack([self._drawn(place, weights) for place in range(len(self._samples))])

    def _drawn(self, place: int, weights: Floats) -> Floats:
        sample, jackknife = self._samples[place], self._jackknives[place]
        units = self._resampler.units(sample)
        if jackknife is None:
            summary = sample.metric.summarise(sample.rows, weights[:, units])
            return np.asarray(sample.metric.conclude(summary)[self._part], dtype=np.float64)
        own = np.unique(units[: len(sample.own_keys)])
        groups = self._resampler.group_of_units(sample)[own]
        more = np.zeros((len(weights), len(jackknife.without)))
        for group in np.unique(groups):
            members = own[groups == group]
            more[:, group] = (weights[:, members] - 1).sum(1) / np.sqrt(len(members))
        present = int(np.count_nonzero(jackknife.sizes))
        influence = (present - 1) / present * (jackknife.value - jackknife.without)
        # What changes with the number of turns alone is no difference between them.
        influence = influence - jackknife.sizes * influence.sum() / jackknife.sizes.sum()
        return np.asarray(jackknife.estimate + more @ influence)


def _people(aligned: Aligned) -> list[Sample]:
    """The ratings, as a metric's view of each system."""
    metric = Column("rating")
    first = next(iter(aligned.samples.values()))
    ends = np.cumsum([len(sample.own_keys) for sample in first])[:-1]
    found = []
    for sample, ratings in zip(first, np.split(aligned.people, ends), strict=True):
        rows = ratings[:, None]
        summary = metric.summarise(rows)
        found.append(Sample("people", sample.system, metric, len(rows), "", sample.own_keys, summary, rows))
    return found


def _both(
    y: Floats, aligned: Aligned, means: dict[int, Floats], signs: Floats, settings: Settings, rows: RowStatistic
) -> PairValues:
    """PERM-BOTH between metrics that are means over turns."""
    places = list(means)
    if len(places) < 2:
        return {}
    entries = np.column_stack([means[place] * signs[place] for place in places])
    swaps = swaps_for(len(signs), settings.resamples)
    tests = swap_entries(entries, y, aligned.system_numbers, swaps, stream(settings, SWAPS), rows)
    return {(places[a], places[b]): p for (a, b), p in tests.items()}


def _means(aligned: Aligned, names: Sequence[str], values: Floats) -> dict[int, Floats]:
    """The values of single turns, for the metrics whose score of a system is their mean."""
    systems = aligned.system_numbers
    found = {}
    for place, name in enumerate(names):
        turns = aligned.values.get(name)
        near = 0.0 if turns is None else 1e-9 * np.abs(turns).max()
        if turns is not None and np.allclose(group_means(turns, systems), values[:, place], 0, near):
            found[place] = turns
    return found


def _rows(rows: RowStatistic, x: Floats, y: Floats) -> Floats:
    """The correlation of each row; NaN where a system has no score in a resample."""
    known = ~(np.isnan(x).any(1) | np.isnan(y).any(1))
    found = np.full(len(x), np.nan)
    found[known] = rows(x[known], y[known])
    return found


def _bounds(name: str, value: float, draws: Floats, systems: int, confidence: float) -> IntervalEstimate:
    if np.isnan(value):
        return IntervalEstimate(value, np.nan, np.nan)
    low, high = fisher_interval(name, value, systems, confidence)
    drawn = percentile_interval(draws, confidence)
    return IntervalEstimate(value, float(np.fmin(low, drawn.low)), float(np.fmax(high, drawn.high)))
