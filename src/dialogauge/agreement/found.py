"""The correlations of all metrics of one scope, and of each pair of metrics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dialogauge.agreement.points import Points
from dialogauge.agreement.result import Contrast
from dialogauge.evaluation.digits import defined
from dialogauge.evaluation.pairs import ALPHA
from dialogauge.stats.arrays import Floats
from dialogauge.stats.intervals import IntervalEstimate, percentile_interval
from dialogauge.stats.permutations import PairValues
from dialogauge.stats.significance import holm_corrected, points_needed, williams_test


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
