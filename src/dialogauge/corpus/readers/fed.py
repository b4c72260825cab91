"""The ratings of FED (Mehri & Eskenazi 2020b): a JSON array of rated turns and rated whole dialogues. The turns of
DSTC10's evaluation data (`*_eval.json`, also part of DSTC11's) are written in the same way, with `reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import Item, items, parse_item
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import Turn
from dialogauge.tables import counted

_FIELDS = ("context", "response", "system", "annotations", "extra")
_REFERENCE = "reference"
_SPEAKERS = ("User:", "System:")


def sniff(head: FileHead) -> bool:
    return "context" in head.item and "annotations" in head.item


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Items with a response are turns; ids count items from 0. A turn belongs to the dialogue, rated as a whole,
    that its context is the beginning of: `dialogue` is set, and the dialogue's ratings stand in
    `extra["dialogue_ratings"]`, apart from the turn's own. A dialogue without turns is left out and counted."""
    turns: list[tuple[Item, Turn]] = []
    dialogues = []
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            record = parse_item(item.text)
            if "response" in record:
                turns.append((item, _turn(record, item, reading)))
            else:
                dialogues.append(_dialogue(record, item, reading))
    found = _Dialogues()
    for dialogue in dialogues:
        found.add(dialogue)
    for item, turn in turns:
        yield item.line, _placed(turn, found)
    if alone := sum(not dialogue.turns for dialogue in dialogues):
        rated = f"{counted(alone, 'dialogue')} rated as a whole, of which no turn was rated"
        reading.remark("dialogues_left_out", f"{rated}, left out")


@dataclass
class _RatedDialogue:
    """An item without a response: people rated the conversation as a whole."""

    name: str
    system: str
    said: tuple[str, ...]
    ratings: dict[str, list[float | None]]
    turns: int = 0


@dataclass
class _Dialogues:
    """Finds the one dialogue that a context is the beginning of. Every beginning of a conversation has a number,
    reached utterance by utterance, so that nothing is compared twice."""

    steps: dict[tuple[int, str], int] = field(default_factory=dict)
    owners: dict[int, list[_RatedDialogue]] = field(default_factory=dict)

    def add(self, dialogue: _RatedDialogue) -> None:
        for beginning in self._beginnings(dialogue.system, dialogue.said):
            self.owners.setdefault(beginning, []).append(dialogue)

    def find(self, system: str, context: Sequence[str]) -> _RatedDialogue | None:
        found = self.owners.get([*self._beginnings(system, context)][-1], [])
        return found[0] if len(found) == 1 else None

    def _beginnings(self, system: str, said: Sequence[str]) -> Iterator[int]:
        beginning = -1
        for text in (system, *said):
            beginning = self.steps.setdefault((beginning, text), len(self.steps))
            yield beginning


def _turn(record: Mapping[str, Any], item: Item, reading: Reading) -> Turn:
    return Turn(
        id=str(item.number - 1),
        response=_without_speaker(fields.text(record, "response")),
        context=_utterances(record),
        system=_system(record, reading),
        references=fields.references(record, _REFERENCE),
        ratings=fields.ratings(record.get("annotations")),
        extra=fields.extra({name: value for name, value in record.items() if name != _REFERENCE}, _FIELDS),
    )


def _dialogue(record: Mapping[str, Any], item: Item, reading: Reading) -> _RatedDialogue:
    fields.refuse_near_misses(record, _FIELDS)
    rated = fields.ratings(record.get("annotations"))
    ratings = {dimension: list(numbers) for dimension, numbers in rated.items()}
    return _RatedDialogue(str(item.number - 1), _system(record, reading), _utterances(record), ratings)


def _placed(turn: Turn, dialogues: _Dialogues) -> Turn:
    # The dialogue ends before or after the last rated response.
    after = dialogues.find(turn.system, (*turn.context, turn.response))
    dialogue = after or dialogues.find(turn.system, turn.context)
    if dialogue is None:
        return turn
    dialogue.turns += 1
    return replace(turn, dialogue=dialogue.name, extra={**turn.extra, "dialogue_ratings": dialogue.ratings})


def _system(record: Mapping[str, Any], reading: Reading) -> str:
    return sys.intern(fields.name(record, "system") or reading.system)


def _utterances(record: Mapping[str, Any]) -> tuple[str, ...]:
    lines = fields.text(record, "context").split("\n")
    return tuple(_without_speaker(line) for line in lines if line.strip())


def _without_speaker(text: str) -> str:
    for speaker in _SPEAKERS:
        text = text.strip().removeprefix(speaker)
    return text.strip()


FED = Reader("fed", "FED's ratings, a JSON array of turns and dialogues", sniff, read)
