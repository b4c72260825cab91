"""How often intervals of correlations with people hold the truth, and how often tests are wrong where there is nothing
to find, on data whose populations are known.

    python benchmarks/agreement_level.py [DRAWS]

Intervals should hold the truth 95 times in a hundred, and p-values be at most 0.05 five times in a hundred where there
is no association or no difference.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Literal

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from dialogauge import Corpus, Turn, correlate
from dialogauge.agreement.system_level import ROWS
from dialogauge.agreement.turn_level import correlate_points
from dialogauge.evaluation.options import Settings
from dialogauge.stats.arrays import Floats
from dialogauge.stats.permutations import swap_entries, swap_systems
from dialogauge.stats.resampling import percentile_interval
from dialogauge.tables import Cell, Header, Table, to_text

TURNS, LENGTH = 150, 5
SHARED = 0.5
"""The part of the variance that turns of one dialogue share."""
SYSTEMS, CONTEXTS = 10, 100
RESAMPLES, RESAMPLES_OF_SYSTEMS = 500, 300
DATA = 2**31
"""Keeps the streams that data come from apart from the library's, which start with the seed."""
ALPHA = 0.05
COEFFICIENTS = ("pearson", "spearman", "kendall")
TESTED = ("pearson", "spearman")
TESTS = ("PERM-BOTH", "PERM-SYS")
PAIR = (0, 1)


def truths(rho: float) -> Floats:
    """Pearson's, Spearman's and Kendall's correlation of a bivariate Gaussian (Kruskal 1958)."""
    return np.array([rho, 6 / np.pi * np.arcsin(rho / 2), 2 / np.pi * np.arcsin(rho)])


def gaussians(rho: float, n: int, rng: np.random.Generator) -> Floats:
    """(n, 2), with variances 1."""
    x, y = rng.normal(size=(2, n))
    return np.column_stack([x, rho * x + np.sqrt(1 - rho**2) * y])


