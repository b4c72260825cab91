"""Whether a response contradicts what the system said before, or the facts that it was given, by a trained model of
entailment."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dialogauge.corpus.dialogues import dialogues, said_by_self
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.entailment.model import CONTRADICTION, ENTAILMENT, ReadyModel, open_entailment
from dialogauge.metrics.base import Floats
from dialogauge.metrics.encoding import COVERAGE, NAMED, PreparedReader, ReadMeans
from dialogauge.metrics.prepared import Sums

if TYPE_CHECKING:
    from dialogauge.encode.encoders import Encoders
    from dialogauge.learned.directory import SavedModel

CUT = 2
"""The column after the value and the part: whether a pair was too long."""


@dataclass(frozen=True)
class StatementMetric(ReadMeans):
    """The mean over turns of what a model sees in pairs of an earlier statement (the premise) and the response (the
    hypothesis). A turn without statements, or without words, has no value."""

    bounds = (0.0, 1.0)

    model: str | None = field(default=None, metadata=NAMED)
    """A model directory; None for the model that comes with dialogauge."""
    encoder: str | None = field(default=None, metadata=NAMED)
    """Where the model's encoder is found; None for the name the model has for it."""

    @abstractmethod
    def statements(self, turns: Sequence[Turn]) -> list[list[str]]:
        """What each turn is held against: texts with words, each once."""

    @abstractmethod
    def value(self, probabilities: Floats) -> tuple[float, float]:
        """The value and the part of a turn, from a row of probabilities for each statement."""

    def open(self, encoders: Encoders, known: None) -> PreparedStatements:
        ready = open_entailment(self.model).ready(encoders, self.encoder)
        ready.judge.expect()
        return PreparedStatements(self, known, ready.judge.encoder, ready)

    def caveats(self, summary: Sums) -> list[Caveat]:
        cut, turns = int(summary.total[CUT]), int(summary.n)
        if not cut:
            return []
        message = f"{self.label}: {cut} of {turns} turns have a pair longer than the encoder takes; its start is cut"
        return [Caveat("cut_text", message)]


@dataclass(frozen=True)
class PreparedStatements(PreparedReader[Floats, Sums]):
    """A model with the encoder it was trained with."""

    asked: StatementMetric
    model: ReadyModel

    @property
    def trained(self) -> SavedModel:
        return self.model.model.saved

    def measure(self, turns: Sequence[Turn]) -> Floats:
        statements = [
            texts if turn.response.strip() else []
            for turn, texts in zip(turns, self.asked.statements(turns), strict=True)
        ]
        found = self.model.judged(
            [text for texts in statements for text in texts],
            [turn.response for turn, texts in zip(turns, statements, strict=True) for _ in texts],
        )
        rows = np.full((len(turns), CUT + 1 + COVERAGE), np.nan)
        start = 0
        for place, texts in enumerate(statements):
            pairs = slice(start, start := start + len(texts))
            if not texts:
                continue
            # A statement that cannot be seen, or a response, is neutral to everything: it says nothing.
            seen = found.probabilities[pairs][~found.silent[pairs]]
            illegible = bool(found.coverage[pairs, -1].all())
            value = self.asked.value(seen) if len(seen) and not illegible else (np.nan, np.nan)
            rows[place] = *value, found.cut[pairs].any(), *found.coverage[pairs, :-1].sum(axis=0), illegible
        return rows

    def recipe(self) -> dict[str, str]:
        return self.model.recipe()


@dataclass(frozen=True)
class SelfContradiction(StatementMetric):
    """The largest probability with which a response contradicts one of the system's own earlier turns of the dialogue;
    the part `share` counts turns of which a contradiction is the most probable (after Welleck et al. 2019)."""

    name = "self_contradiction"
    title = "largest probability that a response contradicts an earlier turn of the system"
    citations = ("welleck2019dialogue",)
    higher_is_better = False
    needs = (frozenset({"dialogue"}), frozenset({"context"}))
    parts = ("share",)
    level = "dialogue"

    history: int = 20
    """So many of the system's last different turns count."""

    def __post_init__(self) -> None:
        if self.history < 1:
            raise InputError(f"history of self_contradiction: expected 1 or more, found {self.history}")

    @classmethod
    def needed(cls) -> str:
        return "dialogue or context of two utterances"

    def usable(self, turn: Turn) -> bool:
        """A context of one utterance has nothing of its own."""
        return turn.dialogue is not None or len(turn.context) > 1

    def statements(self, turns: Sequence[Turn]) -> list[list[str]]:
        found: list[list[str]] = [[] for _ in turns]
        for places in dialogues(turns):
            said: dict[str, None] = {}
            for place in places:
                said.update(dict.fromkeys(text for text in map(str.strip, said_by_self(turns[place])) if text))
                found[place] = list(said)[-self.history :]
                if own := turns[place].response.strip():
                    said[own] = None
        return found

    def value(self, probabilities: Floats) -> tuple[float, float]:
        return float(probabilities[:, CONTRADICTION].max()), _any_is(probabilities, CONTRADICTION)


@dataclass(frozen=True)
class FactConsistency(StatementMetric):
    """1 less the largest probability with which a response contradicts one of the turn's facts; the part `support` is
    the largest with which a fact entails it."""

    name = "fact_consistency"
    title = "1 less the largest probability that a response contradicts a fact it was given"
    citations = ("welleck2019dialogue",)
    higher_is_better = True
    needs = (frozenset({"facts"}),)
    parts = ("support",)

    def statements(self, turns: Sequence[Turn]) -> list[list[str]]:
        return [list(dict.fromkeys(filter(None, map(str.strip, turn.facts)))) for turn in turns]

    def value(self, probabilities: Floats) -> tuple[float, float]:
        return 1 - float(probabilities[:, CONTRADICTION].max()), float(probabilities[:, ENTAILMENT].max())


def _any_is(probabilities: Floats, label: int) -> float:
    return float((probabilities.argmax(axis=1) == label).any())
