"""Prediction-powered inference as published: the mean of independent turns, without corrections for few of them."""

from __future__ import annotations

import numpy as np

from dialogauge.people.estimate.powered import UnitTotals, estimates
from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import IntervalEstimate


def ppi_mean(
    ratings: Floats, predicted: Floats, others: Floats, *, confidence: float = 0.95, slope: float | None = None
) -> IntervalEstimate:
    """The mean rating from rated turns, the metric on them (`predicted`) and on turns without ratings (`others`), as
    the package ppi-python gives it (Angelopoulos et al. 2023; `slope` is its lambda, by default that of PPI++, cut off
    at 0 and 1, which takes the metric to be on the scale of ratings).

    The same sums as `estimate` takes, where every turn is a unit of its own. That one differs in what few turns need:
    its slope is not cut off and comes from the rated turns alone, its variance is the jackknife's, its quantile
    Student's."""
    from scipy.special import ndtri

    n, more = len(ratings), len(others)
    if slope is None:
        slope = float(np.clip(power_tuning(ratings, predicted, others), 0.0, 1.0))
    totals = UnitTotals.from_turns(
        np.arange(n + more),
        n + more,
        np.concatenate([ratings, np.full(more, np.nan)]),
        np.concatenate([predicted, others]),
    )
    found = estimates([(1.0, totals)], np.ones((1, n + more)), slope=slope, jackknife=False)
    value, reach = float(found.value[0]), float(ndtri((1 + confidence) / 2) * np.sqrt(found.variance[0]))
    return IntervalEstimate(value, value - reach, value + reach)


def power_tuning(ratings: Floats, predicted: Floats, others: Floats) -> float:
    """The lambda of PPI++ (Angelopoulos, Duchi & Zrnic 2023, example 6.1): the covariance of ratings and metric on n
    rated turns over (1 + n/N) times the metric's variance on all n + N."""
    covariance = float(np.mean((ratings - ratings.mean()) * (predicted - predicted.mean())))
    variance = float(np.var(np.concatenate([predicted, others]), ddof=1))
    return covariance / ((1 + len(ratings) / len(others)) * variance)
