"""How a dialogue is shared out: how long it is, who talks how much, and who asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.dialogues import dialogues
from dialogauge.corpus.turn import Turn
from dialogauge.metrics.base import Floats, Values
from dialogauge.metrics.fitted import WordMetric
from dialogauge.metrics.prepared import MeanMetric, SumMetric, Sums
from dialogauge.text.splitters import split_by

MARK = "[?\u037e\u055e\u061f\u1367\u2047-\u2049\u203d\u2e2e\uff1f]"
"""Question marks: ASCII's, Greek, Armenian, Arabic, Ethiopic, double ones, the interrobang, the reversed one, wide."""
ASKS = re.compile(MARK)
ASKS_LAST = re.compile(rf"{MARK}[\s\W_]*\Z")
ADDRESS = re.compile(r"\b\w+://\S+")


def asks(text: str) -> tuple[bool, bool]:
    """Whether a text has a question mark, and whether no word comes after its last one. Those of web addresses do not
    count."""
    text = ADDRESS.sub("", text)
    return bool(ASKS.search(text)), bool(ASKS_LAST.search(text))


@dataclass(frozen=True)
class QuestionRate(MeanMetric):
    """The share of responses that ask; the part `last` counts those that end so."""

    name = "question_rate"
    title = "share of responses that ask a question"
    citations = ("see2019makes",)
    higher_is_better = None
    bounds = (0.0, 1.0)
    parts = ("last",)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        return np.array([asks(turn.response) for turn in turns], dtype=np.float64).reshape(len(turns), 2)


@dataclass(frozen=True)
class Turns(SumMetric):
    """The system's turns by its dialogues. A row is 1, and 1 in the first turn of a dialogue."""

    name = "turns"
    title = "turns of the system per dialogue"
    higher_is_better = None
    bounds = (1.0, np.inf)
    needs = (frozenset({"dialogue"}),)
    level = "dialogue"

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = np.zeros((len(turns), 2))
        rows[:, 0] = 1
        rows[[places[0] for places in dialogues(turns)], 1] = 1
        return rows

    def conclude(self, summary: Sums) -> Values:
        return {"": _ratio(summary.total[..., 0], summary.total[..., 1])}


@dataclass(frozen=True)
class TalkShare(WordMetric[Floats, Sums], SumMetric):
    """The system's words by its words and those of the messages that it answers, over all turns together. A row has
    both numbers of words; a turn without a context, or without a word on both sides, has no value."""

    name = "talk_share"
    title = "share of the words that are the system's, of responses and what they answer"
    higher_is_better = None
    bounds = (0.0, 1.0)
    needs = (frozenset({"context"}),)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        split, rows = split_by(self.words), np.full((len(turns), 2), np.nan)
        for place, turn in enumerate(turns):
            if turn.context and any(spoken := [len(split(text)) for text in (turn.response, turn.context[-1])]):
                rows[place] = spoken
        return rows

    def defined(self, measures: Floats) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(measures).any(axis=1))

    def conclude(self, summary: Sums) -> Values:
        return {"": _ratio(summary.total[..., 0], summary.total.sum(axis=-1))}

    def per_turn(self, measures: Floats) -> Floats:
        return _ratio(measures[:, 0], measures.sum(axis=1))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """NaN where the whole is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
