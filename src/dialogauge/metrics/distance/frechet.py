"""How much each vector of one side pushes a Fréchet distance, from the two Gaussians alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.metrics.base import Floats

Mean = Literal["squared", "norm"]
EXACT = 1e-12
"""The share of the traces below which covariances are the same."""
ROUNDING = 1e-11
"""The share of the trace of (Sx Sy)^½ that rounding may cost at most."""


@lru_cache(maxsize=4)
def _triangles(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the upper triangle of a square matrix, row by row."""
    return np.triu_indices(size)


def packed(symmetric: Floats) -> Floats:
    """The upper triangle, row by row: half of the memory."""
    return np.asarray(symmetric[_triangles(len(symmetric))])


def unpacked(upper: Floats, size: int) -> Floats:
    """The symmetric matrix that `packed` took apart."""
    rows, columns = _triangles(size)
    whole = np.empty((size, size))
    whole[rows, columns] = whole[columns, rows] = upper
    return whole


@dataclass(frozen=True)
class Moments:
    """Number of vectors, their mean, and sums over z, what is left of each after subtracting the mean: z zᵀ (the
    scatter), ‖z‖² z and ‖z‖⁴ (which tell how far the scatter can be trusted). Moments add by moving both to the mean
    they have together (for the scatter the update of Chan, Golub & LeVeque 1983)."""

    n: float
    mean: Floats
    upper: Floats
    """The scatter, packed: that of 768 dimensions takes 2.4 MB."""
    third: Floats
    fourth: float

    @classmethod
    def from_rows(cls, rows: Floats, weights: Floats | None = None) -> Moments:
        """Of vectors, each as often as its weight says."""
        rows = np.asarray(rows, dtype=np.float64)
        n = float(len(rows) if weights is None else weights.sum())
        mean = (rows.sum(axis=0) if weights is None else weights @ rows) / n if n else np.zeros(rows.shape[1])
        centred = rows - mean
        squares = np.einsum("ij,ij->i", centred, centred)
        if weights is None:  # A matrix times itself takes half the time.
            return cls(n, mean, packed(centred.T @ centred), squares @ centred, float(squares @ squares))
        weighted = centred * weights[:, None]
        return cls(n, mean, packed(weighted.T @ centred), squares @ weighted, float(weights @ squares**2))

    @property
    def scatter(self) -> Floats:
        return unpacked(self.upper, len(self.mean))

    def about(self, point: Floats) -> tuple[Floats, Floats, float]:
        """The three sums with another point in place of the mean, the first packed."""
        apart, scatter = point - self.mean, self.scatter
        square, spread, pull = float(apart @ apart), float(np.trace(scatter)), scatter @ apart
        rows, columns = _triangles(len(apart))
        upper = self.upper + self.n * (apart[rows] * apart[columns])
        third = self.third - 2 * pull - (spread + self.n * square) * apart
        fourth = self.fourth - 4 * self.third @ apart + 4 * apart @ pull + square * (2 * spread + self.n * square)
        return upper, third, float(fourth)

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        if not n:
            return self
        mean = self.mean + (other.mean - self.mean) * (other.n / n)
        mine, theirs = self.about(mean), other.about(mean)
        return Moments(n, mean, mine[0] + theirs[0], mine[1] + theirs[1], mine[2] + theirs[2])

    def __sub__(self, part: Moments) -> Moments:
        """What is left of a sum without one of its parts."""
        n = self.n - part.n
        if not n:
            return Moments.from_rows(np.empty((0, len(self.mean))))
        mean = self.mean + (self.mean - part.mean) * (part.n / n)
        mine, theirs = self.about(mean), part.about(mean)
        return Moments(n, mean, mine[0] - theirs[0], mine[1] - theirs[1], mine[2] - theirs[2])

    @property
    def covariance(self) -> Floats:
        return self.scatter / (self.n - 1)

    @property
    def shrunk(self) -> Floats:
        """The covariance drawn towards a multiple of the identity, by as much as minimises the expected squared error
        (Ledoit & Wolf 2004, with 1/n as there). From three vectors on it has full rank, however many the dimensions."""
        size = len(self.mean)
        plain = self.scatter / self.n
        level = float(np.trace(plain)) / size
        square = float(np.sum(plain**2))
        away = square - size * level**2
        noise = (self.fourth / self.n - square) / self.n
        share = min(max(noise / away, 0.0), 1.0) if away > 0 else 0.0
        return np.asarray((1 - share) * plain + share * level * np.eye(size))


class Terms(NamedTuple):
    """The two parts of a Fréchet distance, which is their sum."""

    mean: float
    """How far apart the means are."""
    covariance: float
    """How much the covariances differ."""


