"""One response in its setting, for which pairs are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.dialogues import Dialogue, Thread

TRIES = 30
"""Draws for one hypothesis, before it is looked for in another way."""


@dataclass(slots=True)
class Slot:
    """A turn with a length of history. Its random numbers depend on seed, dialogue, place and length alone. They are
    Python's own, whose `random()` and `getrandbits()` give the same numbers in every version."""

    dialogue: Dialogue
    branch: int
    place: int
    facts: tuple[str, ...]
    length: int
    with_facts: float
    thread: Thread = field(init=False)
    random: Random = field(init=False)
    response: str = field(init=False)
    history: tuple[str, ...] = field(init=False)
    shows_facts: bool = field(init=False)
    taken: set[str] = field(init=False)
    """Hypotheses that no further pair can have: the response, and those of pairs made already, all `bare`."""

    def __post_init__(self) -> None:
        self.thread = self.dialogue.threads[self.branch]
        self.random = Random(((self.dialogue.key << 32 | self.branch) << 32 | self.place) << 32 | self.length)
        self.response = self.thread.said[self.place].strip()
        self.history = self.before(self.place)
        self.shows_facts = self.random.random() < self.with_facts and bool(self.facts)
        self.taken = {bare(self.response)}

    def before(self, place: int) -> tuple[str, ...]:
        """The history that ends before a place."""
        said = self.thread.said[max(place - self.length, 0) : place]
        return tuple(text for utterance in said if (text := utterance.strip()))

    @property
    def premise(self) -> tuple[str, ...]:
        return (*self.facts, *self.history) if self.shows_facts else self.history

    def below(self, number: int) -> int:
        return int(self.random.random() * number)
