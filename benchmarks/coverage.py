"""How often the intervals of `fbd` hold what they are for, on vectors whose populations are known.

    python benchmarks/coverage.py [DRAWS]

`fbd[est=extrapolated]`: the distance between the exact means and covariances. Plain `fbd`: the score of another sample
of the same size. Both should be 95 %. No interval of the former is printed with no more vectors than dimensions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from dialogauge.evaluation.intervals import Resampler
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.base import Floats
from dialogauge.metrics.distance.fbd import Fbd
from dialogauge.metrics.distance.frechet import frechet_of_covariances
from dialogauge.metrics.distance.paired_rows import PairedRows
from dialogauge.stats.resampling import ANOTHER_SAMPLE, NO_INTERVAL, Jackknife
from dialogauge.tables import Cell, Header, Table, to_text

Kind = Literal["gaussians", "mixtures", "paired"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Population:
    """Two sides in d dimensions. Gaussians: one with all variances 1, one with variances from 0.3 to 3 along axes of
    its own, the means apart. Mixtures: each side two such Gaussians, apart, of unequal share. Paired: Gaussians that
    have half their variance from a context they share."""

    kind: Kind
    d: int

    @property
    def axes(self) -> Floats:
        rng = np.random.default_rng(self.d)
        return np.asarray(np.linalg.qr(rng.normal(size=(self.d, self.d)))[0] * np.sqrt(np.linspace(0.3, 3, self.d)))

    @property
    def shift(self) -> Floats:
        return np.full(self.d, 2 / np.sqrt(self.d))

    @property
    def modes(self) -> Floats:
        """Where a mixture's second part lies, seen from its first, on either side."""
        first = np.zeros((2, self.d))
        first[0, : self.d // 4] = 0.8
        first[1, : self.d // 2] = -0.5
        return first

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        x, y = rng.normal(size=(2, n, self.d))
        if self.kind == "paired":
            context = rng.normal(size=(n, self.d))
            x, y = (x + context) / np.sqrt(2), (y + context) / np.sqrt(2)
        y = y @ self.axes.T + self.shift
        if self.kind == "mixtures":
            x += (rng.random(n) < 0.3)[:, None] * self.modes[0]
            y += (rng.random(n) < 0.6)[:, None] * self.modes[1]
        return x, y

    @property
    def distance(self) -> float:
        """Between the exact means and covariances."""
        means, covariances = [np.zeros(self.d), self.shift], [np.eye(self.d), self.axes @ self.axes.T]
        if self.kind == "mixtures":
            for side, share in enumerate((0.3, 0.6)):
                mode = self.modes[side]
                means[side] = means[side] + share * mode
                covariances[side] = covariances[side] + share * (1 - share) * np.outer(mode, mode)
        return frechet_of_covariances(means[0], covariances[0], means[1], covariances[1])


@dataclass(frozen=True)
class Job:
    population: Population
    n: int
    seed: int


def statistic_of(x: Floats, y: Floats, paired: bool) -> Jackknife:
    """As a run scores them: paired rows as references and responses, others as real conversations beside responses."""
    metric, n = Fbd(estimate="extrapolated"), len(x)
    ones, none, uncut = np.ones(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    keys = np.arange(2 * n, dtype=np.uint64)
    if paired:
        rows, units, real = PairedRows.from_vectors(x, ones, y, keys[:n], uncut), keys[:n], None
    else:
        own, beside = (
            PairedRows.from_vectors(x[:0], none, y, keys[:n], uncut),
            PairedRows.from_vectors(x, ones, y[:0], keys[n:], uncut),
        )
        rows, units, real = metric.join([own, beside]), keys, keys[n:]
    sample = Sample("fbd", "s", metric, n, "", units, metric.summarise(rows), rows, real_units=real)
    return Resampler([sample], Settings()).jackknife(sample)[""]


def one(job: Job) -> tuple[float, float, float, float, float, float]:
    """The plain score with its interval, and the extrapolated one with its."""
    rng = np.random.default_rng([job.seed, job.n, job.population.d])
    found = statistic_of(*job.population.draw(job.n, rng), job.population.kind == "paired")
    plain = found._replace(extrapolated=False)
    another = plain.interval(0.95, (0, np.inf), ANOTHER_SAMPLE)
    enough = job.n > job.population.d
    return (plain.estimate, *another, found.estimate, *(found.interval(0.95) if enough else NO_INTERVAL))


def settings() -> Iterator[tuple[Population, int]]:
    for kind, times in product(KINDS, (0.5, 1, 2, 3, 10)):
        yield Population(kind, 32), int(times * 32)
    for kind, times in (("gaussians", 1), *product(KINDS[:2], (2, 3)), ("paired", 3)):
        yield Population(kind, 384), times * 384


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    rows = []
    with ProcessPoolExecutor() as pool:
        for population, n in settings():
            jobs = [Job(population, n, seed) for seed in range(draws)]
            rows.append(_row(population, n, np.array(list(pool.map(one, jobs, chunksize=4)))))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    names = ("n", "distance", "plain", "another sample", "extrapolated", "bias left", "coverage", "width")
    headers = [Header("vectors", align="left"), Header("d"), *(Header(name) for name in names)]
    notes = [
        f"{draws} draws of each; the standard error of a share of 95 % is {np.sqrt(0.95 * 0.05 / draws):.1%}",
        "plain, extrapolated: mean scores; bias left: the extrapolated one's, as a share of the plain one's",
        "another sample: plain intervals that hold the next draw's score",
        "coverage: extrapolated intervals that hold the distance; width: their mean",
    ]
    print(to_text(Table(headers, rows, notes)))


def _row(population: Population, n: int, found: Floats) -> list[Cell]:
    plain, low, high, value, below, above = found.T
    truth = population.distance
    another = np.roll(plain, -1)
    inside = np.mean((low <= another) & (another <= high))
    left = abs(value.mean() - truth) / abs(plain.mean() - truth)
    covered = "no interval" if np.isnan(below).all() else f"{np.mean((below <= truth) & (truth <= above)):.1%}"
    wide = "" if np.isnan(below).all() else f"{np.mean(above - below):.2f}"
    texts = (
        f"{truth:.3f}",
        f"{plain.mean():.3f}",
        f"{inside:.1%}",
        f"{value.mean():.3f}",
        f"{left:.1%}",
        covered,
        wide,
    )
    return [Cell(population.kind), Cell(str(population.d)), Cell(str(n)), *map(Cell, texts)]


if __name__ == "__main__":
    main()
