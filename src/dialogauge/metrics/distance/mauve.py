"""MAUVE (Pillutla et al. 2021): the area under the curve of divergences between real and generated pairs, over clusters
of an encoder's vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.distance.paired_rows import PairedSummary
from dialogauge.metrics.distance.prd import Histograms, Prd

MIXTURES = 25
"""Points of the curve, beside its ends."""
NEAR_END = 1e-6
"""How far the mixtures stay from one side alone."""
FEW_PER_CLUSTER = 10


def divergence_curve(real: ArrayLike, generated: ArrayLike, scale: float = 5.0) -> Floats:
    """Points (exp(-c KL(Q|R)), exp(-c KL(P|R))) of shape (…, points, 2), for R = λ P + (1 - λ) Q, P real and Q
    generated, from (1, 0) to (0, 1). Histograms lie along the last axis: counts or shares, each divided by its sum."""
    sides = [np.asarray(side, dtype=np.float64) for side in (real, generated)]
    if not all(side.ndim for side in sides) or sides[0].shape != sides[1].shape:
        shapes = " and ".join(str(side.shape) for side in sides)
        raise InputError(f"expected histograms over the same bins; found shapes {shapes}")
    p, q = (side / side.sum(axis=-1, keepdims=True) for side in sides)
    weights = np.linspace(NEAR_END, 1 - NEAR_END, MIXTURES)[:, None]
    mixed = weights * p[..., None, :] + (1 - weights) * q[..., None, :]
    inner = np.exp(-scale * np.stack([_divergence(side[..., None, :], mixed) for side in (q, p)], axis=-1))
    ends = (
        np.broadcast_to([[1.0, 0.0]], (*inner.shape[:-2], 1, 2)),
        np.broadcast_to([[0.0, 1.0]], (*inner.shape[:-2], 1, 2)),
    )
    return np.concatenate([ends[0], inner, ends[1]], axis=-2)


def _divergence(side: Floats, mixed: Floats) -> Floats:
    """KL(side | mixed), in nats; a bin that the side does not have adds nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(side > 0, side * np.log(side / mixed), 0.0).sum(axis=-1)
    return np.asarray(np.maximum(found, 0.0), np.float64)  # rounding can leave less


def mauve_of_histograms(real: ArrayLike, generated: ArrayLike, scale: float = 5.0) -> Floats:
    """The area under `divergence_curve`, from 0 to 1: the mean of the areas over both axes."""
    curve = divergence_curve(real, generated, scale)
    first, second = (_area(curve[..., one], curve[..., other]) for one, other in ((0, 1), (1, 0)))
    return (first + second) / 2


def _area(across: Floats, up: Floats) -> Floats:
    """By trapezoids, from left to right; of points above each other the upper one first, so that the end (1, 0) comes
    last also where both sides are the same."""
    order = np.lexsort((-up, across), axis=-1)
    across, up = np.take_along_axis(across, order, -1), np.take_along_axis(up, order, -1)
    return np.asarray((np.diff(across) * (up[..., 1:] + up[..., :-1]) / 2).sum(axis=-1))


@dataclass(frozen=True)
class Mauve(Prd):
    """The area, averaged over clusterings of the real and this system's vectors, which are those of `prd`."""

    name = "mauve"
    title = "area under the divergence curve of (context, response) pairs and real ones, over clusters of vectors"
    citations = ("pillutla2021mauve",)
    parts = ("spread",)
    main = "area"

    scale: float = 5.0
    """Divergences are multiplied by it: the larger, the lower the score."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.scale <= 1000:
            raise InputError(f"mauve: scale is {self.scale:g}; expected a number above 0, 1000 at most")

    @property
    def judged(self) -> tuple[str, ...]:
        return ("",)

    def conclude(self, summary: PairedSummary[Histograms]) -> Values:
        if not summary.real.n or not summary.generated.n:
            return {"": np.nan, "spread": np.nan}
        areas = mauve_of_histograms(summary.real.counts, summary.generated.counts, self.scale)
        return {"": float(areas.mean()), "spread": float(areas.std(ddof=1)) if self.runs > 1 else np.nan}

    def caveats_of_systems(
        self, summaries: Mapping[str, PairedSummary[Histograms]], units: Mapping[str, int]
    ) -> list[Caveat]:
        """With few vectors for each cluster, chance alone makes histograms differ, and the score low."""
        caveats = [caveat for caveat in super().caveats_of_systems(summaries, units) if caveat.code != "few_vectors"]
        fewest = min(min(summary.real.n, summary.generated.n) for summary in summaries.values())
        if fewest < FEW_PER_CLUSTER * self.clusters:
            message = (
                f"{self.label}: {fewest} vectors on a side for {self.clusters} clusters, fewer than {FEW_PER_CLUSTER} "
                "for each: chance lowers the score, more so the fewer there are; compare systems of one size alone, "
                "and look at the floor"
            )
            caveats.append(Caveat("few_vectors", message))
        return caveats
