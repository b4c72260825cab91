"""The Fréchet distance between two Gaussians, from rows of vectors or from summaries of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dialogauge.metrics.base import Floats

Mean = Literal["squared", "norm"]


@dataclass(frozen=True)
class Moments:
    """Number of vectors, their mean, and their scatter: the sum of outer products of what is left of each after
    subtracting the mean. Moments add by the usual update (Chan, Golub & LeVeque 1983)."""

    n: float
    mean: Floats
    scatter: Floats

    @classmethod
    def of(cls, rows: Floats, weights: Floats | None = None) -> Moments:
        """Of vectors, each as often as its weight says."""
        rows = np.asarray(rows, dtype=np.float64)
        weights = np.ones(len(rows)) if weights is None else weights
        n = float(weights.sum())
        mean = weights @ rows / n if n else np.zeros(rows.shape[1])
        centred = rows - mean
        return cls(n, mean, (centred * weights[:, None]).T @ centred)

    def __add__(self, other: Moments) -> Moments:
        n = self.n + other.n
        if not n:
            return self
        apart = other.mean - self.mean
        return Moments(
            n,
            self.mean + apart * (other.n / n),
            self.scatter + other.scatter + np.outer(apart, apart) * (self.n * other.n / n),
        )

    def __sub__(self, part: Moments) -> Moments:
        """What is left of a sum without one of its parts."""
        n = self.n - part.n
        if not n:
            return Moments(0.0, np.zeros_like(self.mean), np.zeros_like(self.scatter))
        apart = self.mean - part.mean
        mean = self.mean + apart * (part.n / n)
        away = part.mean - mean
        return Moments(n, mean, self.scatter - part.scatter - np.outer(away, away) * (n * part.n / self.n))

    @property
    def covariance(self) -> Floats:
        return self.scatter / (self.n - 1)


def frechet_distance(x: Floats, y: Floats, mean: Mean = "squared") -> float:
    """‖mean(x) - mean(y)‖² + Tr(Sx + Sy - 2 (Sx Sy)^½) of two sets of rows, with unbiased covariances S (Dowson &
    Landau 1982). `mean="norm"` leaves the first term unsquared. NaN with fewer than two rows on a side."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if min(len(x), len(y)) < 2:
        return float("nan")
    return _distance(x.mean(axis=0), factor_of_rows(x), y.mean(axis=0), factor_of_rows(y), mean)


def frechet_of_moments(x: Moments, y: Moments, mean: Mean = "squared") -> float:
    """`frechet_distance` of what was summarised."""
    if min(x.n, y.n) < 2:
        return float("nan")
    return _distance(x.mean, factor_of_moments(x), y.mean, factor_of_moments(y), mean)


def frechet_of_covariances(
    mean_x: Floats, cov_x: Floats, mean_y: Floats, cov_y: Floats, mean: Mean = "squared"
) -> float:
    """`frechet_distance` of two Gaussians given by their means and covariances."""
    return _distance(mean_x, factor(cov_x), mean_y, factor(cov_y), mean)


def _distance(mean_x: Floats, x: Floats, mean_y: Floats, y: Floats, mean: Mean) -> float:
    """With factors XᵀX = Sx and YᵀY = Sy, the trace of (Sx Sy)^½ is the sum of the singular values of X Yᵀ, and the
    trace of a covariance the sum of its factor's squares. No root of a matrix that is not symmetric is ever taken."""
    shift = float(np.sum((mean_x - mean_y) ** 2))
    shared = float(np.linalg.svd(x @ y.T, compute_uv=False).sum())
    spread = float(np.sum(x**2) + np.sum(y**2)) - 2 * shared
    return (shift if mean == "squared" else shift**0.5) + max(spread, 0.0)


def factor_of_rows(rows: Floats) -> Floats:
    """The centred rows where they are fewer than dimensions, else a square factor of their covariance."""
    centred = (rows - rows.mean(axis=0)) / np.sqrt(len(rows) - 1)
    return centred if len(rows) <= rows.shape[1] else factor(centred.T @ centred)


def factor_of_moments(moments: Moments) -> Floats:
    """Of no more rows than the vectors allow: n vectors span n - 1 dimensions, and what rounding leaves in the others
    would cost six digits."""
    return factor(moments.covariance, int(moments.n) - 1)


def factor(covariance: Floats, rank: int | None = None) -> Floats:
    """F with FᵀF = covariance, by Cholesky where it has full rank, else from its largest eigenvalues."""
    size = len(covariance)
    if rank is None or rank >= size:
        try:
            return np.asarray(np.linalg.cholesky(covariance).T, dtype=np.float64)
        except np.linalg.LinAlgError:
            rank = size
    values, vectors = np.linalg.eigh(covariance)
    kept = slice(size - rank, None)
    return np.asarray(np.sqrt(np.maximum(values[kept], 0.0))[:, None] * vectors[:, kept].T)
