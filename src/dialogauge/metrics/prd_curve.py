"""The precision-recall curve of two distributions over the same bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dialogauge.errors import InputError
from dialogauge.metrics.base import Floats

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
