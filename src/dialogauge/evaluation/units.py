"""What is drawn again when a corpus is resampled: dialogues where known, else contexts, else turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn
from dialogauge.corpus.unit import message_key, unit_key, unit_of

Keys = NDArray[np.uint64]

KINDS = {"dialogue": "dialogues", "context": "contexts", "id": "turns"}


@dataclass
class Units:
    """The units of turns as they come. A unit's key is the same for every system, run and process, so that a resample
    can be the same for all of them."""

    prefix: str = ""
    kinds: set[str] = field(default_factory=set)

    @property
    def kind(self) -> str:
        return " and ".join(KINDS[kind] for kind in KINDS if kind in self.kinds)

    def keys(self, turns: Iterable[Turn]) -> Keys:
        """The key of each turn's unit."""
        return np.array([self.key(turn) for turn in turns], dtype=np.uint64)

    def messages(self, turns: Iterable[Turn]) -> Keys:
        """What each turn answers."""
        return np.array([message_key(turn) for turn in turns], dtype=np.uint64)

    def key(self, turn: Turn) -> int:
        self.kinds.add(unit_of(turn)[0])
        return unit_key(turn, self.prefix)


def number(keys: Sequence[Keys]) -> tuple[int, list[NDArray[np.int64]]]:
    """How many different units there are, and each array with its units numbered from 0."""
    known, places = np.unique(np.concatenate(keys), return_inverse=True)
    ends = np.cumsum([len(part) for part in keys])
    return len(known), np.split(places, ends[:-1])
