"""Conversations as pairs of a query and the response that followed it."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.corpus.unit import unit_of
from dialogauge.errors import Caveat, InputError
from dialogauge.models.query import query_of
from dialogauge.models.shape import RuberKind

Rows = NDArray[np.int64]


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
