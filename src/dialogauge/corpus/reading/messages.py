"""Chat messages of any dialect: who said what, what was an instruction, and what came from a tool.

Understood are the messages of OpenAI's chat completions and responses, of Anthropic, of Gemini (`parts`), of
LangChain (`type`), of Inspect, and of OpenTelemetry's `gen_ai` conventions, whose parts hold their text in `content`.
Only what a speaker says to the other is an utterance. What a tool gave back, or a search found, is a fact; calls of
tools, reasoning, images and sounds are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dialogauge.errors import InputError, describe

USERS = ("user", "human")
ASSISTANT = "assistant"
_INSTRUCTIONS = {"system", "developer"}
_MACHINERY = {"tool", "function", "ipython", "observation"}
_GEMINI = {"model": ASSISTANT}
_LANGCHAIN = {"human": "user", "ai": ASSISTANT, "system": "system", "tool": "tool", "function": "function"}

_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Parts that are said, by their types, with the field that holds the text."""
_MISPLACED = ("text", "value", "message", "utterance")
"""Where text stands in a message of a dialect that is not understood."""
_RESULTS = {
    "tool_result": ("content",),
    "tool_use": ("result",),
    "tool_call_response": ("response", "result"),
    "server_tool_call_response": ("server_tool_call_response", "response"),
    "function_call_output": ("output",),
    "search_result": ("content",),
    "document": ("text", "content"),
}
"""Parts that bring something in from outside."""
_CALLS = {"function_call", "reasoning", "tool_call", "item_reference"}
"""Items of OpenAI's responses that have no role and say nothing."""


class Message(NamedTuple):
    role: str
    text: str
    results: int = 0
    """How many results of tools were there when it was said."""


@dataclass(frozen=True)
class Chat:
    """A list of messages, taken apart."""

    said: tuple[Message, ...]
    instructions: tuple[str, ...]
    """System and developer messages."""
    results: tuple[str, ...]
    """What tools gave back."""

    @property
    def facts(self) -> tuple[str, ...]:
        return self.instructions + self.results

    def known_to(self, message: Message) -> tuple[str, ...]:
        """The facts behind a message; users do not see what tools give."""
        return self.instructions + (() if message.role in USERS else self.results[: message.results])


def take_apart(messages: Sequence[Any], where: str) -> Chat:
    """`where` names the field in errors."""
    said: list[Message] = []
    instructions: list[str] = []
    results: list[str] = []
    for value in messages:
        role, text, brought = _message(value, where)
        results += brought
        if text is None or role in _MACHINERY:
            if text is not None and text.strip():
                results.append(text)
        elif role not in _INSTRUCTIONS:
            said.append(Message(role, text, len(results)))
        elif text.strip():
            instructions.append(text)
    return Chat(tuple(said), tuple(instructions), tuple(results))


def reply_of(messages: Sequence[Any], where: str) -> tuple[str, Chat]:
    """What the assistant says in the messages of one reply, joined by line breaks, and all that is in them."""
    chat = take_apart(messages, where)
    if others := [message.role for message in chat.said if message.role in USERS]:
        raise InputError(f"{where}: expected messages of the assistant, found one of {others[0]!r}")
    if not chat.said:
        found = messages[0] if len(messages) == 1 else list(messages)
        raise InputError(f"{where}: expected text, found {describe(found)}")
    return "\n".join(message.text for message in chat.said), chat


def is_message(value: Any) -> bool:
    """Whether a value is a chat message of a dialect that is understood."""
    if not isinstance(value, dict):
        return False
    spoken = {"content", "parts", "tool_calls", "refusal"} & value.keys()
    by_type = value.get("type") in _LANGCHAIN
    return (bool(spoken) and (isinstance(value.get("role"), str) or by_type)) or (by_type and _wraps(value))


def are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and is_message(value[0])


def _wraps(value: dict[str, Any]) -> bool:
    """Whether a message has all but its type in `data`, as LangChain's `messages_to_dict` writes them."""
    return isinstance(value.get("data"), dict) and "content" not in value and "role" not in value


