"""One record, from a JSON line or a row of a table, as a turn."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from dialogauge.corpus import fields, messages
from dialogauge.corpus.columns import FIELDS, advice
from dialogauge.corpus.quote import describe, quote_all
from dialogauge.corpus.reading import Reading
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError


def turn(record: Mapping[str, Any], reading: Reading) -> Turn:
    """The turn that a record describes; to be called inside `reading.record`.

    Only `response` is required, and it may be empty. `id` defaults to the position within its system,
    `system` to the file's name. null is absent; so are blank references and facts, and a context that is
    "". Blank utterances in a list of several are kept.
    """
    named = fields.name(record, "system")
    system = sys.intern(named or reading.system)
    position = reading.position(system)
    source = _source(record)
    extra = fields.extra(record, (*FIELDS, source))
    if named is None:
        reading.columns.note_unnamed(extra)
    context, instructions = _context(record.get(source), source)
    name, dialogue = fields.name(record, "id"), fields.name(record, "dialogue")
    return Turn(
        id=name or str(position),
        response=_response(record),
        context=context,
        references=fields.references(record),
        system=system,
        ratings=fields.ratings(record.get("ratings")),
        dialogue=dialogue,
        facts=fields.texts(record, "facts") + instructions,
        extra=extra,
        numbered=name is None and dialogue is None,
    )


def _response(record: Mapping[str, Any]) -> str:
    if "response" not in record:
        names = quote_all(record) or "no field"
        raise InputError(f"response: expected text, found no such field (the fields are {names}); {advice('response')}")
    value = record["response"]
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        messages.role_of(value, "response")
        text = messages.text_of(value, "response")
        if text is not None:
            return text
    raise InputError(f"response: expected text, found {describe(value)}")


def _source(record: Mapping[str, Any]) -> str:
    """The field that holds the context: in a chat log without its reply, the list `messages`."""
    absent = record.get("context") in (None, "")
    return "messages" if absent and isinstance(record.get("messages"), list) else "context"


def _context(value: Any, field: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The utterances, and the facts that system messages hold."""
    if value is None or value == "":
        return (), ()
    if isinstance(value, str):
        return (value,), ()
    if not isinstance(value, list):
        raise InputError(f"{field}: expected a list of strings or chat messages, found {describe(value)}")
    if all(isinstance(item, str) for item in value):
        return tuple(value), ()
    if not all(isinstance(item, dict) for item in value):
        raise InputError(f"{field}: expected a list of strings or chat messages, found {describe(value)}")
    said, facts = messages.split(value, field)
    return tuple(message.text for message in said), facts
