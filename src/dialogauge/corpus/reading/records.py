"""Records of any format, and whole conversations, as turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import FIELDS, no_response
from dialogauge.corpus.reading.fields import refuse_huge_texts
from dialogauge.corpus.reading.messages import ASSISTANT, USERS, reply_of, take_apart
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe


def turn(record: Mapping[str, Any], reading: Reading) -> Turn:
    """The turn that a record describes; to be called inside `reading.record`.

    Only `response` is required, and it may be empty. `id` defaults to the position within its system,
    `system` to the file's name. null is absent; so are blank references and facts, and a context that is
    "". Blank utterances in a list of several are kept.
    """
    named = fields.name(record, "system")
    system = sys.intern(named or reading.system)
    reading.belongs_to(system)
    source = _source(record)
    extra = fields.extra(record, (*FIELDS, source))
    if named is None:
        reading.columns.note_unnamed(extra)
    context, heard = _context(record.get(source), source)
    response, found = _response(record)
    name, dialogue = fields.name(record, "id"), fields.name(record, "dialogue")
    return Turn(
        id=name or str(reading.position(system)),
        response=response,
        context=context,
        references=fields.references(record),
        system=system,
        ratings=fields.ratings(record.get("ratings")),
        dialogue=dialogue,
        facts=fields.texts(record, "facts") + heard + found,
        extra=extra,
        numbered=name is None and dialogue is None,
    )


class Utterance(NamedTuple):
    line: int
    text: str
    system: str
    facts: tuple[str, ...] = ()
    """What is known about, or to, the one who speaks here."""


def speaker(system: str, role: str) -> str:
    """Whose the words of a role are: the assistant's are the system's."""
    return system if role == ASSISTANT else sys.intern(f"{system}:{role}")


def chat_turns(
    dialogue: str | int,
    messages: Sequence[Any],
    system: str,
    line: int,
    reading: Reading,
    *,
    where: str = "messages",
    facts: tuple[str, ...] = (),
    extra: Mapping[str, Any] = NOTHING,
) -> Iterator[LocatedTurn]:
    """The turns of a chat log: the assistant's are the system's, those of another role go to `<system>:<role>`. What
    users say is no system's, unless one asks for it."""
    chat = take_apart(messages, where)
    said = [Utterance(line, each.text, speaker(system, each.role), facts + chat.known_to(each)) for each in chat.said]
    reading.users.update({each.system for each in said} & {speaker(system, role) for role in USERS})
    return turns(dialogue, said, reading, extra)


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


def _response(record: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """What was replied, and what tools gave back on the way: a reply may be a chat message, or several."""
    if "response" not in record:
        raise no_response(record)
    value = record["response"]
    if isinstance(value, str):
        return value, ()
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
        text, chat = reply_of([value] if isinstance(value, dict) else value, "response")
        return text, chat.facts
    raise InputError(f"response: expected text, found {describe(value)}")


def _source(record: Mapping[str, Any]) -> str:
    """The field that holds the context: in a chat log without its reply, the list `messages`."""
    absent = record.get("context") in (None, "")
    return "messages" if absent and isinstance(record.get("messages"), list) else "context"


def _context(value: Any, field: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The utterances, and the facts that system messages hold and tools gave."""
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
    chat = take_apart(value, field)
    return tuple(message.text for message in chat.said), chat.facts
