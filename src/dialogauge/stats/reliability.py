"""How well people agree with each other, whoever they are: ratings of one item are exchangeable, and their order means
nothing. A rating that is None was not given and counts nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import pearson_rows, spearman_rows

DRAWS = 200
_CELLS = 1 << 21
"""Means held at once: draws times items."""
_DECIMALS = 12
"""Of means of ratings scaled to 0..1. What differs beyond them differs by rounding, and is a tie."""


@dataclass(frozen=True)
class Reliability:
    """How well the raters of some items agree. NaN where a number is undefined."""

    n: int
    """Items with two ratings or more; all that follows is of these."""
    fewest_raters: int
    most_raters: int
    alpha: float
    """Krippendorff's, of the items, also where they are grouped."""
    split_half: float
    """Of the mean over all raters: half of them against the other half, after Spearman and Brown."""
    pearson: float
    """One rater with the mean of the others."""
    spearman: float


def spearman_brown(r: float, times: float = 2) -> float:
    """The reliability of the mean over so many times the raters, m r / (1 + (m - 1) r) (Spearman 1910; Brown 1910). An
    r below 0 stays as it is: it is no reliability, and the formula would make any number of it."""
    return times * r / (1 + (times - 1) * r) if r >= 0 else r


def reliability(
    ratings: Sequence[Sequence[float | None]], groups: NDArray[np.int64] | None, seed: int
) -> Reliability | None:
    """How well the raters agree; None where no item has two ratings.

    `groups` numbers the dialogue or the system of each item: what is correlated are then means over each group's items
    with two ratings or more. Correlations are means over 200 draws, those left out in which one side never differs;
    NaN for fewer than three items or groups. Spearman-Brown takes the halves as equal: with an odd number of raters
    they are not, and the reliability comes out a little low."""
    table = rating_table(ratings)
    rated = _counts(table) >= 2
    if not rated.any():
        return None
    table = table[rated]
    counts = _counts(table)
    mean_by_group = _grouping(np.arange(len(table)) if groups is None else groups[rated])
    low, high = np.nanmin(table), np.nanmax(table)
    scaled = (table - low) / (high - low if high > low else 1.0)
    rng = np.random.default_rng([seed, 2])
    split, pearson, spearman = [], [], []
    for draws in _blocks(len(table)):
        first, second = map(mean_by_group, halves(scaled, draws, rng))
        one, others = map(mean_by_group, one_and_others(scaled, draws, rng))
        split.append(pearson_rows(first, second))
        pearson.append(pearson_rows(one, others))
        spearman.append(spearman_rows(one, others))
    enough = first.shape[1] >= 3
    return Reliability(
        n=len(table),
        fewest_raters=int(counts.min()),
        most_raters=int(counts.max()),
        alpha=krippendorff_alpha(table),
        split_half=spearman_brown(_mean(split)) if enough else np.nan,
        pearson=_mean(pearson) if enough else np.nan,
        spearman=_mean(spearman) if enough else np.nan,
    )


def rating_table(ratings: Sequence[Sequence[float | None]]) -> Floats:
    """What the functions below take: (items, most ratings), each item's ratings, then NaN."""
    given = [[rating for rating in item if rating is not None] for item in ratings]
    table = np.full((len(given), max(map(len, given), default=0)), np.nan)
    for row, item in zip(table, given, strict=True):
        row[: len(item)] = item
    return table


def _counts(table: Floats) -> NDArray[np.int64]:
    return np.asarray((~np.isnan(table)).sum(axis=1), dtype=np.int64)


def krippendorff_alpha(table: Floats) -> float:
    """Krippendorff's alpha with the interval metric: 1 is perfect agreement, 0 is what chance gives, and less than 0 is
    disagreement beyond chance.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": alpha = 1 - Do / De, where Do is the mean squared
    difference of ratings of the same item, each rating counted once, and De that of any two ratings. The squared
    differences of all ordered pairs of m numbers sum to 2m times their squared deviations from their mean, so with
    n ratings in all, m of item u,

        alpha = 1 - (n - 1) / n * (sum over u of m / (m - 1) * SS_u) / SS

    SS_u is about the item's mean and SS about that of all ratings. Items with fewer than two ratings are left out. NaN
    for fewer than two items, and where no two ratings differ."""
    table = table[_counts(table) >= 2]
    if len(table) < 2 or np.nanmin(table) == np.nanmax(table):
        return float("nan")
    counts = _counts(table)
    n = counts.sum()
    within = np.nansum((table - np.nanmean(table, axis=1, keepdims=True)) ** 2, axis=1)
    total = np.nansum((table - np.nanmean(table)) ** 2)
    return float(1 - (n - 1) / n * (counts / (counts - 1) * within).sum() / total)


def ordinal_alpha(table: Floats) -> float:
    """Krippendorff's alpha with the ordinal metric, for which only the order of ratings counts.

    Its difference of two ratings is the number of ratings from one to the other, those equal to either counted half:
    the difference of their ranks, where ties share the mean rank. So it is the interval alpha of the ranks."""
    pairable = table[_counts(table) >= 2]
    ranks = np.full(pairable.shape, np.nan)
    given = ~np.isnan(pairable)
    _, places, counts = np.unique(pairable[given], return_inverse=True, return_counts=True)
    ranks[given] = (np.cumsum(counts) - counts / 2)[places]
    return krippendorff_alpha(ranks)


def halves(table: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The means of the two halves into which each item's ratings are split at random, anew in every draw: two arrays
    (draws, items). Of an odd number the second half is the larger. NaN for items with fewer than two ratings."""
    counts = _counts(table)
    missing, values = np.isnan(table), np.nan_to_num(table)
    in_first = np.arange(table.shape[1]) < counts[:, None] // 2
    sums = np.empty((draws, len(table)))
    for draw in range(draws):
        keys = rng.random(table.shape)
        keys[missing] = 1.0
        shuffled = np.take_along_axis(values, np.argsort(keys, axis=1), axis=1)
        sums[draw] = shuffled.sum(axis=1, where=in_first)
    size = np.where(counts >= 2, counts // 2, np.nan)
    return sums / size, (values.sum(axis=1) - sums) / (counts - size)


def one_and_others(table: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """One of each item's ratings, at random and anew in every draw, and the mean of its others: two arrays (draws,
    items). NaN for items with fewer than two ratings."""
    counts = _counts(table)
    if not table.size:
        return np.full((draws, len(table)), np.nan), np.full((draws, len(table)), np.nan)
    chosen = rng.integers(np.maximum(counts, 1), size=(draws, len(table)))
    one = np.where(counts >= 2, table[np.arange(len(table)), chosen], np.nan)
    return one, (np.nansum(table, axis=1) - one) / np.maximum(counts - 1, 1)


def _grouping(groups: NDArray[np.int64]) -> Callable[[Floats], Floats]:
    """What takes (draws, items) to the means over each group's items, (draws, groups)."""
    order = np.argsort(groups, kind="stable")
    _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)

    def mean_by_group(values: Floats) -> Floats:
        return np.asarray(np.round(np.add.reduceat(values[:, order], starts, axis=1) / sizes, _DECIMALS))

    return mean_by_group


def _blocks(items: int) -> Iterator[int]:
    """How many draws to make at a time."""
    most = max(1, _CELLS // items)
    for start in range(0, DRAWS, most):
        yield min(most, DRAWS - start)


def _mean(blocks: Sequence[Floats]) -> float:
    values = np.concatenate(blocks)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")
