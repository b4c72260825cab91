"""Which turns pairs are made for, where not all are wanted."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dialogauge.errors import InputError
from dialogauge.learn.synthesis.dialogues import Dialogue, hashed, slots_of
from dialogauge.learn.synthesis.options import Options


@dataclass(frozen=True)
class ChosenSlots:
    """`slots` counts the turns by split, each as often as it has lengths of history."""

    slots: Mapping[str, int]
    limits: Mapping[str, int] = field(default_factory=dict)
    """The largest rank that is chosen, for splits of which not all are."""

    def has(self, dialogue: Dialogue, branch: int, place: int, length: int) -> bool:
        limit = self.limits.get(dialogue.split)
        return limit is None or _rank(dialogue, branch, place, length) <= limit


def choose(dialogues: Iterable[Dialogue], options: Options) -> ChosenSlots:
    """As many turns as give the pairs that are wanted, the same share of every split. A turn's rank is a random number
    of its own, so that what is chosen for fewer pairs is chosen for more pairs too."""
    ranks = {split: array("Q") for split in options.split_shares}
    for dialogue in dialogues:
        for branch, place, _, length in slots_of(dialogue, options.history):
            ranks[dialogue.split].append(_rank(dialogue, branch, place, length) if options.pairs else 0)
    there = {split: len(found) for split, found in ranks.items()}
    # Counts are rounded for each label and split, by at most a half: one turn more makes up for that.
    wanted = math.ceil((options.pairs or 0) / options.per_entailment) + 1
    total = sum(there.values())
    if not options.pairs or wanted >= total:
        return ChosenSlots(there)
    taken = _apportioned(wanted, there)
    if empty := [split for split in taken if not taken[split]]:
        raise InputError(
            f"pairs: {options.pairs} are too few to have some in the split {empty[0]}: ask for more, or for other "
            "shares, as --splits 1,0,0"
        )
    limits = {split: sorted(ranks[split])[taken[split] - 1] for split in ranks}
    return ChosenSlots(taken, limits)


def _apportioned(wanted: int, there: Mapping[str, int]) -> dict[str, int]:
    """Whole numbers in the proportions of those that are there, by largest remainders."""
    total = sum(there.values())
    taken = {split: wanted * number // total for split, number in there.items()}
    by_remainder = sorted(there, key=lambda split: -(wanted * there[split] % total))
    for split in by_remainder[: wanted - sum(taken.values())]:
        taken[split] += 1
    return taken


def _rank(dialogue: Dialogue, branch: int, place: int, length: int) -> int:
    return hashed("rank", dialogue.key, branch, place, length)
