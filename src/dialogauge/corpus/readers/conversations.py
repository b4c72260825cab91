"""Whole conversations: records of utterances or chat messages, DailyDialog's text, ParlAI's numbered lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from dialogauge.corpus.readers.shape import shaped
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import Utterance, chat_turns, turns
from dialogauge.errors import InputError, describe, quote

_FIELDS = ("dialogue", "id", "system", "utterances", "messages", "facts", "extra")

_END = "__eou__"

_NUMBERED = re.compile(r"([0-9]{1,9}) (.*)", re.DOTALL)
_OWN = "your persona:"
_PARTNER = "partner's persona:"
_SILENCE = "__SILENCE__"


def _is_conversation(record: Mapping[str, Any]) -> bool:
    return "response" not in record and ("utterances" in record or "messages" in record)


def _conversation(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    """`{"utterances": [...]}` or `{"messages": [...]}`, with `dialogue` (or `id`), `system` and `facts` where
    known. A dialogue without a name gets its position. `system` defaults to the file's name; in a chat log
    it is who speaks as "assistant", and the turns of another role go to the system `<system>:<role>`. What users say
    is no system's, unless one asks for it."""
    record = _under_our_names(record, reading)
    system = sys.intern(fields.name(record, "system") or reading.system)
    reading.belongs_to(system)
    dialogue = fields.name(record, "dialogue") or fields.name(record, "id") or reading.position(system)
    extra, facts = fields.extra(record, _FIELDS), fields.texts(record, "facts")
    given = [field for field in ("utterances", "messages") if record.get(field) is not None]
    if len(given) != 1:
        what = "both" if given else describe(dict(record))
        raise InputError(f"expected either utterances or messages, found {what}")
    values = record[given[0]]
    if given == ["messages"]:
        if not isinstance(values, list):
            raise InputError(f"messages: expected a list of chat messages, found {describe(values)}")
        yield from chat_turns(dialogue, values, system, line, reading, facts=facts, extra=extra)
        return
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"utterances: expected a list of strings, found {describe(values)}")
    yield from turns(dialogue, [Utterance(line, value, system, facts) for value in values], reading, extra)


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


CONVERSATIONS = shaped(
    "conversations",
    "JSON lines, one conversation or chat log per line",
    _is_conversation,
    _conversation,
    has_columns=True,
    line="dialogue",
)

DAILYDIALOG = Reader(
    "dailydialog",
    "DailyDialog text, utterances ended by __eou__",
    sniff_dailydialog,
    read_dailydialog,
    line="dialogue",
)

PARLAI = Reader("parlai", "ParlAI text (ConvAI2), numbered lines with personas", sniff_parlai, read_parlai)
