"""Coherence by entailment: does a response follow from what was said, ignore it, or contradict it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.learned.entailment.model import ReadyModel, open_entailment, premise_of
from dialogauge.metrics.base import Floats
from dialogauge.metrics.encoding import COVERAGE, NAMED, PreparedReader, ReadMeans
from dialogauge.metrics.prepared import Sums

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import SavedModel

ScoreForm = Literal["probability", "expected"]
"""The probability of entailment; or (1 + entailment - contradiction) / 2."""
CLASSES = ("entailment", "neutral", "contradiction")
CUT, SILENT = 1 + 2 * len(CLASSES), 2 + 2 * len(CLASSES)
"""Columns after score, probabilities and classes: whether the history was too long; whether a text is empty or has no
vector."""


def coherence(probabilities: Floats, score: ScoreForm = "probability") -> Floats:
    """From 0 to 1, of rows of the probabilities of entailment, neutral and contradiction."""
    entailment, contradiction = probabilities[:, 0], probabilities[:, 2]
    return entailment if score == "probability" else (1 + entailment - contradiction) / 2


@dataclass(frozen=True)
class Entailment(ReadMeans):
    """The mean over turns of the coherence that a trained model sees: the history is the premise, the response the
    hypothesis (Dziri et al. 2019). An empty response, or one without any vector, is neutral, and counted; one that the
    encoder cannot read has no score."""

    name = "entailment"
    title = "whether a response follows from its context, ignores or contradicts it"
    citations = ("dziri2019evaluating",)
    higher_is_better = True
    bounds = (0.0, 1.0)
    needs = (frozenset({"context"}),)
    parts = (*CLASSES, *(f"share_{name}" for name in CLASSES))

    score: ScoreForm = "probability"
    history: int | None = None
    """None for all that was said; 2 for the last two utterances; -1 for the last one alone, -2 for the one before it.
    A turn without such an utterance is left out."""
    model: str | None = field(default=None, metadata=NAMED)
    """A model directory; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata=NAMED)
    """Where the model's encoder is found; None for the name the model has for it."""

    def __post_init__(self) -> None:
        if self.score not in get_args(ScoreForm):
            raise unknown("score of entailment", str(self.score), get_args(ScoreForm))
        if self.history == 0:
            raise InputError("history of entailment: expected a number above or below 0, or all; found 0")

    def open(self, encoders: Encoders, known: None) -> PreparedEntailment:
        ready = open_entailment(self.model).ready(encoders, self.encoder)
        ready.judge.expect()
        return PreparedEntailment(self, known, ready.judge.encoder, ready)

    def caveats(self, summary: Sums) -> list[Caveat]:
        cut, silent, turns = int(summary.total[CUT]), int(summary.total[SILENT]), int(summary.n)
        caveats = []
        if cut:
            message = f"{self.label}: {cut} of {turns} turns are longer than the encoder takes; their beginning is cut"
            caveats.append(Caveat("cut_text", message))
        if silent:
            message = f"{self.label}: {silent} of {turns} turns have a text without any vector, and are neutral"
            caveats.append(Caveat("no_vectors", message))
        return caveats

    def direction(self, part: str) -> bool | None:
        return {"neutral": None, "contradiction": False}.get(part.removeprefix("share_"), True)


@dataclass(frozen=True)
class PreparedEntailment(PreparedReader[Floats, Sums]):
    """A model with the encoder it was trained with."""

    asked: Entailment
    model: ReadyModel

    @property
    def trained(self) -> SavedModel:
        return self.model.model.saved

    def measure(self, turns: Sequence[Turn]) -> Floats:
        premises = [premise_of(turn.context, self.asked.history) for turn in turns]
        there = np.array([bool(premise) for premise in premises], np.bool_)
        found = self.model.judged(
            [premise for premise in premises if premise],
            [turn.response for turn, premise in zip(turns, premises, strict=True) if premise],
        )
        said = np.eye(len(CLASSES))[found.probabilities.argmax(axis=1)]
        rows = np.full((len(turns), SILENT + 1 + COVERAGE), np.nan)
        judged = np.column_stack([coherence(found.probabilities, self.asked.score), found.probabilities, said])
        judged[found.coverage[:, -1] > 0] = np.nan
        rows[there] = np.column_stack([judged, found.cut, found.silent, found.coverage])
        return rows

    def recipe(self) -> dict[str, str]:
        return self.model.recipe()
