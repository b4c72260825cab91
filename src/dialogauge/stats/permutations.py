"""Permutation tests of agreement. Is there any at all? P-values from ratings dealt out anew. Do two metrics agree with
people equally well? Then it would not matter which of them gave which score (Deutsch, Dror & Roth 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import kendall_rows, ranks, standard_rows

ENUMERATED_ORDERS = 7
"""Up to this many points all orders are gone through (5,040 at most), each once."""
ENUMERATED_SWAPS = 12
"""Up to this many things to swap all swaps are gone through (4,096 at most), each once."""
ORDER_CELLS, SWAP_CELLS = 2_000_000, 4_000_000
ROUNDING = 1e-9
"""Correlations that differ by less are equal."""
SWAPS_PER_PAIR = 100
"""A p-value from R swaps is at least 1/(R + 1), and Holm's correction multiplies it by the number of pairs: with 100
swaps for each pair, the smallest corrected p-value stays at a fifth of 0.05."""
DECIMALS = 12
"""Of systems' standardised scores: what differs beyond them differs by rounding, and is a tie."""

PairValues = dict[tuple[int, int], float]
"""The p-value of each pair of columns; NaN where a correlation is undefined."""
RowStatistic = Callable[[Floats, Floats], Floats]


def permutation_p(
    x: Floats, y: Floats, draws: int, rng: np.random.Generator, wider: Floats | None = None
) -> dict[str, Floats]:
    """Two-sided p of each column of x, by "pearson" and "spearman": the share of orders of y, the one at hand included,
    in which the correlation is as far from 0. NaN where the correlation is undefined.

    Dealing out points takes them for independent. Where they are not, `wider` says for each coefficient and column by
    how much more the correlation varies."""
    values = {"pearson": (x.T, y), "spearman": (ranks(x.T), ranks(y))}
    sides = {name: (standard_rows(own), standard_rows(people)) for name, (own, people) in values.items()}
    least = {name: np.abs(own @ people) - ROUNDING for name, (own, people) in sides.items()}
    if wider is not None:
        least = {name: values / wider[place] for place, (name, values) in enumerate(least.items())}
    as_far = {name: np.zeros(x.shape[1]) for name in sides}
    count = 0
    for orders in _orders(len(y), draws, rng):
        count += len(orders)
        for name, (own, people) in sides.items():
            as_far[name] += (np.abs(people[orders] @ own.T) >= least[name]).sum(0)
    return {name: _share(as_far[name], count, len(y) <= ENUMERATED_ORDERS, least[name]) for name in sides}


