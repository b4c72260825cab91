"""What a distance would be if real and generated were exchangeable: draws where nothing but chance tells two sides
apart, and the floor that every score stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import Caveat
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Groups, Sample, jackknife
from dialogauge.evaluation.units import Keys
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.distance.distribution import OUT, TO_GENERATED, TO_REAL, DistributionMetric, Plan
from dialogauge.metrics.distance.paired_rows import PairedRows, PairedSummary
from dialogauge.stats.resampling import GROUPS

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Score

NullDraws = dict[str, Floats]
"""By part, one plain value for each null draw."""
Extrapolation = dict[str, float]
"""By part, what extrapolation adds to a value by chance alone, on average."""
SWAPS, SPLITS, EXCHANGES = 200, 40, 100
HALF_SPLITS = 10
"""Splits of half the real data, which say how fast the floor falls with the size."""
EXTRAPOLATED = 5
"""Of so many draws the extrapolated value is found too; it differs from the plain one by nearly the same in all."""
PIECES, FEWEST = 400, 20
"""Whole units are dealt out in about so many pieces, of which a small side has at least so many."""

ALPHA = 0.05
EVEN = 10
"""Units that the smaller part of a split must have."""
POWERFUL = 200
"""Units below which a test finds only large differences: of 100 contexts of Daily(Z), random replies are just found."""
ROUNDING = 1e-9


class Floor(NamedTuple):
    """`value` is the mean over draws in which nothing but chance tells the sides apart. `p` is the share of draws, the
    score itself included, that are as bad as the score."""

    value: float
    p: float
    needed: float
    """The score from which on one would call the sides different."""
    way: str
    """"swaps"; "splits", with the p-value from exchanges; "exchanges", where a split would be too uneven; or "splits
    alone", where there are too many turns to keep."""


def floors_of(sample: Sample, metric: DistributionMetric[Any], groups: Groups, settings: Settings) -> dict[str, Floor]:
    """The floor of the main value and of the parts that have one. The test compares plain values, also where the score
    is extrapolated: those of draws and of the sample come about in the same way, to the last digit."""
    rng = np.random.default_rng([settings.seed, 2])
    if sample.real_units is not None:
        floors, draws, change, way = _beside(sample, metric, sample.real_units, rng)
    elif sample.summary.real.n != sample.summary.generated.n:
        return {}
    else:
        draws, change = swaps(metric, groups, rng)
        floors, way = {part: values + change[part] for part, values in draws.items()}, "swaps"
    if not floors:
        return {}
    values = metric.conclude(sample.summary)
    higher = metric.higher_is_better is True
    return {
        part: floor_of(floors[part], draws[part], float(values[part]), change[part], higher, way)
        for part in metric.judged
    }


def floor_of(floors: Floats, draws: Floats, score: float, change: float, higher_is_better: bool, way: str) -> Floor:
    """From draws of the floor and of the test; `change` is what extrapolation adds to the values of the latter."""
    sign = -1.0 if higher_is_better else 1.0
    floors, draws = floors[~np.isnan(floors)], draws[~np.isnan(draws)]
    if not len(draws) or not len(floors) or np.isnan(score):
        return Floor(np.nan, np.nan, np.nan, way)
    slack = ROUNDING * abs(score)
    as_bad = int(np.count_nonzero(sign * draws >= sign * score - slack))
    needed = sign * float(np.quantile(sign * draws, 1 - ALPHA, method="higher"))
    return Floor(float(floors.mean()), (1 + as_bad) / (1 + len(draws)), needed + change, way)


def floor_caveats(scores: Sequence[Score], columns: Sequence[str], unit: str) -> list[Caveat]:
    """Which scores say nothing but that real and generated differ by no more than chance."""
    caveats = []
    for metric in columns:
        inside = [score for score in scores if score.metric == metric and score.p is not None and score.p > ALPHA]
        if not inside:
            continue
        names = ", ".join(f"{score.system} (p = {score.p:.2f})" for score in inside)
        message = f"{metric}: no difference from the real side is shown for {names}: the score is inside its floor"
        fewest = min(score.units for score in inside)
        if fewest < POWERFUL:
            message += f". With {fewest} {unit} the test has little power: that is no sign of being as good as real"
        caveats.append(Caveat("inside_floor", message))
    return caveats


