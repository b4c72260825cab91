"""What is drawn again when a corpus is resampled: dialogues where known, else contexts, else turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn

KINDS = {"dialogue": "dialogues", "context": "contexts", "id": "turns"}


@dataclass(frozen=True)
class Units:
    """Units are numbered over the whole corpus, so that a resample is the same for every system."""

    count: int
    kind: str
    of: dict[str, NDArray[np.int64]]
    """For each system the unit of each of its turns."""

    @property
    def shared(self) -> bool:
        """Whether all systems stand on the same units, so that their differences are paired."""
        present = [frozenset(units.tolist()) for units in self.of.values()]
        return all(units == present[0] for units in present)


def units_of(corpus: Corpus) -> Units:
    numbers: dict[tuple[str, object], int] = {}
    of = {
        system: np.array([numbers.setdefault(unit_of(turn), len(numbers)) for turn in turns], dtype=np.int64)
        for system, turns in corpus.by_system.items()
    }
    kinds = sorted({kind for kind, _ in numbers}, key=list(KINDS).index)
    return Units(len(numbers), " and ".join(KINDS[kind] for kind in kinds), of)


def unit_of(turn: Turn) -> tuple[str, object]:
    """Turns that may depend on each other have the same unit. A turn without a context stands for itself,
    together with the turns of other systems that have its id."""
    if turn.dialogue is not None:
        return "dialogue", turn.dialogue
    if turn.context:
        return "context", turn.context
    return "id", turn.id
