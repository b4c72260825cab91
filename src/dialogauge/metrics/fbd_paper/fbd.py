"""FBD as its authors' code has it, which is ours as well: the squared distance of means, [CLS] of the last layer."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialogauge.encode.base import Encoder
from dialogauge.metrics.distribution import CONTEXT, RealSide
from dialogauge.metrics.fbd import Fbd
from dialogauge.metrics.fbd_paper import COMPAT


@dataclass(frozen=True)
class PaperFbd(Fbd):
    """Only that the whole history counts, and the signature, differ."""

    context: int | None = field(default=None, metadata=CONTEXT)

    def recipe_with(self, encoder: Encoder, known: RealSide) -> dict[str, str]:
        return {**COMPAT, **super().recipe_with(encoder, known)}
