"""What a distance would be if real and generated were exchangeable: the floor that every score stands on.

Where both answer the same contexts, response and reference change places in contexts chosen by chance. Where the real
conversations are others, they are split in two, dialogue by dialogue, one part in place of the generated ones. Either
way the floor is taken as the score is taken, with as much in common between the two sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import Caveat
from dialogauge.evaluation.resampling import GROUPS, Groups, jackknife
from dialogauge.evaluation.sample import Sample
from dialogauge.evaluation.settings import Settings
from dialogauge.metrics.base import Floats
from dialogauge.metrics.distribution import TO_GENERATED, TO_REAL, DistributionMetric
from dialogauge.metrics.sides import SideRows, Sides

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Score

SWAPS, SPLITS = 200, 100
HALF_SPLITS = 20
"""Splits of half the real data, which say how fast the floor falls with the size."""
EXTRAPOLATED = 5
"""Of so many draws the extrapolated value is found too; it differs from the plain one by nearly the same in all."""
ALPHA = 0.05
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
    """"swaps" or "splits"."""

    @property
    def inside(self) -> bool:
        """Whether the score does not stand out of what chance alone gives."""
        return self.p > ALPHA


def floors_of(
    sample: Sample, metric: DistributionMetric, groups: Groups, values: Mapping[str, float], settings: Settings
) -> dict[str, Floor]:
    """The floor of the main value and of the parts that have one; `values` are the scores themselves."""
    rng = np.random.default_rng([settings.seed, 2])
    if sample.real_units is None:
        draws, way = _swaps(metric, groups, rng), "swaps"
    else:
        draws, way = _splits(metric, sample, rng), "splits"
    return {part: _floor(draws[part], value, metric.higher_is_better is True, way) for part, value in values.items()}


def _floor(draws: Floats, score: float, higher_is_better: bool, way: str) -> Floor:
    sign = -1.0 if higher_is_better else 1.0
    draws = draws[~np.isnan(draws)]
    if not len(draws) or np.isnan(score):
        return Floor(np.nan, np.nan, np.nan, way)
    slack = ROUNDING * abs(score)
    as_bad = int(np.count_nonzero(sign * draws >= sign * score - slack))
    needed = sign * float(np.quantile(sign * draws, 1 - ALPHA, method="higher"))
    return Floor(float(draws.mean()), (1 + as_bad) / (1 + len(draws)), needed, way)


def _swaps(metric: DistributionMetric, groups: Groups, rng: np.random.Generator) -> dict[str, Floats]:
    """Units, or groups of them where they are many, change sides with probability one half."""
    present = Groups([s for s in groups.summaries if s is not None], groups.sizes[groups.sizes > 0])
    swapped = rng.integers(2, size=(SWAPS, len(present.summaries))).astype(np.bool_)
    draws = _values(metric, metric.recombine(present.summaries, [_exchange(chosen) for chosen in swapped]))
    if metric.extrapolates:
        change = _change(metric, (_exchanged(present, chosen) for chosen in swapped[:EXTRAPOLATED]))
        draws = {part: values + change[part] for part, values in draws.items()}
    return draws


def _exchange(chosen: NDArray[np.bool_]) -> NDArray[np.int8]:
    real = np.where(chosen, TO_GENERATED, TO_REAL)
    return np.stack([real, np.where(chosen, TO_REAL, TO_GENERATED)], axis=1).astype(np.int8)


def _exchanged(groups: Groups, chosen: NDArray[np.bool_]) -> Groups:
    pairs = zip(groups.summaries, chosen, strict=True)
    return Groups([summary.exchanged() if swap else summary for summary, swap in pairs], groups.sizes)


def _splits(metric: DistributionMetric, sample: Sample, rng: np.random.Generator) -> dict[str, Floats]:
    """The real data in two parts whose sizes are to each other as those of the real and the generated side, brought to
    the sizes at hand: the parts are smaller by a factor, and the floor falls with a power of it."""
    rows = metric.real_rows(sample.system)
    if rows is None or sample.real_units is None:
        return dict.fromkeys(metric.judged, np.empty(0))
    _, units = np.unique(sample.real_units, return_inverse=True)
    if not units.any():
        return dict.fromkeys(metric.judged, np.empty(0))
    share = sample.summary.n / (sample.summary.n + len(rows))
    masks = [_choose(units, share, rng) for _ in range(SPLITS)]
    draws = _values(metric, metric.split(rows, masks))
    rates = _rates(metric, rows, units, share, draws, rng)
    change = dict.fromkeys(draws, 0.0)
    if metric.extrapolates:
        change = _change(metric, (_grouped(metric, rows, units, mask, rng) for mask in masks[:EXTRAPOLATED]))
    return {part: _brought(metric, values, change[part], 1 - share, rates[part]) for part, values in draws.items()}


def _brought(metric: DistributionMetric, draws: Floats, change: float, part: float, rate: float) -> Floats:
    """Draws at a part of the size, brought to the whole. What extrapolation leaves of their mean falls with the square
    of the size, since it has taken away what falls with the size itself."""
    if not metric.extrapolates:
        return np.asarray(metric.ideal + (draws - metric.ideal) * part**rate)
    middle = np.nanmean(draws)
    return np.asarray((draws - middle) * part**rate + (middle + change) * part**2)


def _choose(units: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Rows of whole units, as near to that share of all rows as units allow, at least one unit and not all."""
    sizes = np.bincount(units)
    order = rng.permutation(len(sizes))
    taken = int(np.argmin(np.abs(np.cumsum(sizes[order]) - share * len(units)))) + 1
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[order[: min(taken, len(sizes) - 1)]] = True
    return chosen[units]


