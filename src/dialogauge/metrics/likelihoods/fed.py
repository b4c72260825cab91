"""FED: whether a language model expects the user to be pleased by a response, or by a whole dialogue, in the next
utterance, or to complain."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from dialogauge.corpus.dialogues import dialogues
from dialogauge.corpus.turn import Turn
from dialogauge.encode.causal.language_model import CUT_CONTEXT, CUT_TEXT, LOG_P, TOKENS
from dialogauge.encode.causal.prompt import as_lines
from dialogauge.metrics.base import Floats
from dialogauge.metrics.likelihoods.base import CUTS, LikelihoodMetric, PreparedLikelihood
from dialogauge.metrics.prepared import MeansOfRows

if TYPE_CHECKING:
    from dialogauge.encode.causal.language_model import LanguageModel
    from dialogauge.encode.encoders import Encoders

FILE = Path(__file__).parents[1] / "data" / "fed-follow-ups.toml"
QUALITIES = (
    "interesting",
    "engaging",
    "specific",
    "relevant",
    "correct",
    "semantically_appropriate",
    "understandable",
    "fluent",
)
DIALOGUE_QUALITIES = (
    "coherent",
    "error_recovery",
    "consistent",
    "diverse",
    "depth",
    "likeable",
    "understanding",
    "flexible",
    "informative",
    "inquisitive",
)


class FollowUps(NamedTuple):
    """What is said after a response, or a dialogue, that has a quality, and after one that lacks it."""

    positive: tuple[str, ...]
    """None for qualities of which only the lack is spoken of."""
    negative: tuple[str, ...]


@cache
def follow_ups(level: Literal["turn", "dialogue"] = "turn") -> dict[str, FollowUps]:
    """By quality of a response or of a whole dialogue, after Mehri & Eskenazi 2020."""
    listed = tomllib.loads(FILE.read_text(encoding="utf-8"))
    names, sides = (QUALITIES, listed) if level == "turn" else (DIALOGUE_QUALITIES, listed["dialogue"])
    return {name: FollowUps(*(tuple(sides[name][side]) for side in FollowUps._fields)) for name in names}


def fed_quality(likelihoods: Mapping[str, float], utterances: FollowUps) -> float:
    """The mean likelihood of the positive follow-ups, 0 where there are none, less that of the negative ones; from the
    mean log p of each one's tokens."""
    sides = [[likelihoods[text] for text in side] for side in utterances]
    positive, negative = (sum(side) / len(side) if side else 0.0 for side in sides)
    return positive - negative


@dataclass(frozen=True)
class Fed(LikelihoodMetric, MeansOfRows):
    """The mean over turns, and over the eight qualities of turns, of `fed_quality` after context and response."""

    name = "fed"
    title = "whether pleased follow-ups are likelier than complaints, by a language model"
    citations = ("mehri2020unsupervised",)
    higher_is_better = True
    bounds = (-np.inf, np.inf)
    parts: ClassVar[tuple[str, ...]] = QUALITIES
    columns = 1 + len(QUALITIES)

    def rows(self, turns: Sequence[Turn], model: LanguageModel) -> Floats:
        listed = follow_ups(self.level)
        said = list(dict.fromkeys(text for each in listed.values() for side in each for text in side))
        contexts = [self._joined(turn) for turn in turns]
        found = model.likelihoods([(context, text) for context in contexts for text in said])
        found = found.reshape(len(turns), len(said), -1)
        means = found[..., LOG_P] / found[..., TOKENS]
        values = np.array(
            [
                [fed_quality(dict(zip(said, row, strict=True)), each) for each in listed.values()]
                for row in means.tolist()
            ]
        )
        cuts = (found[..., [CUT_CONTEXT, CUT_TEXT]] > 0).any(axis=1)
        return np.column_stack([values.mean(axis=1), values, cuts])

    def _joined(self, turn: Turn) -> str:
        return "\n".join(filter(None, (self.before(turn), as_lines([turn.response]))))


@dataclass(frozen=True)
class FedDialogue(Fed):
    """The mean over dialogues, and over the ten qualities of dialogues, of `fed_quality` after the last response. The
    other turns of a dialogue have no value."""

    name = "fed_dialogue"
    title = "whether a whole dialogue makes pleased follow-ups likelier than complaints"
    level = "dialogue"
    parts = DIALOGUE_QUALITIES
    columns = 1 + len(DIALOGUE_QUALITIES)

    def open(self, encoders: Encoders, known: None) -> PreparedFedDialogue:
        return PreparedFedDialogue(self, known, encoders.language_model(self.model, self.dtype))


@dataclass(frozen=True)
class PreparedFedDialogue(PreparedLikelihood):
    """Asks after the last turn of each dialogue alone."""

    @property
    def undefined_because(self) -> str:
        return "the turn is not the last of its dialogue, or the last is empty"

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = np.full((len(turns), self.asked.columns + CUTS), np.nan)
        last = [places[-1] for places in dialogues(turns)]
        rows[last] = super().measure([turns[place] for place in last])
        return rows
