"""Whole conversations: JSON lines of utterances or chat messages, DailyDialog's text, ParlAI's numbered lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from dialogauge.corpus.reading import fields, records
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import Utterance, turns
from dialogauge.errors import InputError, describe, quote

_USERS = ("user", "human")
_FIELDS = ("dialogue", "id", "system", "utterances", "messages", "facts", "extra")

_END = "__eou__"

_NUMBERED = re.compile(r"([0-9]{1,9}) (.*)", re.DOTALL)
_OWN = "your persona:"
_PARTNER = "partner's persona:"
_SILENCE = "__SILENCE__"


def sniff_conversations(head: FileHead) -> bool:
    record = head.record
    if record is None or "response" in record or head.mapping.get("response") in record:
        return False
    return "utterances" in record or "messages" in record


def read_conversations(reading: Reading) -> Iterator[LocatedTurn]:
    """`{"utterances": [...]}` or `{"messages": [...]}`, with `dialogue` (or `id`), `system` and `facts` where
    known. A dialogue without a name gets its position. `system` defaults to the file's name; in a chat log
    it is who speaks as "assistant", and the turns of another role go to the system `<system>:<role>`. What users say
    is no system's, unless one asks for it."""
    for line, text in reading.lines():
        with reading.record(line):
            record = _under_our_names(parse_object(text), reading)
            system = sys.intern(fields.name(record, "system") or reading.system)
            position = reading.position(system)
            dialogue = fields.name(record, "dialogue") or fields.name(record, "id") or position
            extra = fields.extra(record, _FIELDS)
            utterances = _utterances(record, system, line)
            reading.users.update({said.system for said in utterances} & {_speaker(system, role) for role in _USERS})
            yield from turns(dialogue, utterances, reading, extra)


def sniff_dailydialog(head: FileHead) -> bool:
    return _END in head.first_line and not head.first_line.lstrip().startswith("{")


def read_dailydialog(reading: Reading) -> Iterator[LocatedTurn]:
    """Dialogues are named by their position; space around an utterance is left out."""
    for line, text in reading.lines():
        with reading.record(line):
            if _END not in text:
                raise InputError(f"expected utterances that end in {_END}, found {quote(text)}")
            said = [part.strip() for part in text.split(_END)]
            # After the last mark stands nothing, or an utterance whose mark was forgotten.
            if not said[-1]:
                said.pop()
            dialogue = reading.position(reading.system)
            utterances = [Utterance(line, utterance, reading.system) for utterance in said]
            yield from turns(dialogue, utterances, reading)


def sniff_parlai(head: FileHead) -> bool:
    start = head.first_line
    return start.startswith((f"1 {_OWN}", f"1 {_PARTNER}")) or (start.startswith("1 ") and "\t" in start)


def read_parlai(reading: Reading) -> Iterator[LocatedTurn]:
    """A dialogue begins where the numbers stop rising. Personas are the facts of the one they describe.
    Silence is no utterance. A line left out leaves a gap in its dialogue."""
    names = count()
    dialogue = _ParlAIDialogue()
    last: int | None = None
    for line, text in reading.lines():
        with reading.record(line):
            number, rest = _numbered_line(text)
            if last is not None and number <= last:
                yield from turns(next(names), dialogue.utterances(reading.system), reading)
                dialogue = _ParlAIDialogue()
            last = number
            dialogue.add(line, rest)
    if last is not None:
        yield from turns(next(names), dialogue.utterances(reading.system), reading)


def _under_our_names(record: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The record under our names; its own `id` names the dialogue."""
    return reading.columns.rename(record, fields=("system",) if "id" in record else ("system", "dialogue"))


def _utterances(record: Mapping[str, Any], system: str, line: int) -> list[Utterance]:
    given = [field for field in ("utterances", "messages") if record.get(field) is not None]
    if len(given) != 1:
        what = "both" if given else describe(dict(record))
        raise InputError(f"expected either utterances or messages, found {what}")
    values, facts = record[given[0]], fields.texts(record, "facts")
    if given == ["messages"]:
        if not isinstance(values, list):
            raise InputError(f"messages: expected a list of chat messages, found {describe(values)}")
        said, instructions = records.split(values, "messages")
        facts += instructions
        return [Utterance(line, text, _speaker(system, role), facts) for role, text in said]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"utterances: expected a list of strings, found {describe(values)}")
    return [Utterance(line, value, system, facts) for value in values]


def _speaker(system: str, role: str) -> str:
    return system if role == "assistant" else sys.intern(f"{system}:{role}")


@dataclass
class _ParlAIDialogue:
    own: list[str] = field(default_factory=list)
    partner: list[str] = field(default_factory=list)
    said: list[tuple[int, str, bool]] = field(default_factory=list)
    """Line, text, and whether it is the own utterance."""

    def add(self, line: int, text: str) -> None:
        for start, persona in ((_OWN, self.own), (_PARTNER, self.partner)):
            if text.startswith(start):
                persona.append(text.removeprefix(start).strip())
                return
        # Further columns hold a reward and candidates.
        for place, utterance in enumerate(text.split("\t")[:2]):
            if utterance.strip() not in ("", _SILENCE):
                self.said.append((line, utterance.strip(), place == 1))

    def utterances(self, system: str) -> list[Utterance]:
        facts = {True: tuple(self.own), False: tuple(self.partner)}
        return [Utterance(line, text, system, facts[own]) for line, text, own in self.said]


def _numbered_line(text: str) -> tuple[int, str]:
    match = _NUMBERED.fullmatch(text)
    if not match:
        raise InputError(f"expected a line that begins with its number and a space, found {quote(text)}")
    return int(match[1]), match[2]


CONVERSATIONS = Reader(
    "conversations",
    "JSON lines, one conversation or chat log per line",
    sniff_conversations,
    read_conversations,
    has_columns=True,
)

DAILYDIALOG = Reader(
    "dailydialog", "DailyDialog text, utterances ended by __eou__", sniff_dailydialog, read_dailydialog
)

PARLAI = Reader("parlai", "ParlAI text (ConvAI2), numbered lines with personas", sniff_parlai, read_parlai)
