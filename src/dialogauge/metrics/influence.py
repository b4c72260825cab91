"""How much each vector of one side pushes a Fréchet distance, from the two Gaussians alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats
from dialogauge.metrics.frechet import Gaussian, Mean


def influences(fixed: Gaussian, moving: Gaussian, vectors: NDArray[Any], mean: Mean = "squared") -> Floats:
    """The influence function of the distance at each vector x of the moving side: how fast the distance grows as x gets
    more weight. Divided by n - 1 it is, to first order, by how much the distance would fall without x.

    With z = x - mean, S the moving and R the other covariance, the means' difference δ and T the map that carries S to
    R (T S T = R): 2 δ·z + ‖z‖² - Tr S - (zᵀ T z - Tr (R S)^½). For factors FᵀF = R, GᵀG = S and F Gᵀ = U Σ Vᵀ, the
    form zᵀ T z is wᵀ V Σ Vᵀ w where z = Gᵀ w. Vectors outside the span of S are taken for their part inside it.
    """
    apart = moving.mean - fixed.mean
    length = float(np.sqrt(apart @ apart))
    slope = 2.0 if mean == "squared" else (1 / length if length else 0.0)
    left = np.asarray(vectors, dtype=np.float64) - moving.mean
    factor = moving.factor
    _, singular, right = np.linalg.svd(fixed.factor @ factor.T, full_matrices=False)
    weights = np.linalg.lstsq(factor.T, left.T, rcond=None)[0]
    carried = singular @ (right @ weights) ** 2
    squares = np.einsum("ij,ij->i", left, left)
    return np.asarray(slope * (left @ apart) + (squares - moving.trace) - (carried - singular.sum()))
