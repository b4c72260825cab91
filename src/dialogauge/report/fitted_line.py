"""A straight line through points that may depend on each other, and how sure it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import Floats

FEWEST = 10
"""Units below which no band is given: its formula needs many."""


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
    if count < FEWEST:
        return along, there @ slopes, None
    from scipy.stats import t

    pulls = np.zeros((count, 2))
    np.add.at(pulls, unit, design * (y - design @ slopes)[:, None])
    bread = np.linalg.inv(design.T @ design)
    variance = bread @ (pulls.T @ pulls) @ bread * count / (count - 1)
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", there, variance, there), 0))
    return along, there @ slopes, float(t.ppf((1 + confidence) / 2, count - 1)) * spread
