"""A whole conversation as turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dialogauge.corpus.fields import refuse_huge_texts
from dialogauge.corpus.reading import LocatedTurn, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError


class Utterance(NamedTuple):
    line: int
    text: str
    system: str
    facts: tuple[str, ...] = ()
    """What is known about, or to, the one who speaks here."""


def turns(
    dialogue: str | int, utterances: Sequence[Utterance], reading: Reading, extra: Mapping[str, Any] = NOTHING
) -> Iterator[LocatedTurn]:
    """Every utterance with one before it is a turn; its context is everything before it, its id
    `<dialogue>:<index of the utterance from 0>`. A dialogue that has only a position gets a name of its own to
    this file, `<system>#<position>`: equal positions in two files are not one dialogue. A conversation of one
    utterance has no turn: it is counted in `reading.short_conversations`."""
    name = dialogue if isinstance(dialogue, str) else f"{reading.system}#{dialogue}"
    if len(utterances) < 2:
        reading.short_conversations += 1
    said = tuple(utterance.text for utterance in utterances)
    try:
        refuse_huge_texts(said)
    except InputError as error:
        reading.leave_out(error, utterances[0].line)
        return
    for index, utterance in enumerate(utterances[1:], start=1):
        yield (
            utterance.line,
            Turn(
                id=f"{dialogue}:{index}",
                response=utterance.text,
                context=said[:index],
                system=utterance.system,
                dialogue=name,
                facts=utterance.facts,
                extra=extra,
                numbered=isinstance(dialogue, int),
            ),
        )