def _rates(
    metric: DistributionMetric,
    rows: SideRows,
    units: NDArray[np.int64],
    share: float,
    draws: Mapping[str, Floats],
    rng: np.random.Generator,
) -> dict[str, float]:
    """The power of 1/n by which each value falls towards the ideal, from splits of all real data and of half of it."""
    halves: list[Any] = []
    for _ in range(HALF_SPLITS):
        half = np.flatnonzero(_choose(units, 0.5, rng))
        _, own = np.unique(units[half], return_inverse=True)
        if own.any():
            halves += metric.split(rows[half], [_choose(own, share, rng)])
    found = _values(metric, halves)
    return {part: metric.rate(_nearer(found[part] - metric.ideal, draws[part] - metric.ideal)) for part in draws}


def _nearer(half: Floats, whole: Floats) -> float:
    """How many times as far from the ideal halves are; 0 where that cannot be said."""
    return float(np.nanmean(half) / np.nanmean(whole)) if len(half) and np.nanmean(whole) else 0.0


def _grouped(
    metric: DistributionMetric,
    rows: SideRows,
    units: NDArray[np.int64],
    mask: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Groups:
    """The two parts in groups of units, for the jackknife."""
    count = int(units.max()) + 1
    group_of = rng.permutation(count) % min(GROUPS, count)
    members = group_of[units]
    summaries = []
    for group in range(int(group_of.max()) + 1):
        (real, _), (generated, _) = (
            metric.sides(rows[np.flatnonzero((members == group) & which)]) for which in (~mask, mask)
        )
        summaries.append(Sides(generated.n, 0, real, generated))
    return Groups(summaries, np.bincount(group_of))


def _values(metric: DistributionMetric, summaries: Iterable[Any]) -> dict[str, Floats]:
    found: dict[str, list[float]] = {part: [] for part in metric.judged}
    for summary in summaries:
        values = metric.conclude(summary)
        for part, of_part in found.items():
            of_part.append(float(values[part]))
    return {part: np.array(of_part) for part, of_part in found.items()}


def _change(metric: DistributionMetric, draws: Iterable[Groups]) -> dict[str, float]:
    """What extrapolation changes of each value, on average over a few draws."""
    changes: dict[str, list[float]] = {part: [] for part in metric.judged}
    for groups in draws:
        statistics = jackknife(metric, reduce(add, groups.summaries), *groups)
        for part, of_part in changes.items():
            of_part.append(statistics[part].estimate - statistics[part].value)
    return {part: float(np.mean(of_part)) for part, of_part in changes.items()}


def of_floors(scores: Sequence[Score], columns: Sequence[str], unit: str) -> list[Caveat]:
    """Which scores say nothing but that real and generated differ by no more than chance."""
    found = []
    for metric in columns:
        inside = [score for score in scores if score.metric == metric and score.p is not None and score.p > ALPHA]
        if not inside:
            continue
        names = ", ".join(f"{score.system} (p = {score.p:.2f})" for score in inside)
        message = f"{metric}: no difference from the real side is shown for {names}: the score is inside its floor"
        fewest = min(score.units for score in inside)
        if fewest < POWERFUL:
            message += f". With {fewest} {unit} the test has little power: that is no sign of being as good as real"
        found.append(Caveat("inside_floor", message))
    return found
