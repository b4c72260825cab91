"""Estimates for every system and every two: mean ratings and their differences, win rates, what a metric is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from dialogauge.errors import Caveat
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.options import Settings
from dialogauge.people.estimate.combine import combine
from dialogauge.people.estimate.estimate_result import Form, MetricWorth, PairEstimate, SystemEstimate
from dialogauge.people.estimate.interval import Bounds, PoweredEstimate, powered_estimate
from dialogauge.people.estimate.powered import UnitTotals
from dialogauge.people.estimate.samples import RatedSample, rated_share
from dialogauge.people.estimate.strengths import fit_strengths, outcome_of, win_rate_totals
from dialogauge.stats.significance import holm_corrected

TOGETHER = "all together"
EVEN = 0.5
"""The win rate of systems that people like as much."""


@dataclass
class EstimateRows:
    """What was found so far."""

    systems: list[SystemEstimate] = field(default_factory=list)
    pairs: list[PairEstimate] = field(default_factory=list)
    worths: list[MetricWorth] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)


@dataclass(frozen=True)
class Estimating:
    """How estimates are made: from which metrics, with which intervals."""

    metrics: list[str]
    settings: Settings = field(default_factory=Settings)
    these_turns: bool = False
    planned: int | None = None

    def means(self, dimension: str, samples: Mapping[str, RatedSample], rows: EstimateRows) -> None:
        """Each system's mean rating, and the difference of every two. A difference is estimated by itself, with a slope
        of its own from what the metric says of both replies; it need not be that of the two means."""
        count = _unit_count(samples.values())
        predictions = combine(list(samples.values()), self.settings.seed)
        totals = {
            system: sample.totals(count, *prediction, finite=self.these_turns)
            for (system, sample), prediction in zip(samples.items(), predictions, strict=True)
        }
        for system, sample in samples.items():
            found = self._estimate([sample], [totals[system]])
            places = (sample.rated_count, len(sample.ratings))
            rows.systems.append(_system(dimension, "rating", system, places, found))
        tested = [
            _pair(dimension, "rating", (first, second), self._estimate(*_both(samples, totals, first, second)))
            for first, second in combinations(samples, 2)
        ]
        rows.pairs += _corrected(tested, self.settings.confidence)
        self._worths(dimension, "rating", samples, count, rows)

    def win_rates(
        self,
        dimension: str,
        systems: Sequence[str],
        samples: Mapping[tuple[str, str], RatedSample],
        rows: EstimateRows,
    ) -> None:
        """How often each of two systems is preferred and, by the model of Bradley and Terry, each to the others."""
        if not samples:
            message = f"{dimension}: no two systems that were compared are among those asked for"
            rows.caveats.append(Caveat("not_compared", message))
            return
        count = _unit_count(samples.values())
        predictions = dict(zip(samples, combine(list(samples.values()), self.settings.seed), strict=True))
        tested = []
        for names, sample in samples.items():
            totals = sample.totals(count, *predictions[names], finite=self.these_turns)
            tested.append(_pair(dimension, "preference", names, self._estimate([sample], [totals], EVEN)))
        rows.pairs += _corrected(tested, self.settings.confidence, EVEN)
        compared = [system for system in systems if any(system in names for names in samples)]
        strengths = fit_strengths(len(compared), [outcome_of(sample, compared) for sample in samples.values()])
        if strengths is None:
            message = (
                f"{dimension}: no win rate against all others: between some systems there is no chain of comparisons in"
                " which each was at times preferred to the next; the pairs stand by themselves"
            )
            rows.caveats.append(Caveat("no_strengths", message))
        else:
            rates = win_rate_totals(compared, samples, predictions, strengths, count, self.these_turns)
            for place, system in enumerate(compared):
                own = [sample for names, sample in samples.items() if system in names]
                found = self._estimate(list(samples.values()), [rates[system]], EVEN)
                places = (sum(each.rated_count for each in own), sum(len(each.ratings) for each in own))
                row = _system(dimension, "preference", system, places, found)
                rows.systems.append(replace(row, strength=float(strengths.values[place])))
        self._worths(dimension, "preference", samples, count, rows)

    def _estimate(
        self, samples: Sequence[RatedSample], totals: Sequence[UnitTotals], null: float = 0.0
    ) -> PoweredEstimate:
        """Of one total, or of the first less the second."""
        return powered_estimate(
            list(zip((1.0, -1.0), totals, strict=False)),
            self.settings,
            null=null,
            rated_share=rated_share(samples) if self.these_turns else None,
            planned=self.planned,
        )

    def _worths(
        self,
        dimension: str,
        form: Form,
        samples: Mapping[str, RatedSample] | Mapping[tuple[str, str], RatedSample],
        count: int,
        rows: EstimateRows,
    ) -> None:
        """What each metric was worth by itself and, of several, all together: the geometric mean over systems, or pairs
        of them."""
        made = [*(rows.systems if form == "rating" else rows.pairs)]
        mine = [row.worth for row in made if (row.dimension, row.form) == (dimension, form)]
        together = _geometric_mean([np.nan if each is None else each for each in mine])
        if len(self.metrics) == 1:
            rows.worths.append(MetricWorth(dimension, form, self.metrics[0], together))
            return
        for place, metric in enumerate(self.metrics):
            alone = []
            for sample in samples.values():
                totals = sample.totals(count, sample.values[:, place], finite=self.these_turns)
                alone.append(self._estimate([sample], [totals]).worth)
            rows.worths.append(MetricWorth(dimension, form, metric, _geometric_mean(alone)))
        rows.worths.append(MetricWorth(dimension, form, TOGETHER, together))


def _unit_count(samples: Iterable[RatedSample]) -> int:
    return 1 + max(int(sample.units.max()) for sample in samples)


def _both(
    samples: Mapping[str, RatedSample], totals: Mapping[str, UnitTotals], first: str, second: str
) -> tuple[list[RatedSample], list[UnitTotals]]:
    return [samples[first], samples[second]], [totals[first], totals[second]]


def _system(dimension: str, form: Form, system: str, places: tuple[int, int], found: PoweredEstimate) -> SystemEstimate:
    powered, classical = (_within(bounds, form) for bounds in (found.powered, found.classical))
    return SystemEstimate(
        dimension=dimension,
        form=form,
        system=system,
        value=powered.value,
        low=defined(powered.low),
        high=defined(powered.high),
        error=defined(powered.error),
        classical=classical.value,
        classical_low=defined(classical.low),
        classical_high=defined(classical.high),
        worth=defined(found.worth),
        slope=found.slope,
        rated=places[0],
        turns=places[1],
        units=found.units,
        method=found.method,
    )


def _pair(dimension: str, form: Form, names: tuple[str, str], found: PoweredEstimate) -> PairEstimate:
    powered, classical = (_within(bounds, form) for bounds in (found.powered, found.classical))
    return PairEstimate(
        dimension=dimension,
        form=form,
        first=names[0],
        second=names[1],
        value=powered.value,
        low=defined(powered.low),
        high=defined(powered.high),
        p=defined(powered.p),
        p_holm=None,
        better=None,
        classical=classical.value,
        classical_low=defined(classical.low),
        classical_high=defined(classical.high),
        worth=defined(found.worth),
        units=found.units,
        method=found.method,
    )


def _within(bounds: Bounds, form: Form) -> Bounds:
    """A win rate's interval does not reach below 0 or above 1."""
    if form == "rating":
        return bounds
    return replace(bounds, low=max(bounds.low, 0.0), high=min(bounds.high, 1.0))


def _corrected(rows: Sequence[PairEstimate], confidence: float, null: float = 0.0) -> list[PairEstimate]:
    """With Holm's correction over all of them, and which of the two is better by it."""
    corrected = holm_corrected([row.p for row in rows])
    found = []
    for row, p in zip(rows, corrected, strict=True):
        clear = p is not None and p < 1 - confidence
        better = (row.first if row.value > null else row.second) if clear else None
        found.append(replace(row, p_holm=p, better=better))
    return found


def _geometric_mean(worths: Sequence[float]) -> float | None:
    known = [worth for worth in worths if np.isfinite(worth) and worth > 0]
    return float(np.exp(np.mean(np.log(known)))) if known else None