@dataclass(frozen=True)
class Turns:
    """One metric and ratings, both Gaussian. In dialogues, either has a part that all turns of a dialogue share; both
    parts correlate as the sums do. `known` says whether the dialogues are known."""

    dialogues: bool
    known: bool
    rho: float

    @property
    def name(self) -> str:
        return "independent" if not self.dialogues else "dialogues" if self.known else "dialogues, not known"

    def __call__(self, seed: int) -> Floats:
        """For each coefficient whether the interval holds the truth, and whether p is at most 0.05."""
        rng = np.random.default_rng([DATA, seed, round(100 * self.rho), self.dialogues])
        alone, of_dialogue = np.arange(TURNS), np.arange(TURNS) // LENGTH
        points = gaussians(self.rho, TURNS, rng)
        if self.dialogues:
            whole = gaussians(self.rho, TURNS // LENGTH, rng)[of_dialogue]
            points = np.sqrt(SHARED) * whole + np.sqrt(1 - SHARED) * points
        units = of_dialogue if self.dialogues and self.known else alone
        found = correlate_points(points[:, :1], points[:, 1], units, Settings(seed, RESAMPLES)).coefficients
        bounds = np.array([found[name].bounds[0] for name in COEFFICIENTS])
        p = np.array([found[name].p[0] for name in COEFFICIENTS])
        return np.concatenate([_inside(bounds[:, 1], truths(self.rho), bounds[:, 2]), p <= ALPHA])


Kind = Literal["independent", "alike", "skewed", "dialogues", "unknown", "contexts", "own"]
KINDS: dict[Kind, str] = {
    "independent": "independent noise",
    "alike": "noise that correlates by 0.8",
    "skewed": "noise skewed to either side",
    "dialogues": "noise of a dialogue and of a turn",
    "unknown": "the same, dialogues not known",
    "contexts": "noise of a context and of a turn",
    "own": "noise of a system and of a turn",
}


@dataclass(frozen=True)
class Pair:
    """Two metrics: the quality of a turn, times a strength, plus noise. Ratings are quality plus noise. With noise that
    is skewed to the right in one and to the left in the other, metrics of one strength cannot stand for each other, yet
    agree equally well by any coefficient: all else is symmetric."""

    kind: Kind
    strengths: tuple[float, float]

    @property
    def name(self) -> str:
        return KINDS[self.kind]

    def noise(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, 2), of variance 1."""
        if self.kind == "alike":
            return gaussians(0.8, n, rng)
        noise = rng.normal(size=(n, 2))
        if self.kind == "skewed":
            noise = np.array([1.0, -1.0]) * (rng.exponential(size=(n, 2)) - 1)
        return noise


@dataclass(frozen=True)
class PairOfTurns(Pair):
    """Tested on single turns; of dialogues that are known, all scores of one change places together. Ratings, too, have
    noise of a dialogue."""

    def __call__(self, seed: int) -> Floats:
        """Whether p is at most 0.05, for each coefficient that compares."""
        rng = np.random.default_rng([DATA, seed, *_numbers(self)])
        quality, noise = rng.normal(size=(TURNS, 1)), self.noise(TURNS, rng)
        units, opinion = np.arange(TURNS), rng.normal(size=(TURNS, 1))
        if self.kind in ("dialogues", "unknown"):
            of_dialogue = units // LENGTH
            quality, noise, opinion = (
                np.sqrt(SHARED) * rng.normal(size=part.shape)[of_dialogue] + np.sqrt(1 - SHARED) * part
                for part in (quality, noise, opinion)
            )
            units = of_dialogue if self.kind == "dialogues" else units
        x, y = quality * self.strengths + noise, (quality + opinion)[:, 0]
        found = correlate_points(x, y, units, Settings(seed, RESAMPLES)).coefficients
        return np.array([(found[name].tests or {})[PAIR] <= ALPHA for name in TESTED])


@dataclass(frozen=True)
class PairOfSystems(Pair):
    """Tested on whole systems, which differ in quality by a standard deviation of 0.3; either metric may
    favour some contexts, whoever responds, by a standard deviation of 1, or some systems, by 0.2."""

    def __call__(self, seed: int) -> Floats:
        """Whether p is at most 0.05, for each coefficient that compares: by PERM-BOTH, then by PERM-SYS."""
        rng = np.random.default_rng([DATA, seed, *_numbers(self)])
        n = SYSTEMS * CONTEXTS
        systems = np.repeat(np.arange(SYSTEMS), CONTEXTS)
        quality = 0.3 * rng.normal(size=(SYSTEMS, 1))[systems] + rng.normal(size=(n, 1))
        x, y = quality * self.strengths + self.noise(n, rng), quality[:, 0] + rng.normal(size=n)
        if self.kind == "contexts":
            x += np.tile(rng.normal(size=(CONTEXTS, 2)), (SYSTEMS, 1))
        if self.kind == "own":
            x += 0.2 * rng.normal(size=(SYSTEMS, 2))[systems]
        scores, people = x.reshape(SYSTEMS, CONTEXTS, 2).mean(1), y.reshape(SYSTEMS, CONTEXTS).mean(1)
        both = [swap_entries(x, people, systems, RESAMPLES, rng, ROWS[name])[PAIR] for name in TESTED]
        whole = [swap_systems(scores, people, RESAMPLES, rng, ROWS[name])[PAIR] for name in TESTED]
        return np.asarray(np.array([*both, *whole]) <= ALPHA, dtype=np.float64)


@dataclass(frozen=True)
class Systems:
    """Systems whose true scores by people and metric are Gaussian with variances 1; each turn has noise of variance 1
    in both, and each context a part of variance 1 that all systems share."""

    systems: int
    rho: float

    def __call__(self, seed: int) -> Floats:
        """For each coefficient whether the interval holds the truth, whether p is at most 0.05, and the width."""
        rng = np.random.default_rng([DATA, seed, self.systems, round(100 * self.rho)])
        true = gaussians(self.rho, self.systems, rng)
        points = true[:, None] + rng.normal(size=(CONTEXTS, 2)) + rng.normal(size=(self.systems, CONTEXTS, 2))
        turns = [
            Turn(str(i), "x", (f"context {i}",), system=str(system), ratings={"overall": (y,)}, extra={"value": x})
            for system, rows in enumerate(points.tolist())
            for i, (x, y) in enumerate(rows)
        ]
        options = {"level": "system", "seed": seed, "resamples": RESAMPLES_OF_SYSTEMS}
        (row,) = correlate(Corpus(turns), "column[name=value]", **options).rows  # type: ignore[arg-type]
        low, high, p = (
            np.array([getattr(row, f"{name}_{end}") for name in COEFFICIENTS], dtype=np.float64)
            for end in ("low", "high", "p")
        )
        return np.concatenate([_inside(low, truths(self.rho), high), p <= ALPHA, high - low])


@dataclass(frozen=True)
class BootstrapAlone:
    """Systems whose scores are known without noise, resampled and nothing else: what intervals would be if they could
    be narrower than Fisher's."""

    systems: int
    rho: float

    def __call__(self, seed: int) -> Floats:
        """For each coefficient whether the middle 95 % of resamples hold the truth."""
        rng = np.random.default_rng([DATA, seed, self.systems, round(100 * self.rho), 1])
        points = gaussians(self.rho, self.systems, rng)
        x, y = points[rng.integers(self.systems, size=(RESAMPLES, self.systems))].transpose(2, 0, 1)
        bounds = np.array([percentile_interval(ROWS[name](x, y), 1 - ALPHA) for name in COEFFICIENTS])
        return _inside(bounds[:, 0], truths(self.rho), bounds[:, 1])


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with ProcessPoolExecutor() as pool:
        simulate = partial(_simulate, pool, draws)
        for group in (_turns, _pairs_of_turns, _pairs_of_systems, _systems, _bootstrap_alone):
            for one in group(simulate):
                one.notes.append(f"{draws} draws of each, with the standard error of the share beside it")
                print(to_text(one), end="\n\n", flush=True)


def _simulate(pool: Executor, draws: int, job: Callable[[int], Floats]) -> Floats:
    """(draws, what the job gives)."""
    found = np.array(list(pool.map(job, range(draws), chunksize=10)), dtype=np.float64)
    print(".", end="", file=sys.stderr, flush=True)
    return found


Simulate = Callable[[Callable[[int], Floats]], Floats]


def _turns(simulate: Simulate) -> Iterator[Table]:
    kinds = ((False, True), (True, True), (True, False))
    jobs = [Turns(*kind, rho) for kind, rho in product(kinds, (0, 0.3, 0.7))]
    found = [simulate(job) for job in jobs]
    named = list(zip(jobs, found, strict=True))
    notes = [
        f"{TURNS} turns, alone or in {TURNS // LENGTH} dialogues, which have half the variance; {RESAMPLES} resamples"
    ]
    yield _table(
        ("intervals of single turns that hold it", "Pearson's r", *COEFFICIENTS),
        [[job.name, f"{job.rho}", *_shares(rows[:, :3])] for job, rows in named],
        notes,
    )
    yield _table(
        ("p of single turns at most 0.05", *COEFFICIENTS),
        [[job.name, *_shares(rows[:, 3:])] for job, rows in named if not job.rho],
        [*notes, "no association; dialogues that are not known: what permutations of turns alone would say"],
    )


def _pairs_of_turns(simulate: Simulate) -> Iterator[Table]:
    kinds: tuple[Kind, ...] = ("independent", "alike", "skewed", "dialogues", "unknown")
    jobs = [
        *(PairOfTurns(kind, (0.8, 0.8)) for kind in kinds),
        *(PairOfTurns(kind, (1.2, 0.6)) for kind in ("independent", "dialogues")),
    ]
    yield _table(
        ("PERM-BOTH of single turns at most 0.05", "strengths", *TESTED),
        [[job.name, _strengths(job), *_shares(simulate(job))] for job in jobs],
        [f"{TURNS} turns, {RESAMPLES} swaps, not corrected for the number of pairs"],
    )


def _pairs_of_systems(simulate: Simulate) -> Iterator[Table]:
    kinds: tuple[Kind, ...] = ("independent", "alike", "skewed", "contexts", "own")
    jobs = [
        *(PairOfSystems(kind, (0.8, 0.8)) for kind in kinds),
        *(PairOfSystems(kind, (0.8, 0.2)) for kind in ("independent", "contexts", "own")),
    ]
    yield _table(
        ("systems: p at most 0.05", "strengths", *(f"{test}, {name}" for test, name in product(TESTS, TESTED))),
        [[job.name, _strengths(job), *_shares(simulate(job))] for job in jobs],
        [f"{SYSTEMS} systems, {CONTEXTS} turns of each, {RESAMPLES} swaps (PERM-SYS: all there are)"],
    )


def _systems(simulate: Simulate) -> Iterator[Table]:
    jobs = [Systems(systems, rho) for rho, systems in product((0, 0.7), (4, 8, 11, 20))]
    named = [(job, simulate(job)) for job in jobs]
    notes = [f"{CONTEXTS} contexts, {RESAMPLES_OF_SYSTEMS} resamples; the truth is that of the scores without noise"]
    widths = [f"width, {name}" for name in COEFFICIENTS]
    yield _table(
        ("systems: intervals that hold it", "Pearson's r", *COEFFICIENTS, *widths),
        [
            [str(job.systems), f"{job.rho}", *_shares(rows[:, :3]), *(f"{mean:.2f}" for mean in rows[:, 6:].mean(0))]
            for job, rows in named
        ],
        notes,
    )
    yield _table(
        ("systems: p at most 0.05", *COEFFICIENTS),
        [[str(job.systems), *_shares(rows[:, 3:6])] for job, rows in named if not job.rho],
        [*notes, "no association"],
    )


def _bootstrap_alone(simulate: Simulate) -> Iterator[Table]:
    jobs = [BootstrapAlone(systems, rho) for systems, rho in product((4, 8, 11, 20), (0, 0.9))]
    yield _table(
        ("bootstrap alone: intervals that hold it", "Pearson's r", *COEFFICIENTS),
        [[str(job.systems), f"{job.rho}", *_shares(simulate(job))] for job in jobs],
        [f"systems without noise, {RESAMPLES} resamples of them; what is printed by us is no narrower than Fisher's"],
    )


def _inside(low: Floats, truth: Floats, high: Floats) -> Floats:
    return np.asarray((low <= truth) & (truth <= high), dtype=np.float64)


def _numbers(pair: Pair) -> list[int]:
    return [list(KINDS).index(pair.kind), *(round(100 * strength) for strength in pair.strengths)]


def _strengths(pair: Pair) -> str:
    return " and ".join(map(str, pair.strengths))


def _shares(found: Floats) -> list[str]:
    shares = found.mean(0)
    errors = np.sqrt(shares * (1 - shares) / len(found))
    return [f"{share:.1%} ± {error:.1%}" for share, error in zip(shares, errors, strict=True)]


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], notes: list[str]) -> Table:
    heads = [Header(text, align="right" if place else "left") for place, text in enumerate(headers)]
    return Table(heads, [[Cell(text) for text in row] for row in rows], list(notes))


if __name__ == "__main__":
    main()
