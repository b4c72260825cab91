"""Chat messages, `{"role": ..., "content": ...}`, as utterances and facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dialogauge.corpus.quote import describe
from dialogauge.errors import InputError

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


def _part(part: Any, where: str) -> str | None:
    if not isinstance(part, dict):
        raise InputError(f"{where}: expected content parts that are objects, found {describe(part)}")
    kind, text = part.get("type"), part.get("text")
    if not isinstance(kind, str) or (kind in _TEXT_PARTS and not isinstance(text, str)):
        raise InputError(f"{where}: expected a content part with type and text, found {describe(part)}")
    return text if kind in _TEXT_PARTS else None
