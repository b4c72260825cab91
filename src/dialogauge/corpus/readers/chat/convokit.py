"""Corpora of ConvoKit: utterances that reply to each other.

Schema: ConvoKit's page "Data Format": a folder with `utterances.jsonl`, each line with `id`, `speaker`,
`conversation_id`, `reply_to`, `timestamp` and `text`; the library itself writes `reply-to`, and its first versions
`user` and `root`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.fields import MOST_TEXTS
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.source import decode, raw_lines
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, quote

_UTTERANCES = "utterances.jsonl"
_DIALOGUE, _REPLY = ("conversation_id", "root"), ("reply_to", "reply-to")


class _Said(NamedTuple):
    line: int
    text: str
    dialogue: str | None
    before: str | None
    speaker: str | None


def sniff(head: FileHead) -> bool:
    first = head.record or {}
    speaks = bool({"speaker", "user"} & first.keys()) and bool({*_REPLY} & first.keys())
    return head.holds(_UTTERANCES) or (speaks and {"id", "text"} <= first.keys())


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Every utterance that replies to another is a turn; its context is what that one replies to, and so on."""
    path = reading.path / _UTTERANCES if reading.path.is_dir() else reading.path
    reading.files = [path]
    said: dict[str, _Said] = {}
    for line, raw in raw_lines(path):
        with reading.record(line, path):
            if raw.strip():
                name, utterance = _utterance(parse_object(decode(raw, path, line)), line)
                if name in said:
                    raise InputError(f"the utterance {quote(name)} stands already in line {said[name].line}")
                said[name] = utterance
    begun = {utterance.before for utterance in said.values() if utterance.before is not None}
    reading.short_conversations += sum(each.before is None and name not in begun for name, each in said.items())
    for name, utterance in said.items():
        if utterance.before is not None:
            with reading.record(utterance.line, path):
                yield utterance.line, _turn(name, utterance, said, reading)


def _utterance(record: Mapping[str, Any], line: int) -> tuple[str, _Said]:
    name, text = fields.name(record, "id"), fields.text(record, "text")
    if name is None:
        raise InputError("id: expected text or a whole number, found none")
    dialogue, before = (
        next((fields.name(record, each) for each in names if each in record), None) for names in (_DIALOGUE, _REPLY)
    )
    speaker = record.get("speaker", record.get("user"))
    return name, _Said(line, text, dialogue, before, speaker if isinstance(speaker, str) else None)


def _turn(name: str, utterance: _Said, said: Mapping[str, _Said], reading: Reading) -> Turn:
    context: list[str] = []
    before = utterance.before
    while before is not None:
        if before not in said:
            raise InputError(f"reply_to: expected the id of an utterance, found {quote(before)}")
        if len(context) == MOST_TEXTS:
            raise InputError(f"expected at most {MOST_TEXTS:,} utterances before it, found more, or a circle")
        context.append(said[before].text)
        before = said[before].before
    extra = {} if utterance.speaker is None else {"speaker": utterance.speaker}
    return Turn(
        id=name,
        response=utterance.text,
        context=tuple(reversed(context)),
        system=reading.system,
        dialogue=utterance.dialogue,
        extra=extra,
    )


CONVOKIT = Reader("convokit", "corpora of ConvoKit", sniff, read)
