"""Responses that did not follow the query, drawn from those of other pairs. One with the same text as the true response
is never drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.errors import InputError
from dialogauge.learn.pairs import Pairs, Rows, same_texts

Negative = Literal["random", "same_length", "in_batch", "hard"]
"""Any response; one of about as many words; one of the same batch; the likest of 32 drawn at random."""
NEGATIVES = get_args(Negative)
NEAR = 50
"""Same length: at most so many places away when responses are ordered by their number of words."""
POOL = 32
ROUNDS = 50

Draw = Callable[[Rows], Rows]
"""From positions in the epoch's order to pairs of which the responses are taken."""


@dataclass(frozen=True)
class Sampler:
    """Draws for the pairs in the order in which an epoch takes them."""

    pairs: Pairs
    texts: Sequence[str]
    same: Rows
    """Equal numbers where texts are the same."""
    vectors: NDArray[np.float32] | None = None
    """Of each text, of length 1: for hard negatives."""

    def __post_init__(self) -> None:
        if len(np.unique(self.same[self.pairs.responses])) < 2:
            raise InputError("all responses are the same text: nothing to tell apart")

    def draw(self, kinds: Sequence[Negative], order: Rows, batch: int, rng: np.random.Generator) -> Rows:
        """Rows of texts: row i, column k is a negative of kind k for the pair `order[i]`."""
        return np.stack([self._of_kind(kind, order, batch, rng) for kind in kinds], axis=1)

    def _of_kind(self, kind: Negative, order: Rows, batch: int, rng: np.random.Generator) -> Rows:
        if kind == "hard":
            return self._hard(order, rng)
        draw = {
            "random": self._anywhere(rng),
            "same_length": self._near(order, rng),
            "in_batch": self._in_batch(order, batch, rng),
        }[kind]
        true = self.pairs.responses[order]
        drawn = self.pairs.responses[draw(np.arange(len(order)))]
        for attempt in range(ROUNDS):
            wrong = np.flatnonzero(self.same[drawn] == self.same[true])
            if not len(wrong):
                return drawn
            # A batch, or a neighbourhood, can consist of one text alone.
            again = draw if attempt < ROUNDS // 2 else self._anywhere(rng)
            drawn[wrong] = self.pairs.responses[again(wrong)]
        return self._never_the_same(drawn, true, rng)

    def _never_the_same(self, drawn: Rows, true: Rows, rng: np.random.Generator) -> Rows:
        """Where nearly all responses are one text, chance would take forever."""
        for place in np.flatnonzero(self.same[drawn] == self.same[true]):
            others = self.pairs.responses[self.same[self.pairs.responses] != self.same[true[place]]]
            drawn[place] = rng.choice(others)
        return drawn

    def _anywhere(self, rng: np.random.Generator) -> Draw:
        return lambda places: rng.integers(len(self.pairs), size=len(places))

    @cached_property
    def _words(self) -> Rows:
        return np.array([len(self.texts[row].split()) for row in self.pairs.responses])

    def _near(self, order: Rows, rng: np.random.Generator) -> Draw:
        """Those of one length stand in random order, else those of one file would be near each other. At either end
        there are fewer to draw from, and all alike."""
        ranked = np.lexsort((rng.permutation(len(self.pairs)), self._words))
        rank = np.argsort(ranked)

        def draw(places: Rows) -> Rows:
            at = rank[order[places]]
            return np.asarray(ranked[rng.integers(np.maximum(at - NEAR, 0), np.minimum(at + NEAR + 1, len(ranked)))])

        return draw

    def _in_batch(self, order: Rows, batch: int, rng: np.random.Generator) -> Draw:
        def draw(places: Rows) -> Rows:
            start = places // batch * batch
            size = np.minimum(batch, len(order) - start)
            return np.asarray(order[start + rng.integers(size)])

        return draw

    def _hard(self, order: Rows, rng: np.random.Generator, block: int = 2048) -> Rows:
        if self.vectors is None:
            raise InputError("hard negatives need vectors of the texts")
        found = []
        for start in range(0, len(order), block):
            true = self.pairs.responses[order[start : start + block]]
            pool = self.pairs.responses[rng.integers(len(self.pairs), size=(len(true), POOL))]
            likeness: Any = np.einsum("nd,nkd->nk", self.vectors[true], self.vectors[pool])
            likeness[self.same[pool] == self.same[true][:, None]] = -np.inf
            chosen = pool[np.arange(len(true)), likeness.argmax(axis=1)]
            found.append(self._never_the_same(chosen, true, rng))
        return np.concatenate(found)


def sampler(pairs: Pairs, texts: Sequence[str], vectors: NDArray[np.float32] | None = None) -> Sampler:
    return Sampler(pairs, texts, same_texts(texts), vectors)
