"""Where hypotheses come from: other dialogues, generic replies, random words, and files of contradictions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from dialogauge.corpus.inference import InferencePair, read_inference
from dialogauge.corpus.reading.source import decode, raw_lines
from dialogauge.errors import Caveat, InputError
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis.dialogues import TRIES, Dialogue, Slot, hashed, split_of

GENERIC = Path(__file__).with_name("generic.txt")
_MARK = re.compile(r"(?<=\w)([.,!?])")
_SPACED, _CLOSE = re.compile(r"\s[.,!?]"), re.compile(r"\w[.,!?](\s|$)")
FEWEST = 2
"""Words of a salad: one alone is often a reply."""


class UtterancePool:
    """The utterances of a split."""

    def __init__(self, dialogues: Iterable[Dialogue]) -> None:
        self._texts: list[str] = []
        self._bare: list[str] = []
        self._owners: list[int] = []
        for dialogue in dialogues:
            for text in dialogue.utterances():
                self._texts.append(text.strip())
                self._bare.append(bare(text))
                self._owners.append(dialogue.number)

    def draw(self, slot: Slot) -> str | None:
        """One of another dialogue, all equally likely, that the slot can take; None where there is none."""
        for _ in range(TRIES):
            place = jump(slot.random.getrandbits(64), len(self._texts))
            if self._fits(slot, place):
                return self._texts[place]
        start = jump(slot.random.getrandbits(64), len(self._texts))
        places = (*range(start, len(self._texts)), *range(start))
        return next((self._texts[place] for place in places if self._fits(slot, place)), None)

    def _fits(self, slot: Slot, place: int) -> bool:
        return self._owners[place] != slot.dialogue.number and self._bare[place] not in slot.taken


def jump(key: int, buckets: int) -> int:
    """Lamping and Veach's jump consistent hash: each of the buckets is equally likely, and one more bucket at the end
    changes the result for one key in as many as there are buckets. So dialogues that are added at the end of a corpus
    leave nearly all pairs as they were."""
    chosen, following = 0, 0
    while following < buckets:
        chosen = following
        key = (key * 2862933555777941757 + 1) & 0xFFFFFFFFFFFFFFFF
        following = int((chosen + 1) * (2147483648 / ((key >> 33) + 1)))
    return chosen


def read_generic(path: str | Path | None = None) -> list[str]:
    """One reply per line; the list of ours where no file is given."""
    file = Path(path or GENERIC)
    replies = [text for line, raw in raw_lines(file) if (text := decode(raw, file, line).strip())]
    if len({bare(reply) for reply in replies}) < 2:
        raise InputError("expected at least two different replies, one per line", file)
    return list(dict.fromkeys(replies))


@dataclass(frozen=True)
class Style:
    """How people write: a generic reply in another spelling would give itself away."""

    lower: bool
    """Nothing has a capital letter."""
    spaced: bool
    """More marks have a space before them than not."""

    @classmethod
    def from_replies(cls, said: Iterable[str]) -> Style:
        text = " ".join(said)
        return cls(text.lower() == text, len(_SPACED.findall(text)) > len(_CLOSE.findall(text)))

    def dress(self, reply: str) -> str:
        reply = reply.lower() if self.lower else reply
        return _MARK.sub(r" \1", reply) if self.spaced else reply


def draw_generic(replies: Sequence[str], slot: Slot) -> str | None:
    """A reply that the slot can take."""
    start = slot.below(len(replies))
    return next((reply for reply in (*replies[start:], *replies[:start]) if bare(reply) not in slot.taken), None)


def word_salad(slot: Slot, weights: Sequence[float], spread: float, words: Sequence[str]) -> str:
    """Each word comes from the response, the premise or the whole dialogue (`words`), by the weights. There are as many
    as in the response, give or take a share of them. Never what the slot cannot take, the response first of all."""
    sources = [slot.response.split(), [word for text in slot.history for word in text.split()], words]
    number = len(sources[0])
    for _ in range(TRIES):
        length = max(round(number * (1 + spread * (2 * slot.random.random() - 1))), FEWEST)
        drawn = " ".join(_word(slot, sources, weights) for _ in range(length))
        if bare(drawn) not in slot.taken:
            return drawn
    # Where a dialogue has hardly any words, only the number of them can differ.
    while bare(drawn) in slot.taken:
        drawn += " " + _word(slot, sources, weights)
    return drawn


def _word(slot: Slot, sources: Sequence[Sequence[str]], weights: Sequence[float]) -> str:
    source = sources[_pick(slot.random, weights)]
    return source[slot.below(len(source))]


def _pick(random: Random, weights: Sequence[float]) -> int:
    """A place, as likely as its weight says."""
    point = random.random() * math.fsum(weights)
    for place, weight in enumerate(weights):
        if point < weight:
            return place
        point -= weight
    return max(place for place, weight in enumerate(weights) if weight)


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
