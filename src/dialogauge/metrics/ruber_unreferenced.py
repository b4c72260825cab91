"""RUBER's unreferenced metric: how related a response is to what was said before it, as a trained model sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.encode.base import Encoder
from dialogauge.errors import Caveat, InputError
from dialogauge.metrics.base import HIDDEN, Floats
from dialogauge.metrics.encoding import NAMED, ReadMeanMetric, text_caveats
from dialogauge.metrics.sums import Sums
from dialogauge.text.languages import MadeFor

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.models.ruber import RuberModel

SCORE, CUT, SILENT = range(3)
"""A row: the score; whether a text was too long; whether a text has no vector."""


@dataclass(frozen=True)
class Ready:
    """A model with the encoder it was trained with."""

    model: RuberModel
    encoder: Encoder

    def recipe(self) -> dict[str, str]:
        return {"model": self.model.identity, **self.encoder.recipe(), "context": str(self.model.context)}


@dataclass(frozen=True)
class RuberUnreferenced(ReadMeanMetric):
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
    ready: Ready | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)

    @property
    def reader(self) -> Encoder | None:
        return None if self.ready is None else self.ready.encoder

    @property
    def made_for(self) -> tuple[MadeFor, ...]:
        return super().made_for + (() if self.ready is None else self.ready.model.saved.made_for)

    def prepare(self, corpus: Corpus, real: Corpus | None = None, encoders: Encoders | None = None) -> Self:
        return replace(self, ready=make_ready(self.model, self.encoder, encoders))

    def measure(self, turns: Sequence[Turn]) -> Floats:
        if self.ready is None:
            raise InputError(f"{self.name} has no model yet: call prepare(corpus) first")
        return measure(self.ready, turns)

    def caveats(self, summary: Sums) -> list[Caveat]:
        return text_caveats(self.label, summary.n, float(summary.total[CUT]), float(summary.total[SILENT]))

    def recipe(self) -> dict[str, str]:
        return {} if self.ready is None else self.ready.recipe()


def make_ready(model: str | None, encoder: str | None, encoders: Encoders | None) -> Ready:
    """The model, and its encoder as the run has it."""
    from dialogauge.encode.encoders import Encoders
    from dialogauge.models.ruber import open_ruber
    from dialogauge.models.trained_with import find_encoder

    opened = open_ruber(model)
    found = find_encoder(opened.saved, encoder, encoders or Encoders())
    opened.expect(found)
    return Ready(opened, found)


def measure(ready: Ready, turns: Sequence[Turn]) -> Floats:
    """A row for each turn: relatedness, and what `caveats` counts."""
    found = ready.model.relatedness(ready.encoder, [turn.context for turn in turns], [turn.response for turn in turns])
    scores = np.where(found.coverage[:, -1], np.nan, np.where(found.silent, 0.0, found.values))
    return np.column_stack([scores, found.cut, found.silent, found.coverage])
