"""xDial-Eval: replies and dialogues in ten languages, with what people said of the English ones.

Schema: the README of e0397123/xDial-Eval: files of turns have columns `LANG_ctx` and `LANG_res` for each language and
`ratings`; files of dialogues have `LANG_dial` and `ratings`. Utterances are separated by line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.readers.shape import shaped
from dialogauge.corpus.readers.turns import number
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError

_COLUMN = re.compile(r"(?P<language>[a-z]{2,3})_(?P<part>ctx|res|dial)")


def _fits(record: Mapping[str, Any]) -> bool:
    parts: dict[str, set[str]] = {}
    for match in filter(None, map(_COLUMN.fullmatch, record)):
        parts.setdefault(match["language"], set()).add(match["part"])
    return "ratings" in record and any(found in ({"ctx", "res"}, {"dial"}) for found in parts.values())


def _turns(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    """Every language is a system, with the same ids; of a dialogue the last utterance is the reply."""
    given = record.get("ratings")
    value = number(given) if isinstance(given, str) else given
    position = str(reading.position(reading.system))
    for match in filter(None, map(_COLUMN.fullmatch, record)):
        language, part = match["language"], match["part"]
        if part == "ctx":
            continue
        text = fields.text(record, match[0])
        if part == "res":
            context = _utterances(record.get(f"{language}_ctx"))
            rated = fields.ratings({"overall": value})
            yield line, Turn(position, text, context, system=language, ratings=rated)
        else:
            said = _utterances(text)
            if not said:
                raise InputError(f"{match[0]}: expected a dialogue, found no utterance")
            extra = {} if value is None else {"dialogue_ratings": {"overall": value}}
            yield line, Turn(position, said[-1], said[:-1], system=language, dialogue=position, extra=extra)


def _utterances(text: Any) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split("\n") if each.strip()) if isinstance(text, str) else ()


XDIAL = shaped("xdial", "xDial-Eval: the same replies in ten languages, with ratings", _fits, _turns)
