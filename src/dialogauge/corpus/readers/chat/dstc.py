"""Conversations of DSTC10 (track 5) and DSTC11 (track 4): a table with a row per utterance.

Schema: "File Data Formats" of DSTC11's track 4: `UID` (`CORPUS-DIALOGUE-UTTERANCE`), `SID` (who speaks) and `SEG` (the
text); files of translations have further columns, and those of paraphrases have `PARAPHRASES` in place of `SEG`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from dialogauge.corpus.readers.containers import held_records
from dialogauge.corpus.readers.turns import number
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.messages import ASSISTANT, USERS
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import Utterance, speaker, turns
from dialogauge.errors import InputError, quote

_TEXTS = ("SEG", "PARAPHRASES")


class _Row(NamedTuple):
    line: int
    name: str
    dialogue: str
    utterance: Utterance
    extra: Mapping[str, Any]


def sniff(head: FileHead) -> bool:
    return {"UID", "SID"} <= head.first.keys() and any(name in head.first for name in _TEXTS)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Rows of one dialogue stand together. Where a speaker is called user, what others say is the system's."""
    for dialogue, group in groupby(_rows(reading), key=lambda row: row.dialogue):
        rows = list(group)
        with reading.record(rows[0].line):
            made = list(turns(dialogue, [row.utterance for row in rows], reading))
            for row, (line, turn) in zip(rows[1:], made, strict=bool(made)):
                yield line, replace(turn, id=row.name, extra=row.extra)


def _rows(reading: Reading) -> Iterator[_Row]:
    for held in held_records(reading):
        with reading.record(held.line, item=held.item):
            record = held.parse()
            name = fields.name(record, "UID")
            dialogue, dash, _ = (name or "").rpartition("-")
            if name is None or not dash or not dialogue:
                raise InputError(f"UID: expected CORPUS-DIALOGUE-UTTERANCE, found {quote(str(name))}")
            source = next((each for each in _TEXTS if each in record), _TEXTS[0])
            who = (fields.name(record, "SID") or "").casefold()
            system = speaker(reading.system, "user" if who in USERS else ASSISTANT)
            if who in USERS:
                reading.users.add(system)
            known = ("UID", "SID", source)
            extra = {
                key: number(value) if isinstance(value, str) else value
                for key, value in record.items()
                if key not in known
            }
            text = record.get(source, "")
            said = Utterance(held.line, text if isinstance(text, str) else str(text), system)
            yield _Row(held.line, name, dialogue, said, extra)


DSTC = Reader("dstc", "conversations of DSTC10 and DSTC11: UID, SID, SEG", sniff, read)
