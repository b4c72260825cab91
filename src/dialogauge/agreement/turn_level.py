"""Agreement on single turns or dialogues, and between each pair of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import Points
from dialogauge.agreement.result import Contrast
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.options import Settings
from dialogauge.evaluation.pairs import ALPHA
from dialogauge.stats.arrays import Floats
from dialogauge.stats.correlations import KENDALL_POINTS, Resampling, kendall, kendall_influence, pearson_rows, ranks
from dialogauge.stats.permutations import PairValues, permutation_p, swap_points, swaps_for
from dialogauge.stats.resampling import (
    NO_INTERVAL,
    IntervalEstimate,
    deviation,
    expanded,
    expansion,
    linear_interval,
    percentile_interval,
    point_weights,
)
from dialogauge.stats.significance import holm_corrected, points_needed, williams_test

PERM_BOTH, PERM_INPUT = "PERM-BOTH", "PERM-INPUT"
"""Scores of single points change places, or those of all points of a unit together."""
ROUNDING = 1e-9
FEWEST = 5
"""With fewer units there are no intervals: their resamples are too much alike."""
BOOTSTRAP, PERMUTATION, SWAPS = range(3)
"""Random streams of their own, so that none depends on whether another is drawn."""


@dataclass(frozen=True)
class Coefficient:
    """One coefficient for all metrics of a scope: entry, column or place i belongs to metric i."""

    bounds: list[IntervalEstimate]
    p: Floats
    draws: Floats
    """(resamples, metrics): the values of the bootstrap."""
    between: Floats | None = None
    """(metrics, metrics): how metrics go together. None where metrics are not compared by this coefficient."""
    tests: PairValues | None = None
    """p of each pair of metrics."""
    system_tests: PairValues | None = None
    """At system level: p of each pair by PERM-SYS, whatever `tests` are."""


@dataclass(frozen=True)
class Correlations:
    """By coefficient: "pearson", "spearman", "kendall"."""

    coefficients: dict[str, Coefficient]
    test: dict[tuple[int, int], str]
    """The name of the permutation test of each pair."""
    confidence: float
    """The share of resamples that intervals of differences keep."""

    def contrasts(self, points: Points) -> list[Contrast]:
        """Every pair of metrics by each coefficient that compares, corrected for the number of pairs."""
        return [
            contrast
            for name, coefficient in self.coefficients.items()
            if coefficient.tests is not None and coefficient.between is not None
            for contrast in self._contrasts(name, coefficient, points)
        ]

    def _contrasts(self, name: str, coefficient: Coefficient, points: Points) -> list[Contrast]:
        tests, between = coefficient.tests or {}, coefficient.between
        pairs = list(combinations(range(len(points.metrics)), 2))
        p_values = [defined(tests.get(pair, np.nan)) for pair in pairs]
        by_system = [defined((coefficient.system_tests or {}).get(pair, np.nan)) for pair in pairs]
        larger = [p if q is None or p is None else max(p, q) for p, q in zip(p_values, by_system, strict=True)]
        found = []
        for (a, b), p, q, corrected in zip(pairs, p_values, by_system, holm_corrected(larger), strict=True):
            first, second = coefficient.bounds[a].value, coefficient.bounds[b].value
            together = np.nan if between is None else float(between[a, b])
            low, high = percentile_interval(coefficient.draws[:, a] - coefficient.draws[:, b], self.confidence)
            williams = williams_test(first, second, together, len(points.people))
            clear = corrected is not None and corrected < ALPHA
            found.append(
                Contrast(
                    corpus=points.scope.corpus,
                    dimension=points.scope.dimension,
                    level=points.scope.level,
                    system=points.scope.system,
                    coefficient=name,
                    first=points.metrics[a],
                    second=points.metrics[b],
                    difference=defined(first - second),
                    low=defined(low),
                    high=defined(high),
                    williams_t=defined(williams.t),
                    williams_p=defined(williams.p),
                    p=p,
                    p_sys=q,
                    p_holm=corrected,
                    test=None if p is None else self.test[a, b],
                    better=points.metrics[a if first > second else b] if clear else None,
                    needed=points_needed(first, second, together),
                )
            )
        return found


def correlate_points(x: Floats, y: Floats, units: NDArray[np.int64], settings: Settings) -> Correlations:
    """Columns of x, oriented, against y. Points of one unit are drawn together, and their scores change places
    together. Of few units there are values, and nothing to tell how sure they are."""
    n, metrics = x.shape
    count = int(units.max()) + 1
    influence = np.full(x.shape, np.nan)
    if n <= KENDALL_POINTS:
        influence = np.column_stack([kendall_influence(column, y) for column in x.T])
    draws = _draws(x, y, units, influence, settings)
    wider = np.ones((3, metrics))
    if count < n:
        alone = _draws(x, y, np.arange(n), influence, settings)
        wider = np.array([_wider(draws[name], alone[name]) for name in draws])
        wider *= expansion(settings.confidence, count)
    p = permutation_p(x, y, settings.resamples, stream(settings, PERMUTATION), wider[:2])
    p["kendall"] = np.array([_kendall_p(column, y, times) for column, times in zip(x.T, wider[2], strict=True)])
    if count < min(FEWEST, n):
        p = {name: np.full(metrics, np.nan) for name in p}
    values = {
        "pearson": pearson_rows(x.T, y[None]),
        "spearman": pearson_rows(ranks(x.T), ranks(y)[None]),
        "kendall": np.array([kendall(column, y) for column in x.T]),
    }
    confidence = expanded(settings.confidence, count)
    coefficients = {}
    for name, sides in {"pearson": (x, y), "spearman": (ranks(x.T).T, ranks(y)), "kendall": None}.items():
        if count < FEWEST:
            intervals = [NO_INTERVAL] * metrics
        elif name == "kendall":
            intervals = [
                linear_interval(tau, np.bincount(units, weights=own).astype(np.float64), settings.confidence)
                for tau, own in zip(values[name], influence.T, strict=True)
            ]
        else:
            intervals = [percentile_interval(found, confidence) for found in draws[name].T]
        bounds = [IntervalEstimate(float(value), *ends) for value, ends in zip(values[name], intervals, strict=True)]
        between = tests = None
        if sides and metrics > 1 and count >= min(FEWEST, n):
            between = pearson_rows(sides[0].T[:, None], sides[0].T[None])
            swaps = swaps_for(metrics, settings.resamples)
            tests = swap_points(sides[0], sides[1], units, swaps, stream(settings, SWAPS))
        coefficients[name] = Coefficient(bounds, p[name], draws[name], between, tests)
    test = PERM_BOTH if count == n else PERM_INPUT
    return Correlations(coefficients, dict.fromkeys(combinations(range(metrics), 2), test), confidence)


def stream(settings: Settings, number: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, number])


def _draws(x: Floats, y: Floats, units: NDArray[np.int64], influence: Floats, settings: Settings) -> dict[str, Floats]:
    """(resamples, metrics) by coefficient, all from the same resamples. `influence` is what tau owes to each point."""
    resampling = Resampling(x, y)
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
