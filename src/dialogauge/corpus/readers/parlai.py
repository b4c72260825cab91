"""ParlAI's dialogue text, as ConvAI2 uses it: numbered lines with a partner's and an own utterance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import Utterance, turns
from dialogauge.errors import InputError
from dialogauge.text.quote import quote

_NUMBERED = re.compile(r"([0-9]{1,9}) (.*)", re.DOTALL)
_OWN = "your persona:"
_PARTNER = "partner's persona:"
_SILENCE = "__SILENCE__"


@dataclass
class _FactsDialogue:
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


def sniff(head: FileHead) -> bool:
    start = head.first_line
    return start.startswith((f"1 {_OWN}", f"1 {_PARTNER}")) or (start.startswith("1 ") and "\t" in start)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """A dialogue begins where the numbers stop rising. Personas are the facts of the one they describe.
    Silence is no utterance. A line left out leaves a gap in its dialogue."""
    names = count()
    dialogue = _FactsDialogue()
    last: int | None = None
    for line, text in reading.lines():
        with reading.record(line):
            number, rest = _split(text)
            if last is not None and number <= last:
                yield from turns(next(names), dialogue.utterances(reading.system), reading)
                dialogue = _FactsDialogue()
            last = number
            dialogue.add(line, rest)
    if last is not None:
        yield from turns(next(names), dialogue.utterances(reading.system), reading)


def _split(text: str) -> tuple[int, str]:
    match = _NUMBERED.fullmatch(text)
    if not match:
        raise InputError(f"expected a line that begins with its number and a space, found {quote(text)}")
    return int(match[1]), match[2]


PARLAI = Reader("parlai", "ParlAI text (ConvAI2), numbered lines with personas", sniff, read)
