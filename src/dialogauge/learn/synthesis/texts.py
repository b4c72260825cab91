"""Utterances of other dialogues, and generic replies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from dialogauge.corpus.source import decode, raw_lines
from dialogauge.errors import InputError
from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.dialogues import Dialogue
from dialogauge.learn.synthesis.slot import Slot

GENERIC = Path(__file__).with_name("generic.txt")
TRIES = 30
_MARK = re.compile(r"(?<=\w)([.,!?])")
_SPACED, _CLOSE = re.compile(r"\s[.,!?]"), re.compile(r"\w[.,!?](\s|$)")


class Pool:
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
    def of(cls, said: Iterable[str]) -> Style:
        text = " ".join(said)
        return cls(text.lower() == text, len(_SPACED.findall(text)) > len(_CLOSE.findall(text)))

    def dress(self, reply: str) -> str:
        reply = reply.lower() if self.lower else reply
        return _MARK.sub(r" \1", reply) if self.spaced else reply


def draw_generic(replies: Sequence[str], slot: Slot) -> str | None:
    """A reply that the slot can take."""
    start = slot.below(len(replies))
    return next((reply for reply in (*replies[start:], *replies[:start]) if bare(reply) not in slot.taken), None)


def pick(random: Random, weights: Sequence[float]) -> int:
    """A place, as likely as its weight says."""
    point = random.random() * sum(weights)
    for place, weight in enumerate(weights):
        if point < weight:
            return place
        point -= weight
    return max(place for place, weight in enumerate(weights) if weight)
