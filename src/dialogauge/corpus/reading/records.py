"""Records of any format, chat messages and whole conversations as turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import FIELDS, advice
from dialogauge.corpus.reading.fields import refuse_huge_texts
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe, quote_all

_INSTRUCTIONS = {"system", "developer"}
_MACHINERY = {"tool", "function"}
_TEXT_PARTS = {"text", "input_text", "output_text"}


class Message(NamedTuple):
    role: str
    text: str


def split(messages: Sequence[Any], where: str) -> tuple[list[Message], tuple[str, ...]]:
    """What the speakers said, and what system and developer messages told them: the facts.

    Tool messages are left out, and so are messages that say nothing because they only call a tool. `where`
    names the field in errors.
    """
    said = []
    facts = []
    for value in messages:
        role, text = role_of(value, where), text_of(value, where)
        if text is None or role in _MACHINERY:
            continue
        if role not in _INSTRUCTIONS:
            said.append(Message(role, text))
        elif text.strip():
            facts.append(text)
    return said, tuple(facts)


def role_of(message: Any, where: str) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str) or not role:
        raise InputError(f"{where}: expected a chat message with role and content, found {describe(message)}")
    return role


def text_of(message: dict[str, Any], where: str) -> str | None:
    """The message's text, or None where it has none. Of content in parts the texts are joined by a line
    break; images and other parts are left out."""
    content = message.get("content")
    if content is None or (content == "" and message.get("tool_calls")):
        return None
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InputError(f"{where}: expected content that is text or a list of parts, found {describe(content)}")
    texts = [_part(part, where) for part in content]
    return "\n".join(text for text in texts if text is not None)


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


def _part(part: Any, where: str) -> str | None:
    if not isinstance(part, dict):
        raise InputError(f"{where}: expected content parts that are objects, found {describe(part)}")
    kind, text = part.get("type"), part.get("text")
    if not isinstance(kind, str) or (kind in _TEXT_PARTS and not isinstance(text, str)):
        raise InputError(f"{where}: expected a content part with type and text, found {describe(part)}")
    return text if kind in _TEXT_PARTS else None


def _response(record: Mapping[str, Any]) -> str:
    if "response" not in record:
        names = quote_all(record) or "no field"
        raise InputError(f"response: expected text, found no such field (the fields are {names}); {advice('response')}")
    value = record["response"]
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        role_of(value, "response")
        text = text_of(value, "response")
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
    said, facts = split(value, field)
    return tuple(message.text for message in said), facts
