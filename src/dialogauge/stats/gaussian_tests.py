"""Whether vectors can be Gaussian: every dimension by itself, and all together along random directions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats
from dialogauge.stats.significance import holm_corrected

LEAST, MOST = 3, 5000
"""How many vectors Shapiro and Wilk's test takes: W is defined from 3 on; past 5,000 Royston's p-values are not
accurate."""
LEVEL = 0.05
DIRECTIONS, SAMPLES = 1000, 199
"""With a hundred directions, p would change with the seed from 0.005 to 0.3 on vectors of a published corpus."""
PROJECTED = 1_000_000
"""The most numbers in the projections of one set of vectors: past 1,000 vectors there are fewer directions."""
AT_ONCE = 1 << 20
"""Numbers that are rotated together."""
LARGEST = (
    (-2.706056, 4.434685, -2.07119, -0.147981, 0.221157),
    (-3.582633, 5.682633, -1.752461, -0.293762, 0.042981),
)
"""Royston's polynomials for the weights of the largest value and the next in W, without their constants."""
STILL = 1e-6
"""A dimension does not vary if its range is below this share of the widest one's: what it holds is rounding."""


@dataclass(frozen=True, eq=False)
class DimensionTests:
    """Shapiro and Wilk's W and p (Royston 1995) of each dimension; NaN where it does not vary, and everywhere with
    fewer than 3 vectors."""

    w: Floats
    p: Floats

    @property
    def rejected(self) -> int:
        return int((self.p < LEVEL).sum())

    @property
    def rejected_holm(self) -> int:
        """How many are still rejected with all dimensions tested at once (Holm 1979), however they depend on each
        other."""
        corrected = holm_corrected([None if np.isnan(p) else p for p in self.p.tolist()])
        return sum(p is not None and p < LEVEL for p in corrected)

    @property
    def by_w(self) -> NDArray[np.intp]:
        """The dimensions that vary, from the least normal to the most."""
        return np.argsort(self.w, kind="stable")[: np.count_nonzero(~np.isnan(self.w))]


@dataclass(frozen=True)
class DirectionTest:
    """The mean W along random directions, and how often Gaussian vectors have one as small; NaN where no dimension
    varies, or with fewer than 3 vectors."""

    w: float
    p: float
    directions: int


def each_dimension(vectors: NDArray[Any]) -> DimensionTests:
    w, p = np.full((2, vectors.shape[1]), np.nan)
    varying = _varying(vectors)
    for dimension in np.flatnonzero(varying):
        w[dimension], p[dimension] = _shapiro(vectors[:, dimension])
    return DimensionTests(w, p)


def along_directions(
    vectors: NDArray[Any], seed: int, directions: int | None = None, samples: int = SAMPLES
) -> DirectionTest:
    """Projects the vectors on random directions, and holds the mean W against that of Gaussian vectors.

    If vectors are Gaussian with whatever mean and covariance, then given the mean and covariance of the sample, their
    centred projections are a random rotation of what they are: rotating them again gives samples from the very
    distribution that W's mean has then (Langsrud 2005). So p holds its level exactly, for every number of vectors,
    dimensions and directions and though directions depend on each other: at most 5 % of all Gaussian samples get
    p <= 0.05.

    Directions are drawn uniformly, without whitening: a dimension counts by its variance, as it does in FBD, and
    with no more vectors than dimensions all whitened samples look the same. What of a direction is outside the
    vectors' span adds nothing.
    """
    if directions is None:
        directions = min(DIRECTIONS, PROJECTED // max(len(vectors), 1))
    varying = _varying(vectors)
    if not varying.any():
        return DirectionTest(np.nan, np.nan, 0)
    rng = np.random.default_rng([seed, 4])
    # Drawn for all dimensions, so that the same ones serve all rows of a table.
    drawn = rng.standard_normal((vectors.shape[1], directions))
    drawn /= np.linalg.norm(drawn, axis=0)
    centred = vectors - vectors.mean(axis=0, dtype=np.float64)
    projected = centred[:, varying] @ drawn[varying]
    found = float(w_of(projected).mean())
    as_small = int((_rotated(projected, samples, rng) <= found).sum())
    return DirectionTest(found, (1 + as_small) / (1 + samples), directions)


def w_of(values: Floats) -> Floats:
    """W along the last axis but one, equal to scipy's, many at a time."""
    values = values - values.mean(axis=-2, keepdims=True)
    fitted = _w_weights(values.shape[-2]) @ np.sort(values, axis=-2)
    return np.asarray(fitted**2 / np.square(values).sum(axis=-2))


def _varying(vectors: NDArray[Any]) -> NDArray[np.bool_]:
    if len(vectors) < LEAST:
        return np.zeros(vectors.shape[1], dtype=np.bool_)
    ranges = np.ptp(vectors, axis=0)
    varying: NDArray[np.bool_] = ranges > STILL * ranges.max(initial=0)
    return varying


def _shapiro(values: NDArray[Any]) -> tuple[float, float]:
    """W and p, in units in which scipy takes no values for constant."""
    from scipy.stats import shapiro

    values = values.astype(np.float64)
    found = shapiro((values - values.mean()) / np.ptp(values))
    return float(found.statistic), float(found.pvalue)


@cache
def _w_weights(n: int) -> Floats:
    """Royston's (1992) weights of the ordered values: expected normal order statistics to length 1, with the two
    largest (of no more than 5 values, the largest) from polynomials in 1/√n."""
    from scipy.special import ndtri

    if n == 3:
        return np.array([-np.sqrt(0.5), 0, np.sqrt(0.5)])
    expected = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    weights = expected / np.linalg.norm(expected)
    few = LARGEST[: 2 if n > 5 else 1]
    fixed = [np.polyval((*terms, weights[-1 - place]), n**-0.5) for place, terms in enumerate(few)]
    inner = slice(len(fixed), n - len(fixed))
    rest = np.sqrt(1 - 2 * np.square(fixed).sum())
    weights[inner] = expected[inner] / np.linalg.norm(expected[inner]) * rest
    for place, value in enumerate(fixed):
        weights[place], weights[-1 - place] = -value, value
    return np.asarray(weights)


def _rotated(projected: Floats, samples: int, rng: np.random.Generator) -> Floats:
    """The mean W of the projections after each of many random rotations."""
    shape = _without_rotation(projected)
    at_once = max(AT_ONCE // projected.size, 1)
    found: list[Floats] = []
    for start in range(0, samples, at_once):
        rotations = _rotations(min(at_once, samples - start), len(projected), len(shape), rng)
        found.append(w_of(rotations @ shape).mean(axis=-1))
    return np.concatenate(found)


def _without_rotation(projected: Floats) -> Floats:
    """A matrix R of full rank with R'R = P'P: the projections P are R, rotated."""
    _, sizes, right = np.linalg.svd(projected, full_matrices=False)
    kept = sizes > 1e-9 * sizes[0]
    return np.asarray(sizes[kept, None] * right[kept])


def _rotations(count: int, rows: int, columns: int, rng: np.random.Generator) -> Floats:
    """Matrices with orthonormal columns that sum to 0, uniformly among all such."""
    drawn = rng.standard_normal((count, rows, columns))
    q, r = np.linalg.qr(drawn - drawn.mean(axis=1, keepdims=True))
    # Without the signs of R's diagonal, the columns would lean to one side.
    return np.asarray(q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None])
