"""How often the intervals of `estimate` hold the truth, on simulated studies whose truth is known.

    python -m benchmarks.estimate_coverage [STUDIES]

Ratings are whole numbers from 1 to 5, skewed to the upper end, means of two raters; turns of one dialogue have 30 % of
their variance in common. A corpus has about 2,000 turns. `contexts`: every turn has a context of its own. `dialogues`:
one to many turns each (geometric, 3.3 on average), whole dialogues are rated until there are n turns. `turns of
dialogues`: n turns drawn from all. Metrics are on another scale than ratings, and biased; `useless` has nothing to do
with them, `wrong way` falls where they rise. Intervals should hold in 95 % of studies; 2,000 studies tell 95 from 94.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from dialogauge.evaluation.options import Settings
from dialogauge.people.estimate.estimate_result import PairEstimate, SystemEstimate
from dialogauge.people.estimate.rows import EstimateRows, Estimating
from dialogauge.people.estimate.samples import RatedSample
from dialogauge.people.estimate.strengths import Outcome, fit_strengths
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Header, Table, to_text

METRICS = {"useless": 0.0, "wrong way": -0.5, "fair": 0.5, "good": 0.8}
"""By name the correlation of the metric with what ratings are drawn from."""
SIZES = (50, 100, 200, 500)
TURNS = 2000
COMMON = 0.3


class Interval95(NamedTuple):
    """Whether both intervals held the truth, how wide ours was beside the classical one, and what it stood on."""

    held: bool
    classical_held: bool
    width: float


@dataclass(frozen=True)
class Study:
    """What is simulated: one row of the table."""

    target: str
    shape: str
    metric: str
    n: int

    def simulated(self, seed: int) -> list[Interval95]:
        rng = np.random.default_rng([seed, self.n, len(self.shape), len(self.metric), len(self.target)])
        return TARGETS[self.target](self, rng)


class Turns(NamedTuple):
    """Ratings and metrics of all turns of all systems: place i is the same context."""

    units: NDArray[np.int64]
    ratings: Floats
    """(systems, turns)"""
    values: Floats
    """(systems, turns, metrics)"""


def units_of(shape: str, rng: np.random.Generator) -> NDArray[np.int64]:
    if shape == "contexts":
        return np.arange(TURNS)
    return np.repeat(np.arange(TURNS // 3), rng.geometric(0.3, TURNS // 3))


def normal(units: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Standard normal, correlated within units."""
    own = rng.normal(size=len(units))
    return np.asarray(np.sqrt(COMMON) * rng.normal(size=units.max() + 1)[units] + np.sqrt(1 - COMMON) * own)


def simulate(study: Study, rng: np.random.Generator, means: Floats, metrics: int = 1) -> Turns:
    """Systems share half of what makes a reply to a context good."""
    units = units_of(study.shape, rng)
    shared = normal(units, rng)
    ratings, values = [], []
    for mean in means:
        quality = np.sqrt(0.5) * shared + np.sqrt(0.5) * normal(units, rng)
        share = METRICS[study.metric]
        noise = [normal(units, rng) for _ in range(metrics)]
        values.append(np.stack([3 + 7 * (share * quality + np.sqrt(1 - share**2) * each) for each in noise], axis=1))
        raters = [np.clip(np.round(mean + quality + 0.6 * rng.normal(size=len(units))), 1, 5) for _ in range(2)]
        ratings.append(np.mean(raters, axis=0))
    return Turns(units, np.array(ratings), np.array(values))


def expected(mean: float) -> float:
    """The mean of ratings that are drawn around a mean: N(mean, 1 + 0.36), rounded and cut off."""
    from scipy.special import ndtr

    edges = ndtr((np.arange(1.5, 5) - mean) / np.sqrt(1.36))
    return float(np.arange(1, 6) @ np.diff(np.concatenate([[0.0], edges, [1.0]])))


