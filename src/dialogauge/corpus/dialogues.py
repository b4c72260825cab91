"""Which turns are one dialogue, and who said what before a turn."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.corpus.turn import Turn


def dialogues(turns: Sequence[Turn]) -> list[list[int]]:
    """The places of the turns of each system's dialogue, as they stand in the corpus; dialogues by their first turns. A
    turn without a dialogue stands alone."""
    found: dict[tuple[str, str] | int, list[int]] = {}
    for place, turn in enumerate(turns):
        key = place if turn.dialogue is None else (turn.system, turn.dialogue)
        found.setdefault(key, []).append(place)
    return list(found.values())


def said_by_self(turn: Turn) -> tuple[str, ...]:
    """What the speaker of the response said before, as far as the context goes, oldest first. Speakers take turns, and
    the last utterance of the context is the other's."""
    return turn.context[-2::-2][::-1]


def said_by_other(turn: Turn) -> tuple[str, ...]:
    """What was said to the speaker of the response, as far as the context goes, oldest first."""
    return turn.context[-1::-2][::-1]
