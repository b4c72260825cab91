"""Codebooks of real and generated vectors by k-means, and the precision-recall curve of what falls to each code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dialogauge.errors import InputError, MissingPackage
from dialogauge.metrics.base import Floats
from dialogauge.stats.arrays import ROUNDING, blocks, both_rows, finite_rows, squared_lengths

DIGITS = 12
"""Of precision and recall averaged over clusterings; what lies behind them is rounding."""
EPSILON = 1e-10
"""How far the first and last angle stay from 0 and π/2, where a slope would be 0 or infinite."""


def prd_curve(real: ArrayLike, generated: ArrayLike, angles: int = 1001) -> tuple[Floats, Floats]:
    """Precision α(λ) = Σ min(λ real, generated) and recall α(λ) / λ at slopes λ = tan(angle), over as many equally
    spaced angles between 0 and π/2 (Sajjadi et al. 2018, eq. 7 and algorithm 1), each within [0, 1].

    `real` and `generated` are histograms, the bins along the last axis: counts or shares, each divided by its sum. Any
    axes before it are broadcast, and the curves lie along the last axis of what comes back. NaN where a histogram is
    empty.
    """
    real, generated = np.asarray(real, dtype=np.float64), np.asarray(generated, dtype=np.float64)
    if not real.ndim or not generated.ndim or real.shape[-1] != generated.shape[-1]:
        raise InputError(f"expected histograms over the same bins; found shapes {real.shape} and {generated.shape}")
    if angles < 2:
        raise InputError(f"a curve has at least 2 angles; found {angles}")
    real, generated = _shares(real), _shares(generated)
    slopes = np.tan(np.linspace(EPSILON, np.pi / 2 - EPSILON, angles))
    leading = np.broadcast_shapes(real.shape[:-1], generated.shape[:-1])
    precision = np.zeros((*leading, angles))
    for bin_ in range(real.shape[-1]):  # One bin at a time: no array is larger than the curves.
        precision += np.minimum(slopes * real[..., bin_, None], generated[..., bin_, None])
    return np.clip(precision, 0, 1), np.clip(precision / slopes, 0, 1)


def f_beta(precision: Floats, recall: Floats, beta: float = 1.0) -> Floats:
    """The largest (1 + β²) p r / (β² p + r) along the last axis of curves, 0 where both are 0. β above 1 weighs recall
    more, below 1 precision."""
    precision, recall = np.asarray(precision, dtype=np.float64), np.asarray(recall, dtype=np.float64)
    below = beta**2 * precision + recall
    above = (1 + beta**2) * precision * recall
    return np.asarray(np.divide(above, below, out=np.zeros_like(below), where=below != 0).max(axis=-1))


def _shares(histogram: Floats) -> Floats:
    if (histogram < 0).any():
        raise InputError(f"a histogram has no negative bins; found {histogram.min()}")
    total = histogram.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(histogram, total, out=np.full_like(histogram, np.nan), where=total != 0))


Labels = NDArray[np.intp]
Fit = Callable[[Floats, Floats, int, int, int], Floats]
"""Real and generated vectors, clusters, runs and seed to centres of shape (runs, clusters, d)."""
FIT_ROWS = 10_000
"""From how many rows of a side at most centres are fitted."""
START_ROWS = 2000
"""From how many rows at most the first centres are chosen, as all their distances are kept."""
STARTS, TRIALS = 10, 4
"""How many starts a run chooses from, and from how many rows each of their centres."""
ROUNDS = 100
"""The most rounds of Lloyd's algorithm."""


@dataclass(frozen=True)
class PrdResult:
    """Precision and recall at each angle, averaged over clusterings; the largest F1, F8 and F1/8 of that averaged
    curve; and the largest F1 under each clustering, for the spread. Higher is better, within [0, 1]."""

    precision: Floats
    recall: Floats
    f1: float
    f8: float
    f1_8: float
    run_f1: Floats


def codebooks(
    real: Floats, generated: Floats, clusters: int = 20, runs: int = 10, seed: int = 0, *, in_order: bool = False
) -> Floats:
    """Centres of `runs` independent clusterings of the union, of shape (runs, clusters, d): k-means++ (Arthur &
    Vassilvitskii 2007), then Lloyd's rounds until no row changes its cluster.

    Both sides weigh the same: with unequal sizes a row counts for 1 / (rows of its side), so that the larger side does
    not take all the centres. With fewer distinct rows than clusters, the centres left over are NaN, and `assign` gives
    them no row. A side of more than `FIT_ROWS` rows is represented by that many, drawn with the seed; below that, the
    order of rows changes nothing, unless they come `in_order`: those that draws are made in, which rounding of the
    vectors cannot change. The first of many runs are the same as fewer runs.
    """
    rows, weights = _union(real, generated, clusters, in_order, np.random.default_rng((seed, 0)))
    middle = weights @ rows
    points = rows - middle
    basis = None
    if len(points) < points.shape[1]:
        # Distances within fewer rows than dimensions live in the space the rows span: turn into it, exactly.
        basis, triangle = np.linalg.qr(points.T)
        points = np.ascontiguousarray(triangle.T)
    first = _first(points, weights, clusters, runs, np.random.default_rng((seed, 1)))
    used = first >= 0
    centres = _settle(points, weights, np.where(used[..., None], points[first], 0.0), used)
    centres = (centres if basis is None else centres @ basis.T) + middle
    centres[~used] = np.nan
    return centres