def rated_places(study: Study, units: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    if study.shape == "dialogues":
        order = rng.permutation(units.max() + 1)
        until = np.searchsorted(np.cumsum(np.bincount(units)[order]), study.n) + 1
        return np.isin(units, order[:until])
    chosen = np.zeros(len(units), dtype=np.bool_)
    chosen[rng.choice(len(units), study.n, replace=False)] = True
    return chosen


def judged(row: SystemEstimate | PairEstimate, truth: float) -> Interval95:
    if row.low is None or row.high is None or row.classical_low is None or row.classical_high is None:
        return Interval95(False, False, float("nan"))
    width = (row.high - row.low) / (row.classical_high - row.classical_low)
    return Interval95(row.low <= truth <= row.high, row.classical_low <= truth <= row.classical_high, width)


def settings(rng: np.random.Generator) -> Settings:
    return Settings(seed=int(rng.integers(2**31)), resamples=300)


def mean(study: Study, rng: np.random.Generator, metrics: int = 1, these_turns: bool = False) -> list[Interval95]:
    turns = simulate(study, rng, np.array([4.2]), metrics)
    rated = rated_places(study, turns.units, rng)
    sample = RatedSample(("s",), turns.units, np.where(rated, turns.ratings[0], np.nan), turns.values[0])
    rows = EstimateRows()
    Estimating([""] * metrics, settings(rng), these_turns).means("", {"s": sample}, rows)
    return [judged(rows.systems[0], float(turns.ratings[0].mean()) if these_turns else expected(4.2))]


def five_metrics(study: Study, rng: np.random.Generator) -> list[Interval95]:
    return mean(study, rng, metrics=5)


def of_these_turns(study: Study, rng: np.random.Generator) -> list[Interval95]:
    return mean(study, rng, these_turns=True)


def unequal_probability(study: Study, rng: np.random.Generator) -> list[Interval95]:
    """Units of the lowest of five strata by the metric are eight times as likely to be rated as those of the
    highest."""
    turns = simulate(study, rng, np.array([4.2]))
    scores = np.bincount(turns.units, turns.values[0, :, 0]) / np.bincount(turns.units)
    stratum = np.argsort(np.argsort(scores)) * 5 // len(scores)
    chance = np.array([8.0, 4.0, 3.0, 2.0, 1.0])[stratum]
    chance *= study.n / (np.bincount(turns.units) @ chance)
    chosen = np.zeros(len(scores), dtype=np.bool_)
    for each in range(5):
        members = np.flatnonzero(stratum == each)
        chosen[rng.choice(members, max(2, round(chance[members].sum())), replace=False)] = True
    rated = chosen[turns.units]
    weights = np.where(rated, 1 / chance[turns.units], 0.0)
    ratings = np.where(rated, turns.ratings[0], np.nan)
    rows = EstimateRows()
    sample = RatedSample(("s",), turns.units, ratings, turns.values[0], weights)
    Estimating([""], settings(rng)).means("", {"s": sample}, rows)
    return [judged(rows.systems[0], expected(4.2))]


def difference(study: Study, rng: np.random.Generator, together: bool = True) -> list[Interval95]:
    turns = simulate(study, rng, np.array([4.2, 3.9]))
    rated = [rated_places(study, turns.units, rng)] * 2 if together else []
    rated = rated or [rated_places(study, turns.units, rng) for _ in range(2)]
    samples = {
        name: RatedSample((name,), turns.units, np.where(own, ratings, np.nan), values)
        for name, own, ratings, values in zip("ab", rated, turns.ratings, turns.values, strict=True)
    }
    rows = EstimateRows()
    Estimating([""], settings(rng)).means("", samples, rows)
    return [judged(rows.pairs[0], expected(4.2) - expected(3.9))]


def other_contexts(study: Study, rng: np.random.Generator) -> list[Interval95]:
    return difference(study, rng, together=False)


MARGIN = 0.4
"""Replies that seem nearer to each other than this are a tie."""


def preferences(study: Study, rng: np.random.Generator) -> tuple[list[Interval95], list[Interval95]]:
    """Of three systems, every pair on contexts of its own: the pairs' win rates, and each system's against the
    others."""
    from scipy.special import ndtr

    means = np.array([4.2, 4.0, 3.6])
    units = units_of(study.shape, rng)
    shared, share = normal(units, rng), METRICS[study.metric]
    quality = [m + np.sqrt(0.5) * (shared + normal(units, rng)) for m in means]
    values = [share * q + np.sqrt(1 - share**2) * normal(units, rng) for q in quality]
    samples, outcomes, truths = {}, [], {}
    for first, second in ((0, 1), (0, 2), (1, 2)):
        seen = quality[first] - quality[second] + np.sqrt(0.72) * rng.normal(size=len(units))
        points, ties = np.where(np.abs(seen) < MARGIN, 0.5, seen > 0), np.abs(seen) < MARGIN
        rated = rated_places(study, units, rng)
        names = (f"s{first}", f"s{second}")
        samples[names] = RatedSample(
            names,
            units,
            np.where(rated, points, np.nan),
            (values[first] - values[second])[:, None],
            None,
            np.where(rated, ties, np.nan),
        )
        won, not_lost = (float(ndtr((means[first] - means[second] - m) / np.sqrt(1.72))) for m in (MARGIN, -MARGIN))
        truths[names] = (won + not_lost) / 2
        outcomes.append(Outcome(first, second, 1.0, truths[names], not_lost - won))
    rows = EstimateRows()
    Estimating([""], settings(rng)).win_rates("", ["s0", "s1", "s2"], samples, rows)
    strengths = fit_strengths(3, outcomes)
    if strengths is None or not rows.systems:
        raise RuntimeError("expected strengths")
    pairs = [judged(row, truths[row.first, row.second]) for row in rows.pairs]
    return pairs, [judged(row, strengths.win_rate(place)[0]) for place, row in enumerate(rows.systems)]


def pair_win_rate(study: Study, rng: np.random.Generator) -> list[Interval95]:
    return preferences(study, rng)[0]


def win_rate(study: Study, rng: np.random.Generator) -> list[Interval95]:
    return preferences(study, rng)[1]


TARGETS: dict[str, Callable[[Study, np.random.Generator], list[Interval95]]] = {
    "mean": mean,
    "mean, five metrics": five_metrics,
    "mean, unequal probability": unequal_probability,
    "mean of these turns": of_these_turns,
    "difference": difference,
    "difference, other contexts": other_contexts,
    "win rate of a pair": pair_win_rate,
    "win rate (Bradley-Terry)": win_rate,
}


def studies() -> Iterator[Study]:
    for shape in ("contexts", "dialogues", "turns of dialogues"):
        for metric in METRICS:
            for n in SIZES:
                yield Study("mean", shape, metric, n)
    for target in list(TARGETS)[1:]:
        for shape in ("contexts", "dialogues"):
            for metric in ("useless", "good"):
                for n in (50, 200, 500):
                    yield Study(target, shape, metric, n)


def row(study: Study, number: int) -> list[str]:
    found = [each for seed in range(number) for each in study.simulated(seed)]
    kept = [each for each in found if not np.isnan(each.width)]
    shares = [f"{100 * np.mean([getattr(each, name) for each in kept]):.1f}" for name in ("held", "classical_held")]
    widths = np.array([each.width for each in kept])
    return [
        study.target,
        study.shape,
        study.metric,
        str(study.n),
        *shares,
        f"{widths.mean():.2f}",
        f"{widths.max():.2f}",
    ]


def main(number: int) -> None:
    names = ("estimate of", "units", "metric", "n", "held, %", "classical, %", "width", "widest")
    rows = []
    with ProcessPoolExecutor(max_workers=2) as pool:
        every = list(studies())
        for texts in pool.map(row, every, [number] * len(every)):
            rows.append([Cell(text) for text in texts])
            print(" | ".join(texts), file=sys.stderr, flush=True)
    notes = [
        f"{number} studies in each row; of win rates three numbers each",
        "width: of our interval beside the classical one, mean and largest",
    ]
    print(to_text(Table([Header(name, align="left") for name in names], rows, notes)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