@dataclass(frozen=True)
class Gaussian:
    """A mean and a covariance S. Where its rank is below the dimension, F with FᵀF = S stands for S: what rounding
    leaves in the other dimensions would cost six digits of the distance."""

    mean: Floats
    covariance: Floats | None
    given: Floats | None = None

    @classmethod
    def from_rows(cls, rows: Floats) -> Gaussian:
        """With the unbiased covariance of two or more rows."""
        rows = np.asarray(rows, dtype=np.float64)
        mean = rows.mean(axis=0)
        if len(rows) <= rows.shape[1]:
            return cls(mean, None, contrasts(rows - mean) / np.sqrt(len(rows) - 1))
        centred = (rows - mean) / np.sqrt(len(rows) - 1)
        return cls(mean, centred.T @ centred)

    @classmethod
    def from_moments(cls, moments: Moments) -> Gaussian:
        """n vectors span n - 1 dimensions: as many eigenvalues are kept."""
        rank = int(moments.n) - 1
        if rank >= len(moments.mean):
            return cls(moments.mean, moments.covariance)
        values, vectors = np.linalg.eigh(moments.covariance)
        kept = slice(len(values) - rank, None)
        return cls(moments.mean, None, _roots(values[kept])[:, None] * vectors[:, kept].T)

    @classmethod
    def from_sums(cls, n: int, total: Floats, square: Floats) -> Gaussian:
        """From sums over n vectors z of z and of z zᵀ; the mean must be near 0, and n above the dimension."""
        return cls(total / n, (square - np.outer(total, total) / n) / (n - 1))

    @property
    def factor(self) -> Floats:
        """F with FᵀF = S: by Cholesky where S has full rank, else by eigenvalues."""
        if self.given is not None:
            return self.given
        try:
            return np.asarray(np.linalg.cholesky(self._known).T, dtype=np.float64)
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(self._known)
            return np.asarray(_roots(values)[:, None] * vectors.T)

    @property
    def trace(self) -> float:
        return float(np.trace(self._known)) if self.given is None else float(np.sum(self.given**2))

    @property
    def _known(self) -> Floats:
        if self.covariance is None:
            raise ValueError("a Gaussian has a covariance or a factor of one")
        return self.covariance


def frechet_distance(x: Floats, y: Floats, mean: Mean = "squared") -> float:
    """‖mean(x) - mean(y)‖² + Tr(Sx + Sy - 2 (Sx Sy)^½) of two sets of rows, with unbiased covariances S (Dowson &
    Landau 1982). `mean="norm"` leaves the first term unsquared. NaN with fewer than two rows on a side."""
    if min(len(x), len(y)) < 2:
        return float("nan")
    return sum(frechet_terms(Gaussian.from_rows(x), Gaussian.from_rows(y), mean))


def frechet_of_moments(x: Moments, y: Moments, mean: Mean = "squared") -> float:
    """`frechet_distance` of what was summarised."""
    if min(x.n, y.n) < 2:
        return float("nan")
    return sum(frechet_terms(Gaussian.from_moments(x), Gaussian.from_moments(y), mean))


def frechet_of_covariances(
    mean_x: Floats, cov_x: Floats, mean_y: Floats, cov_y: Floats, mean: Mean = "squared"
) -> float:
    """`frechet_distance` of two Gaussians given by their means and covariances."""
    return sum(frechet_terms(Gaussian(mean_x, cov_x), Gaussian(mean_y, cov_y), mean))


def frechet_terms(x: Gaussian, y: Gaussian, mean: Mean = "squared", rank: int | None = None) -> Terms:
    return terms_of(x.mean - y.mean, x.trace + y.trace, shared_trace(x, y, rank), mean)


def terms_of(apart: Floats, traces: float, shared: float, mean: Mean = "squared") -> Terms:
    """From the difference of the means, Tr Sx + Tr Sy, and Tr (Sx Sy)^½."""
    shift, spread = float(apart @ apart), traces - 2 * shared
    return Terms(shift if mean == "squared" else shift**0.5, spread if spread > EXACT * traces else 0.0)


def shared_trace(x: Gaussian, y: Gaussian, rank: int | None = None) -> float:
    """Tr (Sx Sy)^½: with factors XᵀX = Sx and YᵀY = Sy the nuclear norm of X Yᵀ. No root of a matrix that is not
    symmetric is ever taken. `rank`: that of one of the two at most, where it is known."""
    return nuclear_norm(x.factor @ y.factor.T, rank)


def nuclear_norm(matrix: Floats, rank: int | None = None) -> float:
    """The sum of the singular values, of which no more than `rank` are above 0: roots of the eigenvalues of the matrix
    times its transpose, which takes half the time, unless one is so small that rounding shows in its root."""
    values = np.linalg.eigvalsh(matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix)
    if rank is not None:
        values = values[-rank:]
    if values.size and values[0] > 0:
        roots = np.sqrt(values)
        total = float(roots.sum())
        if float(np.sum(values[-1] / roots)) * float(np.finfo(np.float64).eps) <= ROUNDING * total:
            return total
    return float(np.linalg.svd(matrix, compute_uv=False).sum())


def contrasts(rows: Floats) -> Floats:
    """n - 1 rows with the same products of columns as the n rows less their mean: a Householder reflection that turns
    the mean's direction into the first axis, which is then left out. Centred rows would be dependent."""
    root = np.sqrt(len(rows))
    return np.asarray(rows[1:] - (rows[0] + rows.sum(axis=0) / root) / (1 + root))


def _roots(values: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)))


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