def minibatch_codebooks(real: Floats, generated: Floats, clusters: int = 20, runs: int = 10, seed: int = 0) -> Floats:
    """Centres as the authors of FBD get them, with scikit-learn's MiniBatchKMeans(n_init=10): every row counts once, so
    that the larger side has more say. `assign` gives the `labels_` of the fit."""
    try:
        cluster = import_module("sklearn.cluster")
    except ImportError as error:
        raise MissingPackage("scikit-learn", "paper", "PRD as the authors of FBD compute it") from error
    real, generated = both_rows(real, generated)
    union = np.concatenate([real, generated])
    if len(union) < clusters:
        raise InputError(f"MiniBatchKMeans needs at least as many vectors as clusters ({clusters}); found {len(union)}")
    states = np.random.default_rng(seed).integers(2**31, size=runs)
    fits = (cluster.MiniBatchKMeans(clusters, n_init=10, random_state=int(state)).fit(union) for state in states)
    return np.stack([np.asarray(fit.cluster_centers_, dtype=np.float64) for fit in fits])


def assign(vectors: Floats, centres: Floats) -> Labels:
    """The index of the nearest centre of each run, of shape (runs, n). Of centres equally near up to rounding, the
    first: so that a vector's label does not depend on the vectors beside it."""
    runs, clusters, width = centres.shape
    if vectors.ndim != 2 or vectors.shape[1] != width:
        raise InputError(f"expected vectors of {width} dimensions, (n, {width}); found shape {vectors.shape}")
    used = ~np.isnan(centres[..., 0]).ravel()
    flat = np.where(used[:, None], centres.reshape(-1, width), 0.0)
    middle = flat[used].mean(axis=0)
    flat = flat - middle
    lengths = np.where(used, squared_lengths(flat), np.inf)
    most = lengths[used].max()
    labels = np.empty((runs, len(vectors)), dtype=np.intp)
    for rows in blocks(len(vectors), max(runs * clusters, width)):
        points = finite_rows(vectors[rows]) - middle
        slack = ROUNDING * (squared_lengths(points) + most)
        distances = (lengths - 2 * (points @ flat.T)).reshape(-1, runs, clusters)
        near = distances <= distances.min(axis=2, keepdims=True) + slack[:, None, None]
        labels[:, rows] = near.argmax(axis=2).T
    return labels


def prd(
    real: Floats,
    generated: Floats,
    clusters: int = 20,
    runs: int = 10,
    seed: int = 0,
    angles: int = 1001,
    fit: Fit = codebooks,
) -> PrdResult:
    """PRD of two sets of vectors (Sajjadi et al. 2018; Xiang et al. 2021, section 3.2): the curve of the shares of each
    side that fall to each code, averaged over clusterings, as `fit` makes them. Sizes may differ; a small side leaves
    codes empty by chance, which lowers the score. All NaN where a side is empty."""
    if not len(real) or not len(generated):
        nothing = np.full(angles, np.nan)
        return PrdResult(nothing, nothing, np.nan, np.nan, np.nan, np.full(runs, np.nan))
    centres = fit(real, generated, clusters, runs, seed)
    of_real, of_generated = (histograms(assign(side, centres), clusters) for side in (real, generated))
    return prd_of_histograms(of_real, of_generated, angles)


def prd_of_histograms(real: Floats, generated: Floats, angles: int = 1001) -> PrdResult:
    """From how many vectors of each side each code has, run by run: (runs, clusters)."""
    curves = prd_curve(real, generated, angles)
    # Systems that overlap as much are equal, whatever the order of their codes and runs.
    precision, recall = (curve.mean(axis=0).round(DIGITS) for curve in curves)
    f1, f8, f1_8 = (float(f_beta(precision, recall, beta)) for beta in (1, 8, 1 / 8))
    return PrdResult(precision, recall, f1, f8, f1_8, f_beta(*curves, 1))


def histograms(labels: Labels, clusters: int) -> Floats:
    """How many vectors each code has, run by run: (runs, n) to (runs, clusters)."""
    return np.stack([np.bincount(run, minlength=clusters) for run in labels]).astype(np.float64)