def kendall_permutation_p(x: Floats, y: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The same for Kendall's tau-b, which looks at all pairs: for as few points as there are systems."""
    least = np.abs(kendall_rows(x.T, y[None])) - ROUNDING
    as_far, count = np.zeros(x.shape[1]), 0
    for orders in _orders(len(y), draws, rng):
        count += len(orders)
        for column, values in enumerate(x.T):
            as_far[column] += (np.abs(kendall_rows(values[None], y[orders])) >= least[column]).sum()
    return _share(as_far, count, len(y) <= ENUMERATED_ORDERS, least)


def swaps_for(metrics: int, resamples: int) -> int:
    """As many swaps as resamples were asked for, or more where there are many pairs."""
    return max(resamples, SWAPS_PER_PAIR * metrics * (metrics - 1) // 2)


def swap_points(x: Floats, y: Floats, units: NDArray[np.int64], swaps: int, rng: np.random.Generator) -> PairValues:
    """Two-sided p by Pearson's r. Scores are standardised and change places in each unit with probability one half; p
    is the share of swaps, the scores at hand included, in which the correlations differ as much. Of ranks, the test is
    Spearman's, without ranking what was swapped anew."""
    x, y = np.sqrt(len(y)) * standard_rows(x.T).T, standard_rows(y)
    observed = y @ x / np.sqrt(len(y))
    pairs = list(combinations(range(x.shape[1]), 2))
    first, second = (x[:, list(side)] for side in zip(*pairs, strict=True))
    difference = second - first
    # What a swap adds to the first column's products with y, its sum and its squares, it takes from the second's.
    products, squares = difference * y[:, None], second**2 - first**2
    count = int(units.max()) + 1
    least = np.abs(observed[[a for a, _ in pairs]] - observed[[b for _, b in pairs]]) - ROUNDING
    as_far, done = np.zeros(len(pairs)), 0
    for drawn in _swaps(count, swaps, rng, len(y)):
        swapped = drawn[:, units] if count < len(y) or not np.array_equal(units, np.arange(count)) else drawn
        gain, shift, more = swapped @ products, swapped @ difference / len(y), swapped @ squares / len(y)
        one = (y @ first + gain) / np.sqrt(len(y) * np.maximum(1 + more - shift**2, ROUNDING))
        other = (y @ second - gain) / np.sqrt(len(y) * np.maximum(1 - more - shift**2, ROUNDING))
        as_far += (np.abs(one - other) >= least).sum(0)
        done += len(drawn)
    return _p_values(pairs, as_far, done, count, least)


def swap_entries(
    x: Floats, people: Floats, systems: NDArray[np.int64], swaps: int, rng: np.random.Generator, rows: RowStatistic
) -> PairValues:
    """PERM-BOTH at system level: standardised scores of single turns change places, each with probability one half,
    before they are averaged by system. `people` has a rating for each system, `rows` correlates."""
    x = np.sqrt(len(x)) * standard_rows(x.T).T
    places = [np.flatnonzero(systems == system) for system in range(len(people))]
    means = np.array([x[mine].mean(0) for mine in places])
    least_of = _Least(means, people, rows)
    pairs, as_far, done = least_of.pairs, np.zeros(len(least_of.pairs)), 0
    first, second = (list(side) for side in zip(*pairs, strict=True))
    difference = x[:, second] - x[:, first]
    for swapped in _swaps(len(x), swaps, rng, max(len(x), len(people) * len(pairs))):
        done += len(swapped)
        moved = np.stack([swapped[:, mine] @ difference[mine] / len(mine) for mine in places], axis=1)
        for place, (a, b) in enumerate(pairs):
            gain = moved[:, :, place]
            as_far[place] += least_of.as_far(place, means[:, a] + gain, means[:, b] - gain)
    return _p_values(pairs, as_far, done, len(x), least_of.least)


def swap_systems(
    scores: Floats, people: Floats, swaps: int, rng: np.random.Generator, rows: RowStatistic
) -> PairValues:
    """PERM-SYS: standardised scores of whole systems change places. For scores that are no means over turns."""
    scores = standard_rows(scores.T).T
    least_of = _Least(scores, people, rows)
    pairs, as_far, done = least_of.pairs, np.zeros(len(least_of.pairs)), 0
    for swapped in _swaps(len(people), swaps, rng, len(people)):
        done += len(swapped)
        for place, (a, b) in enumerate(pairs):
            moved = swapped * (scores[:, b] - scores[:, a])
            as_far[place] += least_of.as_far(place, scores[:, a] + moved, scores[:, b] - moved)
    return _p_values(pairs, as_far, done, len(people), least_of.least)


def _orders(n: int, draws: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """All orders of n points, or so many random ones, in blocks."""
    if n <= ENUMERATED_ORDERS:
        yield np.array(list(permutations(range(n))))
        return
    block = max(1, ORDER_CELLS // n)
    for start in range(0, draws, block):
        yield rng.permuted(np.broadcast_to(np.arange(n), (min(block, draws - start), n)), axis=1)


class _Least:
    """How far apart correlations must be to count as far apart as those at hand."""

    def __init__(self, scores: Floats, people: Floats, rows: RowStatistic) -> None:
        self.pairs = list(combinations(range(scores.shape[1]), 2))
        self._people, self._rows = people[None], rows
        observed = rows(np.round(scores.T, DECIMALS), self._people)
        self.least = np.array([abs(observed[a] - observed[b]) - ROUNDING for a, b in self.pairs])

    def as_far(self, place: int, one: Floats, other: Floats) -> int:
        """In how many rows. A swap that leaves a metric with one score for all systems shows no difference."""
        one, other = np.round(one, DECIMALS), np.round(other, DECIMALS)
        found = np.abs(self._rows(one, self._people) - self._rows(other, self._people))
        return int((found >= self.least[place]).sum())


def _swaps(count: int, swaps: int, rng: np.random.Generator, widest: int) -> Iterator[Floats]:
    """1 where scores change places: all ways to swap, or so many random ones, in blocks."""
    if count <= ENUMERATED_SWAPS:
        yield np.array(list(product((0.0, 1.0), repeat=count)))
        return
    block = max(1, SWAP_CELLS // widest)
    for start in range(0, swaps, block):
        yield rng.integers(2, size=(min(block, swaps - start), count), dtype=np.int8).astype(np.float64)


def _p_values(pairs: list[tuple[int, int]], as_far: Floats, done: int, count: int, least: Floats) -> PairValues:
    return dict(zip(pairs, _share(as_far, done, count <= ENUMERATED_SWAPS, least).tolist(), strict=True))


def _share(as_far: Floats, done: int, enumerated: bool, least: Floats) -> Floats:
    """All orders or swaps hold the one at hand; random ones do not, and it is added."""
    added = 0 if enumerated else 1
    return np.where(np.isnan(least), np.nan, (as_far + added) / (done + added))
