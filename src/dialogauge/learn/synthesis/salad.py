"""Words thrown together."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.slot import TRIES, Slot

FEWEST = 2
"""One word alone is often a reply."""


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
    point = random.random() * sum(weights)
    for place, weight in enumerate(weights):
        if point < weight:
            return place
        point -= weight
    return max(place for place, weight in enumerate(weights) if weight)
