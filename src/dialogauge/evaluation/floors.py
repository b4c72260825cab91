"""What a distance would be if real and generated were exchangeable: the floor that every score stands on.

Where both answer the same contexts, response and reference change places in contexts chosen by chance. Where the real
conversations are others, they are split in two, dialogue by dialogue, one part in place of the generated ones; and for
the p-value, dialogues of both sides are dealt out anew. Either way the floor is taken as the score is taken, with as
much in common between the two sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dialogauge.errors import Caveat
from dialogauge.evaluation.chance import Extrapolation, NullDraws, Pieces, exchanges, pieces_of, splits, swaps
from dialogauge.evaluation.sample import Groups, Sample
from dialogauge.evaluation.settings import Settings
from dialogauge.evaluation.units import Keys
from dialogauge.metrics.base import Floats
from dialogauge.metrics.distribution import DistributionMetric

if TYPE_CHECKING:
    from dialogauge.evaluation.result import Score

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
