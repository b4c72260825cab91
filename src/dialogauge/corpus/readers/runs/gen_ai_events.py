"""Messages of models in the events of OpenTelemetry, before attributes of spans held them.

Schema: "Semantic conventions for Generative AI events" up to version 1.36: an event per message, named after the role,
with `content`, and `gen_ai.choice` with `index` and `message`; before that, `gen_ai.content.prompt` and
`gen_ai.content.completion` with all messages as JSON in one attribute. Log records have these fields in their body,
events of spans in their attributes, or as JSON in the attribute `gen_ai.event.content`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dialogauge.corpus.readers.runs.entries import unpacked
from dialogauge.corpus.reading.messages import ASSISTANT, as_text, is_message, take_apart
from dialogauge.errors import InputError, describe

_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", ASSISTANT, "tool")}
_CHOICE = "gen_ai.choice"
_ALL_AT_ONCE = {
    "gen_ai.content.prompt": ("gen_ai.prompt", "user"),
    "gen_ai.content.completion": ("gen_ai.completion", ASSISTANT),
}
_NAMES = {*_ROLES, _CHOICE, *_ALL_AT_ONCE}
_AS_JSON = "gen_ai.event.content"


@dataclass
class SpanMessages:
    """What a model was given, and its replies, by their number where it was asked for several."""

    asked: Any = field(default_factory=list)
    replies: dict[int, list[Any]] = field(default_factory=dict)
    where: str = _CHOICE
    """What held the replies, for errors."""

    @property
    def said(self) -> list[list[Any]]:
        """The replies in which something is said, in their order."""
        return [reply for _, reply in sorted(self.replies.items()) if take_apart(reply, self.where).said]

    def add(self, name: Any, attributes: Mapping[str, Any], body: Any = None) -> None:
        """Adds what an event holds, in the order in which things were said; events of spans have no body, and other
        events no message. The name tells the role, whatever the provider calls it."""
        if not is_about_messages(name):
            return
        if name in _ALL_AT_ONCE:
            attribute, role = _ALL_AT_ONCE[name]
            messages = _listed(attributes.get(attribute), attribute, role)
            if role == ASSISTANT:
                self.replies.setdefault(0, []).extend(messages)
            else:
                self.asked.extend(messages)
        elif name in _ROLES:
            self.asked.append(_message(_ROLES[name], *_fields(attributes, body, name)))
        else:
            held, spelled = _fields(attributes, body, name)
            self.replies.setdefault(_index(held), []).append(_chosen(held, spelled))


def is_about_messages(name: Any) -> bool:
    return isinstance(name, str) and name in _NAMES


def _fields(attributes: Mapping[str, Any], body: Any, name: str) -> tuple[Mapping[str, Any], bool]:
    """The fields of an event, and whether lists and objects in them are spelled as JSON, since attributes of events
    hold none."""
    if body is not None:
        held = unpacked(body)
    elif _AS_JSON in attributes:
        held = unpacked(attributes[_AS_JSON])
    else:
        return attributes, True
    if isinstance(held, str):
        return {"content": held}, False
    if not isinstance(held, dict):
        raise InputError(f"{name}: expected an object with content, found {describe(held)}")
    return held, False


def _message(role: str, held: Mapping[str, Any], spelled: bool = False) -> dict[str, Any]:
    content = _parts(held.get("content")) if spelled else held.get("content")
    if role == "tool":
        content = as_text(content, "content")
    return {"role": role, "content": content, "tool_calls": held.get("tool_calls")}


def _chosen(held: Mapping[str, Any], spelled: bool) -> dict[str, Any]:
    """The message of a choice: an object, or what is said alone."""
    message = held.get("message", held)
    if spelled and isinstance(message, str):
        found = unpacked(message)
        message = found if isinstance(found, dict) else _parts(message)
    said = message if isinstance(message, dict) else {"content": message}
    return _message(ASSISTANT, {"tool_calls": held.get("tool_calls"), **said})


def _parts(value: Any) -> Any:
    """The parts of a message that a text spells as JSON; anything else as it is."""
    found = unpacked(value)
    return found if isinstance(found, list) and found and all(isinstance(part, dict) for part in found) else value


def _index(held: Mapping[str, Any]) -> int:
    index = held.get("index", 0)
    if isinstance(index, str) and index.isdecimal():  # as OTLP writes whole numbers
        index = int(index)
    if not isinstance(index, int):
        raise InputError(f"index: expected a whole number, found {describe(index)}")
    return index


def _listed(value: Any, where: str, role: str) -> list[Any]:
    """Messages, one message, or a text of this role; nothing where content was not recorded."""
    found = unpacked(value)
    if found is None or is_message(found):
        return [] if found is None else [found]
    if isinstance(found, str):
        return [{"role": role, "content": found}]
    if isinstance(found, list):
        return found
    raise InputError(f"{where}: expected chat messages, found {describe(found)}")
