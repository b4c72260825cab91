"""PRD as the authors of FBD compute it: scikit-learn's MiniBatchKMeans, ten runs, every vector counted once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dialogauge.encode.base import Encoder
from dialogauge.metrics.codebooks import Fit, minibatch_codebooks
from dialogauge.metrics.distribution import CONTEXT, RealSide
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.prd import Prd


@dataclass(frozen=True)
class PaperPrd(Prd):
    """The clustering is theirs; their curve and ours are the same."""

    context: int | None = field(default=None, metadata=CONTEXT)
    fit: ClassVar[Fit] = staticmethod(minibatch_codebooks)

    def recipe_with(self, encoder: Encoder, known: RealSide) -> dict[str, str]:
        return {**COMPAT, **super().recipe_with(encoder, known), "kmeans": "minibatch-ninit10"}
