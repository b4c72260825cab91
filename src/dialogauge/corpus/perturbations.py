"""The ways to make one response worse. Words are what whitespace separates, so that text stays as it was typed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.corpus.turn import Turn

WORD = re.compile(r"\S+")

GENERIC = (
    "I don't know.",
    "I'm not sure about that.",
    "That sounds good.",
    "Yes, I think so too.",
    "What do you mean?",
)
"""What dull systems say to everything: the sentences of `repeat`, unless others are given."""


@dataclass(frozen=True, slots=True)
class ChosenTurn:
    """A turn whose response is to be changed, with what the change may draw on."""

    turn: Turn
    following: str
    """The response of the turn chosen after this one; after the last comes the first."""
    stream: int
    """The seed of this turn's own random numbers: they never depend on how many turns are chosen beside it."""
    words: Sequence[str]
    sentences: Sequence[str]

    def random(self) -> np.random.Generator:
        return np.random.default_rng(self.stream)


@dataclass(frozen=True)
class Perturbation:
    """A way to change a response; `change` gives the new text, or None where there is none."""

    change: Callable[[ChosenTurn], str | None]
    excuse: str
    """Why a chosen turn can be left as it is."""


def noise(chosen: ChosenTurn) -> str | None:
    """Inserts a quarter to a half as many words as there are, at least one. Number, places and words are uniform."""
    if not chosen.words:
        return None
    words = WORD.findall(chosen.turn.response)
    random = chosen.random()
    count = random.integers(max(1, math.ceil(len(words) / 4)), max(1, len(words) // 2), endpoint=True)
    slots: list[list[str]] = [[] for _ in range(len(words) + 1)]
    places = random.integers(len(slots), size=count).tolist()
    drawn = random.integers(len(chosen.words), size=count).tolist()
    for place, word in zip(places, drawn, strict=True):
        slots[place].append(chosen.words[word])
    *before, after = slots
    if not words:
        return " ".join(after)
    widened = [" ".join([*inserted, own]) for inserted, own in zip(before, words, strict=True)]
    widened[-1] = " ".join([widened[-1], *after])
    return _with_words(chosen.turn.response, widened)


def mismatch(chosen: ChosenTurn) -> str:
    return chosen.following


def permute(chosen: ChosenTurn) -> str | None:
    """Puts the words in another order; the spaces between them stay in their places."""
    words = WORD.findall(chosen.turn.response)
    if len(set(words)) < 2:
        return None
    random = chosen.random()
    shuffled = words
    while shuffled == words:
        shuffled = [words[place] for place in random.permutation(len(words))]
    return _with_words(chosen.turn.response, shuffled)


def repeat(chosen: ChosenTurn) -> str | None:
    """Says a generic sentence, another one where the response is one already."""
    others = [sentence for sentence in chosen.sentences if sentence != chosen.turn.response]
    return others[chosen.random().integers(len(others))] if others else None


def truncate(chosen: ChosenTurn) -> str | None:
    """Keeps the first half of the words, rounded down, but at least one."""
    ends = [word.end() for word in WORD.finditer(chosen.turn.response)]
    return chosen.turn.response[: ends[len(ends) // 2 - 1]] if len(ends) > 1 else None


def parrot(chosen: ChosenTurn) -> str | None:
    """Says the last utterance of the context back."""
    last = chosen.turn.context[-1] if chosen.turn.context else ""
    return last if last.strip() else None


def _with_words(text: str, words: Sequence[str]) -> str:
    """The text with these words in place of its own, and its own spaces."""
    following = iter(words)
    return WORD.sub(lambda _: next(following), text)


KINDS = {
    "noise": Perturbation(noise, "there are no words to insert"),
    "mismatch": Perturbation(mismatch, "no other response was chosen to take, or one with the same text"),
    "permute": Perturbation(permute, "the response has fewer than two different words"),
    "repeat": Perturbation(repeat, "the response is the only generic sentence there is"),
    "truncate": Perturbation(truncate, "the response has fewer than two words"),
    "parrot": Perturbation(parrot, "there is no last utterance to say back, or the response says it already"),
}