def _union(
    real: Floats, generated: Floats, clusters: int, in_order: bool, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Rows to fit and their weights, half of 1 for each side; sorted, so that draws do not depend on their order."""
    if not len(real) or not len(generated):
        raise InputError(f"a codebook needs vectors on both sides; found {len(real)} real, {len(generated)} generated")
    if clusters < 1:
        raise InputError(f"a codebook has at least 1 cluster; found {clusters}")
    sides = [
        side if len(side) <= FIT_ROWS else side[rng.choice(len(side), FIT_ROWS, replace=False)]
        for side in (real, generated)
    ]
    # The sort is by bytes. Adding 0.0 turns -0.0 into 0.0, so that equal rows have equal bytes.
    rows = np.ascontiguousarray(np.concatenate(both_rows(*sides)) + 0.0)
    weights = np.concatenate([np.full(len(side), 0.5 / len(side)) for side in sides])
    if in_order:
        return rows, weights
    order = np.argsort(rows.view(np.dtype((np.void, rows.strides[0]))).ravel(), kind="stable")
    return rows[order], weights[order]


def _first(points: Floats, weights: Floats, clusters: int, runs: int, rng: np.random.Generator) -> Labels:
    """Rows to be the first centres, (runs, clusters), by k-means++ with a choice among `TRIALS` rows for each centre;
    of `STARTS` such starts the one with the rows nearest to its centres. -1 where there are no more distinct rows."""
    drawn = np.arange(len(points))
    if len(points) > START_ROWS:
        # Drawn as often as they weigh: both sides still weigh the same, however small one of them is.
        drawn, times = np.unique(rng.choice(len(points), START_ROWS, p=weights), return_counts=True)
        points, weights = points[drawn], times / START_ROWS
    lengths = squared_lengths(points)
    apart = lengths[:, None] + lengths - 2 * (points @ points.T)
    apart[apart <= ROUNDING * lengths.max()] = 0
    draws = rng.random((runs, clusters, STARTS, TRIALS))
    picked = np.stack([_best_start(apart, weights, of_run) for of_run in draws])
    return np.where(picked < 0, -1, drawn[picked])


def _best_start(apart: Floats, weights: Floats, draws: Floats) -> Labels:
    """One start, from squared distances between rows and numbers in [0, 1) of shape (clusters, starts, trials): each
    next centre is a row drawn by its weight times its squared distance to the centres so far."""
    clusters, starts, _ = draws.shape
    each, last = np.arange(starts), len(apart) - 1
    picked = np.full((starts, clusters), -1)
    nearest = np.ones((starts, len(apart)))
    for step, numbers in enumerate(draws):
        heap = np.cumsum(nearest * weights, axis=1)
        rows = np.stack([np.searchsorted(h, u * h[-1], side="right") for h, u in zip(heap, numbers, strict=True)])
        rows = np.minimum(rows, last)
        left = apart[rows] if step == 0 else np.minimum(nearest[:, None], apart[rows])
        best = _first_least(left @ weights)
        # Nothing is left to draw where every distinct row is a centre by now.
        picked[:, step] = np.where(heap[:, -1] > 0, rows[each, best], -1)
        nearest = left[each, best]
    return np.asarray(picked[_first_least(nearest @ weights)])


def _first_least(sums: Floats) -> Labels:
    """The first of the least along the last axis, up to rounding. Ties are no accident: of two rows that are near to
    each other alone, either as a centre spares the same."""
    slack = ROUNDING * sums.max(axis=-1, keepdims=True)
    return np.asarray((sums <= sums.min(axis=-1, keepdims=True) + slack).argmax(axis=-1))


def _settle(points: Floats, weights: Floats, centres: Floats, used: NDArray[np.bool_]) -> Floats:
    """Lloyd's rounds, for all runs at once; runs that have settled drop out. A centre that loses all its rows stays
    where it is."""
    from scipy.sparse import csc_array

    centres = centres.copy()
    runs, clusters, width = centres.shape
    labels = np.full((runs, len(points)), -1, dtype=np.intp)
    active = np.arange(runs)
    for _ in range(ROUNDS):
        flat = centres[active].reshape(-1, width)
        lengths = np.where(used[active].ravel(), squared_lengths(flat), np.inf)
        distances = (lengths[:, None] - 2 * (flat @ points.T)).reshape(len(active), clusters, -1)
        found = distances.argmin(axis=1)
        moved = (found != labels[active]).any(axis=1)
        active, found = active[moved], found[moved]
        if not len(active):
            break
        labels[active] = found
        codes = (found + clusters * np.arange(len(active))[:, None]).T.ravel()
        each = np.repeat(weights, len(active))
        ends = np.arange(0, len(codes) + 1, len(active))
        members: csc_array[np.float64] = csc_array((each, codes, ends), shape=(len(active) * clusters, len(points)))
        mass = np.bincount(codes, each, minlength=len(active) * clusters)
        kept = mass > 0
        flat = centres[active].reshape(-1, width)
        flat[kept] = np.asarray(members @ points)[kept] / mass[kept, None]
        centres[active] = flat.reshape(len(active), clusters, width)
    return centres
