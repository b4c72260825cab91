"""Speed of resampled correlations beside SciPy's functions in a loop: same resamples, one thread, process, as ratios.

    python benchmarks/agreement.py [TURNS]

Twelve metrics against ratings with ties on TURNS turns, 10,000 by default: a thousand bootstrap resamples that all
metrics share, a thousand permutations of the ratings, and Kendall's tau by itself. SciPy gets the drawn places ready
made and does a part of the thousand, both with a call for each metric and, where it can, with one for all; what is the
same number by both ways is compared.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import Resampling, kendall, kendall_influence
from dialogauge.stats.permutations import _orders, permutation_p
from dialogauge.stats.resampling import percentile_interval, point_weights
from dialogauge.tables import Cell, Header, Table, to_text

METRICS, RATERS = 12, 3
RESAMPLES, SHARE, ROUNDS = 1000, 20, 3
SEED = 2026
SAME = 1e-9

Places = NDArray[np.int64]
Job = Callable[[], Floats]
Peer = Callable[[Floats, Floats], Floats]
"""From metrics, (metrics, turns), and ratings to a correlation for each metric."""


def pearson_each(x: Floats, y: Floats) -> Floats:
    return np.array([pearsonr(row, y).statistic for row in x])


def pearson_at_once(x: Floats, y: Floats) -> Floats:
    return np.asarray(pearsonr(x, y[None], axis=1).statistic)


def spearman_each(x: Floats, y: Floats) -> Floats:
    return np.array([spearmanr(row, y).statistic for row in x])


def spearman_at_once(x: Floats, y: Floats) -> Floats:
    """Ranks each list once, and correlates metrics with each other, too."""
    return np.asarray(spearmanr(np.concatenate([x, y[None]]), axis=1).statistic)[-1, :-1]


def kendall_each(x: Floats, y: Floats) -> Floats:
    return np.array([kendalltau(row, y).statistic for row in x])


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    x, y = _data(n)
    rows = [*_bootstrap(x, y), *_permutations(x, y)]
    kendall_row, apart = _kendall(x, y)
    headers = [
        Header("job", align="left"),
        Header("scipy", align="left"),
        *map(Header, ("ours", "scipy's, scaled", "times as fast")),
    ]
    notes = [
        f"{METRICS} metrics, {n:,} turns, ratings are means of {RATERS} raters from 1 to 5",
        f"seconds, the best of {ROUNDS} rounds, one thread; they vary between machines, the ratios less",
        f"scipy: {SHARE} of {RESAMPLES} resamples or permutations, times {RESAMPLES // SHARE}; it picks the drawn turns"
        " and computes p-values as well",
        f"all correlations but Kendall's are scipy's to {SAME:g} on that part, and so are p-values of the permutations",
        apart,
    ]
    print(to_text(Table(headers, [*rows, kendall_row], notes)))


def _data(n: int) -> tuple[Floats, Floats]:
    """Metrics from no agreement (three of them) to much; every third has few values and with them many ties."""
    rng = np.random.default_rng(SEED)
    quality = rng.normal(size=n)
    ratings = np.clip(np.rint(3 + quality[:, None] + rng.normal(size=(n, RATERS))), 1, 5).mean(1)
    strength = np.linspace(-0.3, 1, METRICS).clip(0)
    x = strength * quality[:, None] + rng.normal(size=(n, METRICS))
    x[:, ::3] = np.rint(4 * x[:, ::3]) / 4
    return x, ratings


def _bootstrap(x: Floats, y: Floats) -> Iterator[list[Cell]]:
    turns = np.arange(len(y))

    def ours(*names: str, resamples: int = RESAMPLES) -> Floats:
        """(coefficients, resamples, metrics)."""
        resampling = Resampling(x, y)
        blocks = [
            [getattr(resampling, name)(weights) for name in names]
            for weights in point_weights(turns, resamples, np.random.default_rng(SEED))
        ]
        return np.concatenate(blocks, axis=1)

    drawn = _drawn(len(y))
    columns = np.ascontiguousarray(x.T)

    def theirs(*peers: Peer) -> Floats:
        found = []
        for places in drawn:
            picked, ratings = columns[:, places], y[places]
            found.append([peer(picked, ratings) for peer in peers])
        return np.swapaxes(found, 0, 1)

    def row(names: tuple[str, ...], way: str, *peers: Peer) -> list[Cell]:
        _check(ours(*names, resamples=SHARE), theirs(*peers))
        job = f"{RESAMPLES:,} resamples, {' and '.join(name.title() for name in names)}"
        return _row(job, way, lambda: ours(*names), lambda: theirs(*peers))

    yield row(("pearson",), "a call a metric", pearson_each)
    yield row(("pearson",), "a call for all", pearson_at_once)
    yield row(("spearman",), "a call a metric", spearman_each)
    yield row(("spearman",), "a call for all", spearman_at_once)
    yield row(("pearson", "spearman"), "a call a metric", pearson_each, spearman_each)
    yield row(("pearson", "spearman"), "a call for all", pearson_at_once, spearman_at_once)


def _permutations(x: Floats, y: Floats) -> Iterator[list[Cell]]:
    columns = np.ascontiguousarray(x.T)
    orders = np.concatenate(list(_orders(len(y), SHARE, np.random.default_rng(SEED))))

    def ours(draws: int = RESAMPLES) -> Floats:
        return np.array(list(permutation_p(x, y, draws, np.random.default_rng(SEED)).values()))

    def theirs(*peers: Peer) -> Floats:
        return np.array([[peer(columns, y[order]) for order in orders] for peer in peers])

    ways: dict[str, tuple[Peer, Peer]] = {
        "a call a metric": (pearson_each, spearman_each),
        "a call for all": (pearson_at_once, spearman_at_once),
    }
    for way, peers in ways.items():
        observed = np.array([peer(columns, y) for peer in peers])
        as_far = (np.abs(theirs(*peers)) >= np.abs(observed)[:, None] - SAME).sum(1)
        _check(ours(SHARE), (as_far + 1) / (SHARE + 1))
        job = f"{RESAMPLES:,} permutations, Pearson and Spearman"
        yield _row(job, way, ours, partial(theirs, *peers))


def _kendall(x: Floats, y: Floats) -> tuple[list[Cell], str]:
    turns, drawn, columns = np.arange(len(y)), _drawn(len(y)), np.ascontiguousarray(x.T)

    def ours(resamples: int = RESAMPLES) -> Floats:
        influence = np.column_stack([kendall_influence(column, y) for column in columns])
        tau = np.array([kendall(column, y) for column in columns])
        blocks = point_weights(turns, resamples, np.random.default_rng(SEED))
        return np.concatenate([np.clip(tau + (weights - 1) @ influence, -1, 1) for weights in blocks])

    def theirs() -> Floats:
        return np.array([kendall_each(columns[:, places], y[places]) for places in drawn])

    apart = np.abs(ours(SHARE) - theirs()).max()
    low, high = percentile_interval(ours()[:, -1], 0.95)
    note = f"Kendall, to first order: at most {apart:.5f} from scipy's there; intervals are some {high - low:.3f} wide"
    return _row(f"{RESAMPLES:,} resamples, Kendall", "a call a metric", ours, theirs), note


def _drawn(n: int) -> list[Places]:
    """The turns of the first resamples."""
    blocks = point_weights(np.arange(n), SHARE, np.random.default_rng(SEED))
    return [np.repeat(np.arange(n), row.astype(np.int64)) for block in blocks for row in block]


def _check(mine: Floats, other: Floats) -> None:
    apart = np.abs(mine - other).max()
    if not apart <= SAME:
        raise SystemExit(f"ours and scipy's differ by {apart}")


def _row(job: str, way: str, ours: Job, theirs: Job) -> list[Cell]:
    mine, other = float("inf"), float("inf")
    for _ in range(ROUNDS):
        mine, other = min(mine, _seconds(ours)), min(other, _seconds(theirs) * RESAMPLES / SHARE)
    return [Cell(job), Cell(way), Cell(f"{mine:.2f}"), Cell(f"{other:.1f}"), Cell(f"{other / mine:.1f}")]


def _seconds(job: Job) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
