"""Learning rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialogauge.learn.recipe import RuberRecipe

WARM_UP = 0.05
"""The share of all steps in which a linear schedule rises from nothing."""


def rate_of_epoch(recipe: RuberRecipe, losses: Sequence[float]) -> float:
    """After epochs with these validation losses. On a plateau, lowered once for every `patience` epochs in a row
    without a lower loss, and never raised."""
    if recipe.schedule == "linear":
        return recipe.rate * (1 - len(losses) / recipe.epochs)
    rate, lowest, waited = recipe.rate, np.inf, 0
    for loss in losses:
        waited = 0 if loss < lowest else waited + 1
        lowest = min(lowest, loss)
        if waited and waited % recipe.patience == 0:
            rate *= recipe.decay
    return rate


def rate_of_step(recipe: RuberRecipe, rate: float, epoch: int, step: int, steps: int) -> float:
    """In the epoch of this number, from 0, of so many steps; `rate` is that at its start."""
    if recipe.schedule == "plateau":
        return rate
    done = (epoch + step / steps) / recipe.epochs
    return recipe.rate * min(done / WARM_UP + 1 / (steps * recipe.epochs), 1.0) * (1 - done)
