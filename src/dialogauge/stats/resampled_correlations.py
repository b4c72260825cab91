"""Correlations of many resamples at once. A resample is how often each point is drawn in it: no point is copied and,
for Spearman, no list is sorted again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats

PAIRS = 2_000_000
"""Pairs of points looked at in one go."""
CONSTANT = 1e-13
"""A variance below this share of all points' is rounding: the resample never differs."""
KENDALL_POINTS = 20_000
"""The most points whose pairs are looked at for Kendall's interval."""


class Resampling:
    """The correlations of columns of `x` with `y` in every resample."""

    def __init__(self, x: Floats, y: Floats) -> None:
        self._x, self._y = _standard(x), _standard(y[:, None])[:, 0]
        self._products = self._x * self._y[:, None]
        self._columns = [Ranking(column) for column in x.T]
        self._people = Ranking(y)

    def pearson(self, weights: Floats) -> Floats:
        """(resamples, columns)."""
        total = weights.sum(1, keepdims=True)
        mean_x, mean_y = weights @ self._x / total, (weights @ self._y)[:, None] / total
        variance_x = weights @ self._x**2 / total - mean_x**2
        variance_y = (weights @ self._y**2)[:, None] / total - mean_y**2
        return _ratio(weights @ self._products / total - mean_x * mean_y, variance_x, variance_y)

    def spearman(self, weights: Floats) -> Floats:
        """(resamples, columns), ranked anew in every resample."""
        total = weights.sum(1)
        mean = (total + 1) / 2
        own_ranks, spread = self._people.ranks(weights)
        weighted = weights * (own_ranks[:, self._people.group] - mean[:, None])
        found = np.empty((len(weights), len(self._columns)))
        for place, column in enumerate(self._columns):
            ranks, variance = column.ranks(weights)
            products = np.einsum("ri,ri->r", ranks, column.add(weighted))
            found[:, place] = _ratio(products / total, variance, spread)
        return found


class Ranking:
    """The order of a list, from which the ranks in any resample follow by adding up weights."""

    def __init__(self, values: Floats) -> None:
        self._order = np.argsort(values, kind="stable")
        ordered = values[self._order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        self._starts = starts if len(starts) < len(values) else None
        self.group = np.empty(len(values), dtype=np.int64)
        self.group[self._order] = np.cumsum(np.bincount(starts, minlength=len(values))) - 1
        """The place of each point's value among the different values."""

    def add(self, weights: Floats) -> Floats:
        """The weights of each different value, from the smallest up."""
        ordered = weights[:, self._order]
        return ordered if self._starts is None else np.add.reduceat(ordered, self._starts, axis=1)

    def ranks(self, weights: Floats) -> tuple[Floats, Floats]:
        """The rank of each different value, ties and copies sharing the mean of theirs, and the variance of all ranks.
        Where a value was not drawn, its rank counts for nothing."""
        weights = self.add(weights)
        ranks = np.cumsum(weights, axis=1) - (weights - 1) / 2
        total = weights.sum(1)
        mean = (total + 1) / 2
        return ranks, np.einsum("ri,ri,ri->r", weights, ranks, ranks) / total - mean**2


def kendall_influence(x: Floats, y: Floats) -> Floats:
    """How much tau-b changes as a point gets more weight. Tau of a resample is tau plus the influences times how much
    more than once each point was drawn, to first order: exact enough where points are many, at the price of one look at
    all pairs."""
    order_x, order_y = _dense(x), _dense(y)
    concordant, apart_x, apart_y = (np.empty(len(x)) for _ in range(3))
    block = max(1, PAIRS // len(x))
    for start in range(0, len(x), block):
        part = slice(start, start + block)
        signs_x, signs_y = _signs(order_x[part], order_x), _signs(order_y[part], order_y)
        concordant[part] = np.multiply(signs_x, signs_y).sum(1, dtype=np.int64)
        apart_x[part], apart_y[part] = np.count_nonzero(signs_x, axis=1), np.count_nonzero(signs_y, axis=1)
    total_x, total_y = apart_x.sum(), apart_y.sum()
    if not total_x or not total_y:
        return np.full(len(x), np.nan)
    root = np.sqrt(total_x * total_y)
    tau = concordant.sum() / root
    return np.asarray(2 * concordant / root - tau * (apart_x / total_x + apart_y / total_y))


def _signs(some: NDArray[np.int32], all_of_them: NDArray[np.int32]) -> NDArray[np.int8]:
    more, less = some[:, None] > all_of_them, some[:, None] < all_of_them
    return np.subtract(more, less, dtype=np.int8)


def _dense(values: Floats) -> NDArray[np.int32]:
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def _standard(x: Floats) -> Floats:
    centred = x - x.mean(0)
    centred = centred / np.where((largest := np.abs(centred).max(0)) > 0, largest, 1)  # squares of 1e-200 are 0
    deviation = centred.std(0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1))


def _ratio(covariance: Floats, first: Floats, second: Floats) -> Floats:
    """The correlation; NaN where a side never differs."""
    differs = (first > CONSTANT) & (second > CONSTANT)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(differs, np.clip(covariance / np.sqrt(first * second), -1, 1), np.nan)
