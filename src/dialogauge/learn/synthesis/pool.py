"""Utterances of other dialogues."""

from __future__ import annotations

from collections.abc import Iterable

from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.dialogues import Dialogue
from dialogauge.learn.synthesis.slot import TRIES, Slot


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
