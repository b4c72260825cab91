"""How much of a response was said before in its dialogue: by the system itself, or by the one it talks to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from dialogauge.corpus.dialogues import dialogues, said_by_other, said_by_self
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, unknown
from dialogauge.metrics.base import Floats
from dialogauge.metrics.fitted import WordMetric
from dialogauge.metrics.prepared import MeanMetric, Sums
from dialogauge.text.splitters import AUTO, split_by

Ngram = tuple[str, ...]


@lru_cache(maxsize=1 << 14)
def _words(text: str, words: str = AUTO) -> tuple[str, ...]:
    return tuple(split_by(words)(text))


def ngrams(tokens: Sequence[str], n: int) -> list[Ngram]:
    """All n-grams in order. Fewer than n words are one n-gram by themselves; no words are none."""
    if len(tokens) < n:
        return [tuple(tokens)] if tokens else []
    return list(zip(*(tokens[i:] for i in range(n)), strict=False))


def repeated_share(text: str, earlier: Iterable[str], n: int = 2) -> float:
    """The share of the text's n-grams, repeated ones each time, that an earlier text has; NaN for a text without words
    or where no earlier text has any."""
    heard = {ngram for other in earlier for ngram in ngrams(_words(other), n)}
    own = ngrams(_words(text), n)
    return sum(ngram in heard for ngram in own) / len(own) if own and heard else float("nan")


@dataclass(frozen=True)
class SaidBefore(WordMetric[Floats, Sums], MeanMetric):
    """The mean over turns of the share of n-grams that were said before. A turn before which nothing was said, or
    without words, has no value."""

    bounds = (0.0, 1.0)
    parts = ("exact",)
    level = "dialogue"

    n: int = 2

    def __post_init__(self) -> None:
        if self.n < 1:
            raise InputError(f"n of {self.name}: expected 1 or more, found {self.n}")

    @abstractmethod
    def before(self, turn: Turn) -> tuple[str, ...]:
        """What the turn's own context has of it."""

    @abstractmethod
    def after(self, turn: Turn) -> tuple[str, ...]:
        """What the turn adds for those after it."""

    def measure(self, turns: Sequence[Turn]) -> Floats:
        rows = np.full((len(turns), 2), np.nan)
        for places in dialogues(turns):
            heard: set[Ngram] = set()
            texts: set[Ngram] = set()
            for place in places:
                turn = turns[place]
                self._hear(self.before(turn), heard, texts)
                said = _words(turn.response, self.words)
                own = ngrams(said, self.n)
                if own and heard:
                    rows[place] = sum(ngram in heard for ngram in own) / len(own), said in texts
                if self.forgets:
                    heard, texts = set(), set()
                self._hear(self.after(turn), heard, texts)
        return rows

    @property
    def forgets(self) -> bool:
        """Whether only what stands in a turn's own context counts for it."""
        return False

    def _hear(self, said: Iterable[str], heard: set[Ngram], texts: set[Ngram]) -> None:
        for text in said:
            tokens = _words(text, self.words)
            if tokens not in texts:
                texts.add(tokens)
                heard.update(ngrams(tokens, self.n))


@dataclass(frozen=True)
class SelfRepetition(SaidBefore):
    """Of what the system said earlier in the dialogue: in its earlier turns, and in the context, of which the last
    utterance but one is its own, the fourth last, and so on (See et al. 2019, extrep_bigram)."""

    name = "self_repetition"
    title = "share of a response's bigrams that the system said earlier in the dialogue"
    citations = ("see2019makes",)
    higher_is_better = False
    needs = (frozenset({"dialogue"}), frozenset({"context"}))

    @classmethod
    def needed(cls) -> str:
        return "dialogue or context of two utterances"

    def usable(self, turn: Turn) -> bool:
        """A context of one utterance has nothing of its own."""
        return turn.dialogue is not None or len(turn.context) > 1

    def before(self, turn: Turn) -> tuple[str, ...]:
        return said_by_self(turn)

    def after(self, turn: Turn) -> tuple[str, ...]:
        return (turn.response,)


Heard = Literal["last", "all"]


@dataclass(frozen=True)
class Echo(SaidBefore):
    """Of what the other said: the last utterance of the context, or all of theirs in the dialogue."""

    name = "echo"
    title = "share of a response's bigrams that the other has just said"
    citations = ("see2019makes",)
    higher_is_better = None
    needs = (frozenset({"context"}),)

    history: Heard = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.history not in get_args(Heard):
            raise unknown("history of echo", str(self.history), get_args(Heard))

    @property
    def forgets(self) -> bool:
        return self.history == "last"

    def before(self, turn: Turn) -> tuple[str, ...]:
        return turn.context[-1:] if self.history == "last" else said_by_other(turn)

    def after(self, turn: Turn) -> tuple[str, ...]:
        return ()
