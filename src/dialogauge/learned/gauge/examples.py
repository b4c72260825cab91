"""What a gauge learns from: replies in their contexts, with what is known of how good they are."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.errors import InputError
from dialogauge.learned.gauge.model import OVERALL, PARTS, RELEVANCE, FLUENCY, SPECIFICITY, said_before
from dialogauge.learned.gauge.worsen import BROKEN, Exchange, parrot
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis.sources import read_generic
from dialogauge.learned.training.token_pairs import Rows

Targets = NDArray[np.float32]
HUMAN = "human"
GENERIC = 0.25
"""Of the exchanges, the share that a generic reply is made up for; and the share of those whose context is parroted."""


@dataclass(frozen=True)
class Examples:
    """Entry i of each belongs to reply i."""

    contexts: list[str]
    replies: list[str]
    targets: Targets
    """For each part of the score 1 where the reply is good, 0 where it is bad, NaN where nothing is known."""
    groups: Rows
    """A number for the conversation that it comes from."""
    kinds: list[str]
    """How it was made."""

    def __len__(self) -> int:
        return len(self.replies)

    def __add__(self, other: Self) -> Self:
        groups = np.concatenate([self.groups, other.groups + (self.groups.max(initial=-1) + 1)])
        targets = np.concatenate([self.targets, other.targets])
        contexts, replies = [*self.contexts, *other.contexts], [*self.replies, *other.replies]
        return type(self)(contexts, replies, targets, groups, [*self.kinds, *other.kinds])

    def digest(self) -> str:
        found = hashlib.sha256()
        for texts in (self.contexts, self.replies):
            found.update("\0".join(texts).encode("utf-8", "surrogatepass"))
        for numbers in (self.targets, self.groups):
            found.update(numbers.tobytes())
        return found.hexdigest()


class _Writer:
    """Examples one by one."""

    def __init__(self, utterances: int) -> None:
        self._utterances = utterances
        self._contexts: list[str] = []
        self._replies: list[str] = []
        self._targets: list[tuple[float, ...]] = []
        self._groups: list[int] = []
        self._kinds: list[str] = []

    def add(self, context: Sequence[str], reply: str, group: int, kind: str, **targets: float) -> None:
        self._contexts.append(said_before(context, self._utterances))
        self._replies.append(reply.strip())
        self._targets.append(tuple(targets.get(part, np.nan) for part in PARTS))
        self._groups.append(group)
        self._kinds.append(kind)

    def written(self) -> Examples:
        targets = np.array(self._targets, np.float32).reshape(-1, len(PARTS))
        return Examples(self._contexts, self._replies, targets, np.array(self._groups, np.int64), self._kinds)


def conversation_examples(turns: Iterable[Turn], utterances: int, seed: int) -> Examples:
    """Of every exchange: the reply that people gave; one of another conversation; one of elsewhere in the same; one
    whose language is broken; and now and then a generic one, or the context said back."""
    exchanges = [turn for turn in turns if turn.response.strip() and any(map(str.strip, turn.context))]
    if len({unit_of(turn) for turn in exchanges}) < 2:
        raise InputError("expected conversations of at least two utterances, and at least 2 of them")
    random = np.random.default_rng([seed, 1])
    by_dialogue: dict[object, list[str]] = defaultdict(list)
    for turn in exchanges:
        by_dialogue[unit_of(turn)].append(turn.response)
    number = {unit: place for place, unit in enumerate(by_dialogue)}
    generic = read_generic()
    out = _Writer(utterances)
    for turn in exchanges:
        unit = unit_of(turn)
        other = exchanges[random.integers(len(exchanges))].response
        exchange, group = Exchange(turn.context, turn.response, other), number[unit]
        true = bare(turn.response)
        out.add(turn.context, turn.response, group, HUMAN, overall=1, relevance=1, fluency=1, specificity=1)
        if bare(other) != true:
            out.add(turn.context, other, group, "elsewhere", overall=0, relevance=0, fluency=1)
        near = by_dialogue[unit][random.integers(len(by_dialogue[unit]))]
        if bare(near) != true:
            out.add(turn.context, near, group, "same_conversation", overall=0, relevance=0, fluency=1)
        way = BROKEN[random.integers(len(BROKEN))]
        broken = way(exchange, random)
        if broken.split() != turn.response.split():
            out.add(turn.context, broken, group, way.__name__, overall=0, fluency=0)
        if random.random() < GENERIC:
            dull = generic[random.integers(len(generic))]
            out.add(turn.context, dull, group, "generic", overall=0, specificity=0, fluency=1)
        if random.random() < GENERIC:
            out.add(turn.context, parrot(exchange, random), group, "parrot", overall=0, specificity=0, relevance=0)
    return out.written()


def rated_examples(turns: Iterable[Turn], ratings: Sequence[float], corpora: Sequence[str], utterances: int) -> Examples:
    """Of every rated turn: its rank among those of its corpus, from 0 to 1."""
    listed = list(turns)
    values, names = np.asarray(ratings, float), np.asarray(corpora)
    targets = np.full(len(listed), np.nan)
    for name in dict.fromkeys(corpora):
        here = names == name
        targets[here] = mid_ranks(values[here])
    numbers: dict[object, int] = {}
    out = _Writer(utterances)
    for turn, name, target in zip(listed, corpora, targets.tolist(), strict=True):
        group = numbers.setdefault((name, unit_of(turn)), len(numbers))
        out.add(turn.context, turn.response, group, name, overall=target)
    return out.written()


def mid_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of values that lie below each, and half of those equal to it."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(values) - 0.5) / len(values))
