"""RUBER: relatedness to the context and likeness to a reference, blended into one score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, unknown
from dialogauge.metrics import embedding
from dialogauge.metrics.base import Floats
from dialogauge.metrics.embedding import PreparedEmbedding
from dialogauge.metrics.encoding import COVERAGE, NAMED, ReadMeans, text_caveats
from dialogauge.metrics.ruber_referenced import RuberReferenced
from dialogauge.metrics.ruber_unreferenced import CUT, SCORE, SILENT, PreparedRelatedness, open_model
from dialogauge.metrics.sums import Sums

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders

Blend = Literal["arithmetic", "geometric", "min", "max"]
"""The mean, the root of the product, the lower or the higher of the two scores."""


def blended(unreferenced: Floats, referenced: Floats, blend: Blend = "arithmetic") -> Floats:
    """Of two scores from 0 to 1."""
    if blend == "min":
        return np.minimum(unreferenced, referenced)
    if blend == "max":
        return np.maximum(unreferenced, referenced)
    if blend == "geometric":
        return np.asarray(np.sqrt(unreferenced * referenced))
    return np.asarray((unreferenced + referenced) / 2)


@dataclass(frozen=True)
class Ruber(ReadMeans):
    """The mean over turns of the blend. Both scores are first brought to 0 to 1 by constants of the model."""

    name = "ruber"
    title = "relatedness to the context and likeness to a reference, blended"
    citations = ("tao2018ruber", "ghazarian2019better")
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"context", "references"}),)
    parts = ("unreferenced", "referenced")

    blend: Blend = "arithmetic"
    model: str | None = field(default=None, metadata=NAMED)
    """A model directory; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata=NAMED)

    def __post_init__(self) -> None:
        if self.blend not in get_args(Blend):
            raise unknown("blend of ruber", str(self.blend), get_args(Blend))

    def open(self, encoders: Encoders, known: None) -> PreparedRuber:
        from dialogauge.models.trained_with import encoder_name

        encoder, model = open_model(self.model, self.encoder, encoders)
        name = self.encoder or encoder_name(model.saved)
        likeness = RuberReferenced(encoder=name, pool=model.normalisation.pool).open(encoders, None)
        return PreparedRuber(self, known, encoder, model, likeness)

    def caveats(self, summary: Sums) -> list[Caveat]:
        cut, silent = summary.total[3:-COVERAGE]
        caveats = text_caveats(self.label, summary.n, float(cut), 0.0)
        if silent:
            message = (
                f"{self.label}: {int(silent)} of {int(summary.n)} turns have a text without any vector, like no other"
            )
            caveats.append(Caveat("no_vectors", message))
        return caveats


@dataclass(frozen=True)
class PreparedRuber(PreparedRelatedness):
    """Both parts, and how they are brought to one range."""

    asked: Ruber
    likeness: PreparedEmbedding

    def measure(self, turns: Sequence[Turn]) -> Floats:
        related, alike = super().measure(turns), self.likeness.measure(turns)
        ranges = self.model.normalisation
        unreferenced = ranges.unreferenced(related[:, SCORE])
        referenced = np.where(alike[:, embedding.SILENT], 0.0, ranges.referenced(alike[:, embedding.SCORE]))
        cut = np.maximum(related[:, CUT], alike[:, embedding.CUT])
        silent = np.maximum(related[:, SILENT], alike[:, embedding.SILENT])
        coverage = related[:, -COVERAGE:] + alike[:, -COVERAGE:]
        coverage[:, -1] = coverage[:, -1] > 0
        scores = blended(unreferenced, referenced, self.asked.blend)
        return np.column_stack([scores, unreferenced, referenced, cut, silent, coverage])

    def recipe(self) -> dict[str, str]:
        return super().recipe() | {"pool": self.model.normalisation.pool}
