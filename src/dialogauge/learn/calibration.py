"""From scores that only rank to probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def calibrate(true: NDArray[np.float64], negative: NDArray[np.float64]) -> tuple[float, float]:
    """Slope (above 0) and offset of the logistic curve that tells true responses from others best, where both are
    equally likely: Platt's scaling. A little weight on slope 1 and offset 0 keeps it finite where nothing overlaps."""
    from scipy.optimize import minimize

    scores = np.concatenate([true, negative.ravel()])
    signs = np.concatenate([np.ones(true.size), -np.ones(negative.size)])
    weights = np.concatenate([np.full(true.size, 0.5 / true.size), np.full(negative.size, 0.5 / negative.size)])

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slope, offset = np.exp(values[0]), values[1]
        margins = signs * (slope * scores + offset)
        # The derivative of log(1 + e^-m) is -1 / (1 + e^m).
        pull = -weights * signs / (1 + np.exp(np.clip(margins, -500, 500)))
        penalty = 1e-4 * values
        gradient = np.array([(pull * scores).sum() * slope, pull.sum()]) + penalty
        return float((weights * np.logaddexp(0, -margins)).sum() + (penalty * values).sum() / 2), gradient

    found = minimize(loss, np.zeros(2), jac=True, method="BFGS")
    # Digits beyond the fifth differ by how a processor rounds.
    return float(f"{np.exp(found.x[0]):.5g}"), float(f"{found.x[1]:.5g}")
