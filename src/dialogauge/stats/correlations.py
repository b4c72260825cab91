"""How closely two lists of numbers go together, once or for many resamples at once; NaN where one of them never
differs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialogauge.stats.arrays import Floats, cosine

BAND_UNITS = 10
"""Units below which a fitted line has no band: its formula needs many."""
PAIRS = 2_000_000
"""Pairs of points looked at in one go."""
CONSTANT = 1e-13
"""A variance below this share of all points' is rounding: the resample never differs."""
KENDALL_POINTS = 20_000
"""The most points whose pairs are looked at for Kendall's interval."""


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r: of a straight line."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    return float(pearson_rows(x[None], y[None])[0]) if len(x) else np.nan


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rho: Pearson's r of the ranks, equal values with the mean of their ranks."""
    return pearson(ranks(x), ranks(y))


def kendall(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau-b: concordant less discordant pairs, as a share of the geometric mean of the pairs that differ in x
    and those that differ in y."""
    from scipy.stats import kendalltau

    x, y = np.asarray(x, float), np.asarray(y, float)
    return float(kendalltau(x, y).statistic) if _differs(x) and _differs(y) else np.nan


def uncentred_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """The cosine of the angle between the lists as vectors, as Ghazarian et al. 2019 report it. Not centred: it depends
    on where a scale has its zero, and is high for any two lists of positive numbers."""
    x, y = (side / (np.abs(side).max(initial=0.0) or 1.0) for side in (np.asarray(x, float), np.asarray(y, float)))
    return cosine(x, y) if x.any() and y.any() else np.nan


def pairwise_accuracy(x: ArrayLike, y: ArrayLike) -> float:
    """The share of all pairs that x orders as y does: apart in the same direction, or tied in both (acc_eq of Deutsch,
    Foster & Freitag 2023, *Ties Matter*, which mt-metrics-eval calls acc23; no threshold below which values count as
    tied)."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    pairs = len(x) * (len(x) - 1) / 2
    if not pairs or np.isnan(x).any() or np.isnan(y).any():
        return np.nan
    tied_x, tied_y, tied_both = _tied_pairs(x), _tied_pairs(y), _tied_pairs(np.column_stack([x, y]))
    apart = pairs - tied_x - tied_y + tied_both
    tau = kendall(x, y)
    surplus = 0.0 if np.isnan(tau) else tau * np.sqrt((pairs - tied_x) * (pairs - tied_y))
    return float(((apart + surplus) / 2 + tied_both) / pairs)


def concordance(x: ArrayLike, y: ArrayLike) -> float:
    """Of the pairs that differ in y, the share that x orders as y does; where x is tied, half a pair. With a y of two
    values it is the area under the ROC curve. NaN where all of y is the same."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    pairs = len(x) * (len(x) - 1) / 2
    apart_x, apart_y = pairs - _tied_pairs(x), pairs - _tied_pairs(y)
    if not apart_y:
        return np.nan
    surplus = kendall(x, y) * np.sqrt(apart_x * apart_y) if apart_x else 0.0
    return float((1 + surplus / apart_y) / 2)


def pearson_rows(x: Floats, y: Floats) -> Floats:
    """Pearson's r of each row of x with the same row of y; a single row goes with every row of the other."""
    x, y = standard_rows(x), standard_rows(y)
    return np.asarray(np.clip(np.einsum("...i,...i->...", x, y), -1, 1))


def spearman_rows(x: Floats, y: Floats) -> Floats:
    return pearson_rows(ranks(x), ranks(y))


def kendall_rows(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b of each row, from all pairs at once: for rows as short as a list of systems."""
    first, second = np.triu_indices(x.shape[-1], 1)
    count = max(len(x), len(y))
    block = max(1, PAIRS // max(1, len(first)))
    if x.ndim == y.ndim == 2 and count > block:
        parts = [slice(start, start + block) for start in range(0, count, block)]
        return np.concatenate([kendall_rows(x if len(x) == 1 else x[p], y if len(y) == 1 else y[p]) for p in parts])
    x, y = np.sign(x[..., first] - x[..., second]), np.sign(y[..., first] - y[..., second])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1)))


def standardised_slope(with_x: Floats, with_z: Floats, between: Floats) -> Floats:
    """The slope on x of the least-squares regression of y on x and z, all in standard deviations, from the correlations
    of y with x and with z and that between x and z. NaN where x and z say the same."""
    left = 1 - np.square(between)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(left > CONSTANT, (with_x - with_z * between) / left, np.nan)


def ranks(x: ArrayLike) -> Any:
    """Ranks from 1 along the last axis; equal values share the mean of theirs. NaN where a list holds one."""
    x = np.asarray(x, float)
    if x.ndim > 1 or np.isnan(x).any():
        from scipy.stats import rankdata

        return rankdata(x, axis=-1)
    # A single list is not worth the half second that importing scipy.stats takes.
    _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def standard_rows(x: Floats) -> Floats:
    """Centred and of length 1; NaN where a row never differs, rounding of its mean aside."""
    centred = x - x.mean(-1, keepdims=True)
    same = x.max(-1, keepdims=True) == x.min(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = centred / np.abs(centred).max(-1, keepdims=True)  # squares of 1e-200 or 1e200 are no numbers
        return np.asarray(np.where(same, np.nan, centred / np.linalg.norm(centred, axis=-1, keepdims=True)))


def fitted_line(
    x: Floats, y: Floats, units: NDArray[np.int64], confidence: float
) -> tuple[Floats, Floats, Floats | None] | None:
    """Places along x, the least-squares line there, and half the width of its band; no line where x does not vary.

    Points of one unit go together: the variance is the sandwich of Liang and Zeger (1986), times G/(G-1) for G units,
    and the quantile is of Student's t with G-1 degrees of freedom."""
    if len(x) < 3 or np.ptp(x) == 0:
        return None
    design = np.column_stack([np.ones_like(x), x - x.mean()])
    slopes = np.linalg.lstsq(design, y, rcond=None)[0]
    along = np.linspace(x.min(), x.max(), 50)
    there = np.column_stack([np.ones_like(along), along - x.mean()])
    _, unit = np.unique(units, return_inverse=True)
    count = int(unit.max()) + 1
    if count < BAND_UNITS:
        return along, there @ slopes, None
    from scipy.special import stdtrit

    pulls = np.zeros((count, 2))
    np.add.at(pulls, unit, design * (y - design @ slopes)[:, None])
    bread = np.linalg.inv(design.T @ design)
    variance = bread @ (pulls.T @ pulls) @ bread * count / (count - 1)
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", there, variance, there), 0))
    return along, there @ slopes, float(stdtrit(count - 1, (1 + confidence) / 2)) * spread


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


def _differs(x: Floats) -> bool:
    return len(x) > 1 and bool(x.max() > x.min())


def _tied_pairs(x: Floats) -> float:
    counts = np.unique(x, axis=0, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())


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
