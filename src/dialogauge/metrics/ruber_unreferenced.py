"""RUBER's unreferenced metric: how related a response is to what was said before it, as a trained model sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder
from dialogauge.errors import Caveat
from dialogauge.metrics.base import Floats
from dialogauge.metrics.encoding import NAMED, PreparedReader, ReadMeans, text_caveats
from dialogauge.metrics.sums import Sums

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.models.directory import SavedModel
    from dialogauge.models.ruber import RuberModel

SCORE, CUT, SILENT = range(3)
"""A row: the score; whether a text was too long; whether a text has no vector."""


@dataclass(frozen=True)
class RuberUnreferenced(ReadMeans):
    """The mean over turns of the model's relatedness. A text without a vector (empty, or with static vectors of unknown
    words alone) is related to nothing: 0, counted. With one that a transformer cannot read, a turn has no score."""

    name = "ruber_unreferenced"
    title = "how related a response is to its context, learned from conversations"
    citations = ("tao2018ruber", "ghazarian2019better")
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"context"}),)

    model: str | None = field(default=None, metadata=NAMED)
    """A model directory; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata=NAMED)
    """Where the model's encoder is found; None for the name the model has for it."""

    def open(self, encoders: Encoders, known: None) -> PreparedRelatedness:
        return PreparedRelatedness(self, known, *open_model(self.model, self.encoder, encoders))

    def caveats(self, summary: Sums) -> list[Caveat]:
        return text_caveats(self.label, summary.n, float(summary.total[CUT]), float(summary.total[SILENT]))


@dataclass(frozen=True)
class PreparedRelatedness(PreparedReader[Floats, Sums]):
    """A model with the encoder it was trained with."""

    model: RuberModel

    @property
    def trained(self) -> SavedModel:
        return self.model.saved

    def measure(self, turns: Sequence[Turn]) -> Floats:
        contexts, responses = [turn.context for turn in turns], [turn.response for turn in turns]
        found = self.model.relatedness(self.encoder, contexts, responses)
        scores = np.where(found.coverage[:, -1], np.nan, np.where(found.silent, 0.0, found.values))
        return np.column_stack([scores, found.cut, found.silent, found.coverage])

    def recipe(self) -> dict[str, str]:
        return {"model": self.model.identity, **self.encoder.recipe(), "context": str(self.model.context)}


def open_model(model: str | None, encoder: str | None, encoders: Encoders) -> tuple[Encoder, RuberModel]:
    """The model, and its encoder as the run has it."""
    from dialogauge.models.ruber import open_ruber
    from dialogauge.models.trained_with import find_encoder

    opened = open_ruber(model)
    found = find_encoder(opened.saved, encoder, encoders)
    opened.expect(found)
    return found, opened
