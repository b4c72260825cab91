"""Pairs from short statements: their opposite contradicts a premise that holds them, they themselves follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dialogauge.learn.pairs import bare
from dialogauge.learn.synthesis.slot import Slot
from dialogauge.learn.synthesis.statements import opposite, reworded, sentences

Stated = tuple[tuple[str, ...], str]
"""Premise and hypothesis."""


def negated(slot: Slot) -> Stated | None:
    statements = _changed_statements(slot, lambda statement: opposite(statement) or "")
    return _drawn(slot, [each for each in statements if bare(each[1]) not in slot.taken])


def restated(slot: Slot) -> Stated | None:
    """Of the statements that have an opposite, so that it is not the kind of sentence that tells the two apart. Half of
    the time word for word."""
    return _drawn(slot, _changed_statements(slot, reworded if slot.random.random() < 0.5 else str))


def _changed_statements(slot: Slot, change: Callable[[str], str]) -> list[Stated]:
    return [(premise, change(statement) + end) for premise, statement, end in _statements(slot)]


def _drawn(slot: Slot, statements: Sequence[Stated]) -> Stated | None:
    return statements[slot.below(len(statements))] if statements else None


def _statements(slot: Slot) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Of the one who responds, taking it that two people speak in turns: in the history, and in the response, which
    then ends the premise. "I" is the same person in statement and hypothesis."""
    facts = slot.facts if slot.shows_facts else ()
    last = slot.before(slot.place + 1)
    places = range(slot.place, max(slot.place - slot.length, 0) - 1, -2)
    for place in places:
        for statement, end in sentences(slot.thread.said[place]):
            if opposite(statement):
                yield (*facts, *(last if place == slot.place else slot.history)), statement, end