def _is_misplaced(value: dict[str, Any]) -> bool:
    return not {"content", "parts"} & value.keys() and any(value.get(name) for name in _MISPLACED)


def _message(value: Any, where: str) -> tuple[str, str | None, list[str]]:
    """Its role, its text if it has one, and what tools gave back in it."""
    if isinstance(value, dict) and _wraps(value):
        value = {**value["data"], "type": value.get("type")}
    if isinstance(value, dict) and "role" not in value and value.get("type") in _RESULTS:
        return "tool", None, _result(value, where)
    if isinstance(value, dict) and "role" not in value and value.get("type") in _CALLS:
        return ASSISTANT, None, []
    role = value.get("role") if isinstance(value, dict) else None
    if isinstance(value, dict) and role is None and isinstance(value.get("type"), str):
        role = _LANGCHAIN.get(value["type"])
    if not isinstance(role, str) or not role or _is_misplaced(value):
        raise InputError(f"{where}: expected a chat message with role and content, found {describe(value)}")
    role = _GEMINI.get(role, role)
    content = value.get("content")
    if content is None and isinstance(value.get("parts"), list):
        content = value["parts"]
    if content is None:
        refusal = value.get("refusal")
        return role, refusal if isinstance(refusal, str) else None, []
    if content == "" and value.get("tool_calls"):
        return role, None, []
    if isinstance(content, str):
        return role, content, []
    if not isinstance(content, list):
        raise InputError(f"{where}: expected content that is text or a list of parts, found {describe(content)}")
    return (role, *_parts(content, where))


def _parts(parts: list[Any], where: str) -> tuple[str | None, list[str]]:
    """The texts, joined by line breaks, and the results of tools. None where there are only calls and results."""
    texts: list[str] = []
    results: list[str] = []
    silent = bool(parts)
    for part in parts:
        kind, text = _part(part, where)
        if kind in _RESULTS:
            results += _result(part, where)
        elif text is not None:
            texts.append(text)
        silent = silent and (kind in _RESULTS or kind.startswith(("tool", "function", "server_tool")))
    return None if silent else "\n".join(texts), results


def _part(part: Any, where: str) -> tuple[str, str | None]:
    """The part's type, and its text where it is one that is said."""
    if isinstance(part, str):
        return "text", part
    if not isinstance(part, dict):
        raise InputError(f"{where}: expected content parts that are objects, found {describe(part)}")
    kind = part.get("type")
    if kind is None:  # Gemini's parts have no type
        kind = next((each for each in ("functionCall", "functionResponse") if each in part), None)
        kind = kind or ("text" if isinstance(part.get("text"), str) and not part.get("thought") else None)
        if kind is None and part.get("thought"):
            kind = "reasoning"
    if not isinstance(kind, str):
        raise InputError(f"{where}: expected a content part with type and text, found {describe(part)}")
    if kind not in _TEXTS:
        return ("tool_call_response", None) if kind == "functionResponse" else (kind, None)
    text = part.get(_TEXTS[kind])
    if text is None and kind == "text":
        text = part.get("content")
    if not isinstance(text, str):
        raise InputError(f"{where}: expected a content part with type and text, found {describe(part)}")
    return kind, text


def _result(part: dict[str, Any], where: str) -> list[str]:
    """What a tool gave back, as text."""
    if "functionResponse" in part:
        given = part["functionResponse"]
        value = given.get("response", given) if isinstance(given, dict) else given
    else:
        value = next((part[name] for name in _RESULTS[part["type"]] if part.get(name) is not None), None)
    text = as_text(value, where)
    return [text] if text.strip() else []


def as_text(value: Any, where: str) -> str:
    """A value that should be text: of a list of parts the texts, of anything else its JSON. "" where there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) and "type" in item for item in value):
        return "\n".join(text for _, text in (_part(item, where) for item in value) if text is not None)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
