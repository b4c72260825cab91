"""Agreement on single turns or dialogues."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.found import Coefficient, Correlations
from dialogauge.evaluation.settings import Settings
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import kendall, pearson_rows, ranks
from dialogauge.stats.intervals import NO_INTERVAL, IntervalEstimate, expanded, percentile_interval
from dialogauge.stats.permutations import permutation_p, swap_points, swaps_for
from dialogauge.stats.resampled_correlations import KENDALL_POINTS, Resampling, kendall_influence
from dialogauge.stats.resampling import deviation, point_weights

PERM_BOTH, PERM_INPUT = "PERM-BOTH", "PERM-INPUT"
"""Scores of single points change places, or those of all points of a unit together."""
ROUNDING = 1e-9
BOOTSTRAP, PERMUTATION, SWAPS = range(3)
"""Random streams of their own, so that none depends on whether another is drawn."""


def correlate_points(x: Floats, y: Floats, units: NDArray[np.int64], settings: Settings) -> Correlations:
    """Columns of x, oriented, against y. Points of one unit are drawn together, and their scores change places
    together. Of a single unit there are values, and nothing to tell how sure they are."""
    n, metrics = x.shape
    draws = _draws(x, y, units, settings)
    wider = np.ones((3, metrics))
    if units.max() + 1 < n:
        alone = _draws(x, y, np.arange(n), settings)
        wider = np.array([_wider(draws[name], alone[name]) for name in draws])
    p = permutation_p(x, y, settings.resamples, stream(settings, PERMUTATION), wider[:2])
    p["kendall"] = np.array([_kendall_p(column, y, times) for column, times in zip(x.T, wider[2], strict=True)])
    if not units.max():
        p = {name: np.full(metrics, np.nan) for name in p}
    values = {
        "pearson": pearson_rows(x.T, y[None]),
        "spearman": pearson_rows(ranks(x.T), ranks(y)[None]),
        "kendall": np.array([kendall(column, y) for column in x.T]),
    }
    confidence = expanded(settings.confidence, int(units.max()) + 1)
    coefficients = {}
    for name, sides in {"pearson": (x, y), "spearman": (ranks(x.T).T, ranks(y)), "kendall": None}.items():
        bounds = [
            IntervalEstimate(float(value), *(percentile_interval(found, confidence) if units.max() else NO_INTERVAL))
            for value, found in zip(values[name], draws[name].T, strict=True)
        ]
        between = tests = None
        if sides and metrics > 1 and units.max():
            between = pearson_rows(sides[0].T[:, None], sides[0].T[None])
            swaps = swaps_for(metrics, settings.resamples)
            tests = swap_points(sides[0], sides[1], units, swaps, stream(settings, SWAPS))
        coefficients[name] = Coefficient(bounds, p[name], draws[name], between, tests)
    test = PERM_BOTH if units.max() + 1 == n else PERM_INPUT
    return Correlations(coefficients, dict.fromkeys(combinations(range(metrics), 2), test), confidence)


def _draws(x: Floats, y: Floats, units: NDArray[np.int64], settings: Settings) -> dict[str, Floats]:
    """(resamples, metrics) by coefficient, all from the same resamples."""
    resampling = Resampling(x, y)
    influence = np.full(x.shape, np.nan)
    if len(y) <= KENDALL_POINTS:
        influence = np.column_stack([kendall_influence(column, y) for column in x.T])
    tau = np.array([kendall(column, y) for column in x.T])
    blocks: dict[str, list[Floats]] = {"pearson": [], "spearman": [], "kendall": []}
    for weights in point_weights(units, settings.resamples, stream(settings, BOOTSTRAP)):
        blocks["pearson"].append(resampling.pearson(weights))
        blocks["spearman"].append(resampling.spearman(weights))
        blocks["kendall"].append(np.clip(tau + (weights - 1) @ influence, -1, 1))
    return {name: np.concatenate(found) for name, found in blocks.items()}


def _wider(together: Floats, alone: Floats) -> Floats:
    """By how much more correlations vary when whole units are drawn than when single points are; at least 1."""
    with np.errstate(invalid="ignore", divide="ignore"):
        times = _deviations(together) / _deviations(alone)
    return np.where(np.isfinite(times), np.maximum(times, 1), 1)


def _deviations(draws: Floats) -> Floats:
    """Of each column; 0 where draws differ by rounding alone."""
    found = np.array([deviation(column) for column in draws.T])
    return np.where(found < ROUNDING, 0, found)


def _kendall_p(x: Floats, y: Floats, wider: float) -> float:
    """scipy's, from the null distribution of tau with ties; wider where points depend on each other."""
    from scipy.special import ndtr, ndtri
    from scipy.stats import kendalltau

    if x.max() == x.min() or y.max() == y.min():
        return np.nan
    p = float(kendalltau(x, y).pvalue)
    return p if wider == 1 else float(2 * ndtr(ndtri(max(p, 1e-300) / 2) / wider))


def stream(settings: Settings, number: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, number])
