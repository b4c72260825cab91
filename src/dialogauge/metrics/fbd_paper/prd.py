"""PRD as the authors of FBD compute it: scikit-learn's MiniBatchKMeans, ten runs, every vector counted once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dialogauge.metrics.codebooks import Fit, minibatch_codebooks
from dialogauge.metrics.distribution import CONTEXT
from dialogauge.metrics.fbd_paper import COMPAT
from dialogauge.metrics.prd import Prd


@dataclass(frozen=True)
class PaperPrd(Prd):
    """The clustering is theirs; their curve and ours are the same."""

    context: int | None = field(default=None, metadata=CONTEXT)
    fit: ClassVar[Fit] = staticmethod(minibatch_codebooks)

    def recipe(self) -> dict[str, str]:
        return {**COMPAT, **super().recipe(), "kmeans": "minibatch-ninit10"}