def swaps(metric: DistributionMetric[Any], groups: Groups, rng: np.random.Generator) -> tuple[NullDraws, Extrapolation]:
    """Response and reference change places in half of the units, or of groups of units where they are many."""
    present = [summary for summary in groups.summaries if summary is not None]
    plans = [_swap(chosen) for chosen in rng.integers(2, size=(SWAPS, len(present))).astype(np.bool_)]
    draws = _values(metric, metric.recombine(present, plans))
    return draws, _change(metric, (list(zip(present, plan, strict=True)) for plan in plans))


@dataclass(frozen=True)
class Pieces:
    """Summaries of a few whole units each, all of one side, with how many of their vectors count."""

    summaries: list[PairedSummary[Any]]
    sizes: NDArray[np.int64]

    @classmethod
    def from_rows(
        cls, metric: DistributionMetric[Any], rows: PairedRows, units: Keys, count: int, rng: np.random.Generator
    ) -> Pieces:
        known, places = np.unique(units, return_inverse=True)
        members = (rng.permutation(len(known)) % min(count, len(known)))[places]
        order = np.argsort(members, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(members[order])) + 1)
        return cls.kept(metric, [metric.summarise(rows[part]) for part in parts])

    @classmethod
    def kept(cls, metric: DistributionMetric[Any], summaries: Sequence[PairedSummary[Any]]) -> Pieces:
        """Without the vectors that do not count, where the metric counts only some."""
        bounded = metric.bounded(summaries)
        return cls(bounded, np.array([summary.real.kept + summary.generated.kept for summary in bounded]))

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())

    def __add__(self, other: Pieces) -> Pieces:
        return Pieces([*self.summaries, *other.summaries], np.concatenate([self.sizes, other.sizes]))

    def half(self, rng: np.random.Generator) -> Pieces:
        kept = np.flatnonzero(self._chosen(0.5, rng))
        return Pieces([self.summaries[place] for place in kept], self.sizes[kept])

    def plan(self, share: float, rng: np.random.Generator) -> Plan:
        """Pieces with about that share of all rows to the generated side, the others to the real one."""
        to = np.where(self._chosen(share, rng), TO_GENERATED, TO_REAL)
        return np.stack([to, to], axis=1).astype(np.int8)

    def _chosen(self, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """At least one piece and not all."""
        order = rng.permutation(len(self.sizes))
        taken = int(np.argmin(np.abs(np.cumsum(self.sizes[order]) - share * self.sizes.sum()))) + 1
        chosen = np.zeros(len(order), dtype=np.bool_)
        chosen[order[: min(taken, len(order) - 1)]] = True
        return chosen

    def null_draws(self, metric: DistributionMetric[Any], plans: Sequence[Plan]) -> NullDraws:
        return _values(metric, metric.recombine(self.summaries, plans))

    def change(self, metric: DistributionMetric[Any], plans: Sequence[Plan]) -> Extrapolation:
        return _change(metric, (list(zip(self.summaries, plan, strict=True)) for plan in plans))


def pieces_of(side: int, both: int) -> int:
    """Into how many pieces a side with so many rows is cut, where both have so many."""
    return max(FEWEST, round(PIECES * side / both))


def exchanges(
    metric: DistributionMetric[Any], pieces: Pieces, share: float, rng: np.random.Generator
) -> tuple[NullDraws, Extrapolation]:
    """Whole dialogues of both sides dealt out anew, as many to each side as there were."""
    plans = [pieces.plan(share, rng) for _ in range(EXCHANGES)]
    return pieces.null_draws(metric, plans), pieces.change(metric, plans)


def splits(metric: DistributionMetric[Any], real: Pieces, share: float, rng: np.random.Generator) -> NullDraws:
    """The real data in two parts whose sizes are to each other as those of the real and the generated side, brought to
    the sizes at hand: the parts are smaller by a factor, and the floor falls with a power of it."""
    plans = [real.plan(share, rng) for _ in range(SPLITS)]
    draws = real.null_draws(metric, plans)
    halves = [real.half(rng) for _ in range(HALF_SPLITS)] if len(real.sizes) > 3 else []
    small = [half.null_draws(metric, [half.plan(share, rng)]) for half in halves]
    change = real.change(metric, plans)
    return {
        part: _brought(metric, values, [draw[part][0] for draw in small], change[part], 1 - share)
        for part, values in draws.items()
    }


def _swap(chosen: NDArray[np.bool_]) -> Plan:
    real = np.where(chosen, TO_GENERATED, TO_REAL)
    return np.stack([real, np.where(chosen, TO_REAL, TO_GENERATED)], axis=1).astype(np.int8)


def _brought(
    metric: DistributionMetric[Any], draws: Floats, halves: Sequence[float], change: float, part: float
) -> Floats:
    """Draws at a part of the size, brought to the whole. What extrapolation leaves of their mean falls with the square
    of the size, since it has taken away what falls with the size itself."""
    middle, middle_of_halves = _mean(draws), _mean(np.array(halves))
    apart = middle - metric.ideal
    nearer = (middle_of_halves - metric.ideal) / apart if apart and not np.isnan(middle_of_halves) else 0.0
    scale = part ** metric.rate(nearer)
    if not metric.extrapolates:
        return np.asarray(metric.ideal + (draws - metric.ideal) * scale)
    return np.asarray((draws - middle) * scale + (middle + change) * part**2)


def _mean(values: Floats) -> float:
    """Of those that are defined; NaN where none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _values(metric: DistributionMetric[Any], drawn: Iterable[Values]) -> NullDraws:
    draws = list(drawn)
    return {part: np.array([float(values[part]) for values in draws]) for part in metric.judged}


def _change(metric: DistributionMetric[Any], sent: Iterable[list[tuple[PairedSummary[Any], Plan]]]) -> Extrapolation:
    """What extrapolation changes of each value, on average over a few draws; 0 where the metric has none of it."""
    changes: dict[str, list[float]] = {part: [] for part in metric.judged}
    if not metric.extrapolates:
        return dict.fromkeys(changes, 0.0)
    for _, pieces in zip(range(EXTRAPOLATED), sent, strict=False):
        groups = _grouped(metric, pieces)
        statistics = jackknife(metric, reduce(add, groups.summaries), *groups)
        for part, of_part in changes.items():
            of_part.append(statistics[part].estimate - statistics[part].value)
    return {part: float(np.mean(of_part)) for part, of_part in changes.items()}


def _grouped(metric: DistributionMetric[Any], pieces: list[tuple[PairedSummary[Any], Plan]]) -> Groups:
    """Pieces with their sides where a draw sends them, in no more groups than the jackknife has."""
    group_of = np.arange(len(pieces)) % min(len(pieces), GROUPS)
    plan = np.stack([plan for _, plan in pieces])
    plans = [np.where((group_of == group)[:, None], plan, OUT).astype(np.int8) for group in np.unique(group_of)]
    summaries = [summary for summary, _ in pieces]
    return Groups([metric.sent(summaries, plan) for plan in plans], np.bincount(group_of))


def _beside(
    sample: Sample, metric: DistributionMetric[Any], real_units: Keys, rng: np.random.Generator
) -> tuple[NullDraws, NullDraws, Extrapolation, str]:
    """Floors, draws of the test, what extrapolation adds to these, and the way they were found; nothing where the real
    side is a single unit. Where a split would leave hardly any units in one of its parts, the exchanges give the floor:
    they have the sizes at hand."""
    rows = sample.real_rows
    units = len(np.unique(real_units))
    if rows is None or units < 2:
        return {}, {}, {}, ""
    own, beside = sample.summary.n, len(rows)
    real = Pieces.from_rows(metric, rows, real_units, pieces_of(beside, own + beside), rng)
    share = own / (own + beside)
    floors: NullDraws = {}
    if units * min(share, 1 - share) >= EVEN:
        floors = splits(metric, real, share, rng)
    if sample.rows is None:
        return floors, floors, dict.fromkeys(floors, 0.0), "splits alone"
    mine = np.arange(len(sample.own_keys))
    generated = Pieces.from_rows(metric, sample.rows[mine], sample.own_keys, pieces_of(own, own + beside), rng)
    draws, change = exchanges(metric, real + generated, generated.rows / (real.rows + generated.rows), rng)
    if floors:
        return floors, draws, change, "splits"
    return {part: values + change[part] for part, values in draws.items()}, draws, change, "exchanges"
