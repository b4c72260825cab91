"""Units that are drawn again when a corpus is resampled: dialogues where known, else contexts, else turns; which of two
systems' units are the same; and sums of many summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn, message_key, unit_key, unit_of

Keys = NDArray[np.uint64]

KINDS = {"dialogue": "dialogues", "context": "contexts", "id": "turns"}

ENOUGH = 1 / 3
"""Two systems are compared on the units they share where these are at least this share of the units of the one with
fewer, and two at least. With less in common, leaving out all others would lose more than pairing gains."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
_NUMBERED = np.uint64(1)


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


def add_all(summaries: Sequence[Any]) -> Any:
    """The sum of one or more summaries, added in pairs, then pairs of pairs."""
    while len(summaries) > 1:
        pairs = [reduce(add, summaries[place : place + 2]) for place in range(0, len(summaries), 2)]
        summaries = pairs
    return summaries[0]


class Total:
    """A running sum that adds as a binary counter carries."""

    def __init__(self) -> None:
        self._levels: list[Any] = []

    def add(self, summary: Any) -> None:
        for level, held in enumerate(self._levels):
            if held is None:
                self._levels[level] = summary
                return
            summary = held + summary
            self._levels[level] = None
        self._levels.append(summary)

    def sum(self) -> Any:
        """None where nothing was added."""
        held = [level for level in self._levels if level is not None]
        return reduce(add, held) if held else None


@dataclass(frozen=True)
class Answered:
    """What the turns of each unit answer (`message_key`): every unit with every message, each pair once."""

    units: Keys
    messages: Keys

    @classmethod
    def noted(cls, units: Keys, messages: Keys) -> Answered:
        order = np.lexsort((messages, units))
        units, messages = units[order], messages[order]
        new = np.ones(len(units), dtype=np.bool_)
        new[1:] = (units[1:] != units[:-1]) | (messages[1:] != messages[:-1])
        return cls(units[new], messages[new])

    @classmethod
    def by_name(cls, units: Keys) -> Answered:
        """Units of which nothing but the name is known."""
        return cls(units, np.zeros_like(units))

    def where(self, chosen: NDArray[np.bool_]) -> Answered:
        return Answered(self.units[chosen], self.messages[chosen])


MOST_KEPT = 1 << 14
ALL_KEYS = 1 << 64


@dataclass(frozen=True)
class UnitSample:
    """Units and what they answer: all of them, or of many those with the smallest keys. Keys are hashes, so that these
    are a random draw, the same for all systems; and those of two parts add, in any order, to those of the whole."""

    answered: Answered = field(default_factory=lambda: Answered.by_name(np.empty(0, dtype=np.uint64)))
    ceiling: int = ALL_KEYS
    """Units with this key or a larger one are not kept."""

    @classmethod
    def bounded(cls, answered: Answered, ceiling: int = ALL_KEYS) -> UnitSample:
        """As many as fit: a unit stays with all that it answers, and the first one in any case."""
        kept = answered if ceiling == ALL_KEYS else answered.where(answered.units < np.uint64(ceiling))
        if len(kept.units) > MOST_KEPT and kept.units[MOST_KEPT] != kept.units[0]:
            ceiling = int(kept.units[MOST_KEPT])
            kept = kept.where(kept.units < np.uint64(ceiling))
        return cls(kept, ceiling)

    def __add__(self, other: UnitSample) -> UnitSample:
        both = (self.answered, other.answered)
        units, messages = (np.concatenate([getattr(each, name) for each in both]) for name in ("units", "messages"))
        return self.bounded(Answered.noted(units, messages), min(self.ceiling, other.ceiling))


def same_units(first: Answered, second: Answered) -> tuple[Keys, Keys]:
    """Units of the first system and, beside each, the unit of the second that is the same.

    Named units are the same if they have one name and more than half of what the one with fewer messages answers is
    answered in both. A dialogue's name alone would not do: logs of two weeks may both begin with dialogue 1. The first
    message alone would not do either, since many begin with "hi". Where no turn has a context or a reference, the name
    is all there is. A unit without a name is the same as another, named or not, if all they answer is the same."""
    named = _named(first, second)
    ours, theirs = (_by_content(side.where(~np.isin(side.units, named))) for side in (first, second))
    _, places, other_places = np.intersect1d(ours.content, theirs.content, assume_unique=True, return_indices=True)
    either = ours.numbered[places] | theirs.numbered[other_places]
    places, other_places = places[either], other_places[either]
    return np.concatenate([named, ours.units[places]]), np.concatenate([named, theirs.units[other_places]])


def enough(shared: int, fewest: int) -> bool:
    return shared > 1 and shared >= ENOUGH * fewest


def _named(first: Answered, second: Answered) -> Keys:
    ours, theirs = (side.where(side.messages & _NUMBERED == 0) for side in (first, second))
    in_both = np.isin(_mixed(ours), _mixed(theirs))
    units, shared = np.unique(ours.units[in_both], return_counts=True)
    fewest = np.minimum(_counted(ours, units), _counted(theirs, units))
    return np.asarray(units[2 * shared > fewest])


def _counted(side: Answered, units: Keys) -> NDArray[np.int64]:
    """How many messages each of these units answers."""
    return np.searchsorted(side.units, units, side="right") - np.searchsorted(side.units, units, side="left")


class _Contents(NamedTuple):
    """For each unit a hash of all that it answers, its key, and whether it has no name."""

    content: Keys
    units: Keys
    numbered: NDArray[np.bool_]


def _by_content(side: Answered) -> _Contents:
    """Units that answer the same are told apart by a count, so that each stands beside one other; those that answer
    nothing known stand beside none."""
    chosen = side.where(side.messages & ~_NUMBERED != 0)
    units, places = np.unique(chosen.units, return_inverse=True)
    content = np.zeros(len(units), dtype=np.uint64)
    np.add.at(content, places, _spread(chosen.messages | _NUMBERED))
    numbered = np.zeros(len(units), dtype=np.bool_)
    numbered[places[chosen.messages & _NUMBERED == 1]] = True
    order = np.lexsort((units, content))
    units, content, numbered = units[order], content[order], numbered[order]
    starts = np.flatnonzero(np.concatenate(([True], content[1:] != content[:-1]))) if len(units) else np.arange(0)
    before = np.arange(len(units)) - np.repeat(starts, np.diff(np.append(starts, len(units))))
    return _Contents(_spread(content + before.astype(np.uint64)), units, numbered)


def _mixed(side: Answered) -> Keys:
    return _spread(side.units + _spread(side.messages))


def _spread(keys: Keys) -> Keys:
    """Hashes of hashes, so that their sums do not meet by design (the finaliser of splitmix64, Steele et al. 2014)."""
    keys = keys + _ODD
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(keys ^ (keys >> np.uint64(31)))
