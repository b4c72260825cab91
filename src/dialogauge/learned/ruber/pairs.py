"""Conversations as pairs of a query and the response that followed it, and responses that did not."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.ruber.inputs import RuberKind
from dialogauge.learned.ruber.model import query_of

Rows = NDArray[np.int64]
Negative = Literal["random", "same_length", "in_batch", "hard"]
"""Any response; one of about as many words; one of the same batch; the likest of 32 drawn at random."""
NEGATIVES = get_args(Negative)
NEAR = 50
"""Same length: at most so many places away when responses are ordered by their number of words."""
POOL = 32
ROUNDS = 50
Draw = Callable[[Rows], Rows]
"""From positions in the epoch's order to pairs of which the responses are taken."""


def bare(text: str) -> str:
    """A text by its letters and digits alone: what is left when files differ in case, spaces and punctuation. Where a
    text has none, the text itself."""
    folded = text.lower()
    if folded.isascii():
        kept = "".join(filter(str.isalnum, folded))
    else:
        kept = "".join(letter for letter in folded if unicodedata.category(letter)[0] in "LMN")
    return kept if any(map(str.isalnum, kept)) else text.strip()


class Texts:
    """Every distinct text once, by its row."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}

    def row(self, text: str) -> int:
        return self.rows.setdefault(text, len(self.rows))

    def listed(self) -> list[str]:
        return list(self.rows)


@dataclass(frozen=True)
class Pairs:
    """Queries and responses as rows of the texts."""

    queries: Rows
    responses: Rows
    previous: Rows
    """What was said before the query; -1 where nothing was, or where it is not looked at by itself."""
    dialogues: Rows
    """A number for the conversation each pair comes from."""

    def __len__(self) -> int:
        return len(self.queries)

    def select(self, rows: Any) -> Self:
        return type(self)(self.queries[rows], self.responses[rows], self.previous[rows], self.dialogues[rows])

    def divide(self, share: float, rng: np.random.Generator) -> tuple[Self, Self]:
        """The pairs of a share of the dialogues, drawn at random, apart from the others."""
        count = int(self.dialogues.max()) + 1
        if count < 2:
            raise InputError(f"expected at least 2 dialogues, one to validate with; found {count}")
        drawn = rng.permutation(count)[: min(max(round(share * count), 1), count - 1)]
        apart = np.isin(self.dialogues, drawn)
        return self.select(~apart), self.select(apart)


@dataclass(frozen=True)
class PairsRead:
    """What came of turns: pairs, and how many were left out."""

    pairs: Pairs
    empty: int
    """Turns without a query or without a response."""
    left_out: int
    """Turns whose query was not to be learned from."""

    def caveats(self) -> list[Caveat]:
        caveats = []
        if self.empty:
            message = f"{self.empty} turns have no context or an empty response, and are not learned from"
            caveats.append(Caveat("empty_pairs", message))
        if self.left_out:
            message = f"{self.left_out} turns ask what --leave-out names, and are not learned from"
            caveats.append(Caveat("left_out", message))
        return caveats


def read_pairs(
    turns: Iterable[Turn], texts: Texts, context: int = 1, network: RuberKind = "ruber", leave_out: Collection[str] = ()
) -> PairsRead:
    """A pair for each turn, by `query_of`. Texts are added to `texts`. Turns that answer an utterance in `leave_out`
    (by `bare`) are left out."""
    rows: list[tuple[int, int, int, int]] = []
    dialogues: dict[Any, int] = {}
    empty = left_out = 0
    for turn in turns:
        query, response = query_of(turn.context, context, network), turn.response.strip()
        if not query.text or not response:
            empty += 1
        elif leave_out and bare(turn.context[-1]) in leave_out:
            left_out += 1
        else:
            previous = texts.row(query.previous) if query.previous else -1
            dialogue = dialogues.setdefault(unit_of(turn), len(dialogues))
            rows.append((texts.row(query.text), texts.row(response), previous, dialogue))
    if not rows:
        raise InputError(
            f"nothing to learn from: {empty} turns without a context or a response, {left_out} left out; "
            "expected conversations of at least two utterances"
        )
    return PairsRead(Pairs(*np.array(rows, np.int64).T), empty, left_out)


def same_texts(texts: Sequence[str]) -> Rows:
    """A number for each text: equal where texts differ in case, spaces and punctuation alone."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(bare(text), len(numbers)) for text in texts], np.int64)


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
        return np.stack([self._negatives_of(kind, order, batch, rng) for kind in kinds], axis=1)

    def _negatives_of(self, kind: Negative, order: Rows, batch: int, rng: np.random.Generator) -> Rows:
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


def response_caveats(judged: int, turns: int) -> list[Caveat]:
    """A warning where turns look like responses to be judged, not like conversations to learn from: `judged` of them
    have ratings or references."""
    if not judged:
        return []
    message = f"{judged} of {turns} turns have ratings or references: are these conversations between people?"
    return [Caveat("system_responses", message)]
