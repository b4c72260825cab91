"""Contradictions from files: those of NLI corpora as they stand, and those of facts by Dialogue NLI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dialogauge.corpus.inference import InferencePair, read_inference
from dialogauge.errors import Caveat, InputError
from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.dialogues import hashed, split_of
from dialogauge.learn.synthesis.slot import Slot


def read_contradictions(
    paths: Sequence[str | Path], skip_invalid: bool = False
) -> tuple[list[InferencePair], list[Caveat]]:
    """Every contradiction of the files once."""
    found: dict[tuple[tuple[str, ...], str], InferencePair] = {}
    caveats = []
    for path in paths:
        file, before = read_inference(path, skip_invalid), len(found)
        for pair in file:
            if pair.label == "contradiction":
                found.setdefault((pair.premise, pair.hypothesis), pair)
        if len(found) == before:
            raise InputError("expected contradictions, found none that other files do not hold", path)
        caveats += file.caveats
    return list(found.values()), caveats


class Deck:
    """The contradictions of each split, shuffled, each given once. Pairs with the same premise are in one split."""

    def __init__(self, pairs: Iterable[InferencePair], seed: int, shares: Mapping[str, float]) -> None:
        self._cards: dict[str, list[InferencePair]] = {split: [] for split in shares}
        for pair in pairs:
            self._cards[split_of(seed, "\0".join(map(bare, pair.premise)), shares)].append(pair)
        for cards in self._cards.values():
            cards.sort(key=lambda pair: (hashed(seed, *pair.premise, pair.hypothesis), pair.premise, pair.hypothesis))

    def left(self, split: str) -> int:
        return len(self._cards[split])

    def draw(self, slot: Slot) -> tuple[tuple[str, ...], str] | None:
        cards = self._cards[slot.dialogue.split]
        if not cards:
            return None
        pair = cards.pop()
        return pair.premise, pair.hypothesis


class FactContradictions:
    """For a fact, the sentences that contradict it; both directions of a pair count. A fact has contradictions in one
    split alone."""

    def __init__(self, pairs: Iterable[InferencePair], seed: int, shares: Mapping[str, float]) -> None:
        self._against: dict[str, dict[str, None]] = {}
        for pair in pairs:
            one, other = " ".join(pair.premise), pair.hypothesis
            self._against.setdefault(bare(one), {})[other] = None
            self._against.setdefault(bare(other), {})[one] = None
        self._seed, self._shares = seed, shares

    def draw(self, slot: Slot) -> tuple[tuple[str, ...], str] | None:
        """A sentence against one of the facts that the premise shows."""
        if not slot.shows_facts:
            return None
        against = [
            sentence
            for fact in map(bare, slot.facts)
            if fact in self._against and split_of(self._seed, fact, self._shares) == slot.dialogue.split
            for sentence in self._against[fact]
            if bare(sentence) not in slot.taken
        ]
        return (slot.premise, against[slot.below(len(against))]) if against else None
