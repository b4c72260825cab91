"""ShareGPT's conversations, and logs of the same layout.

Schema: `conversations`, a list of `{"from": "human", "value": "…"}`, as FastChat's `docs/training.md` and TRL's dataset
formats page ("conversations" with from and value) have it; `function_call`, `observation` and `tools` as in
LLaMA-Factory's `data/README.md`. LMSYS-Chat-1M and WildChat have `conversation` with `role` and `content` (their
dataset cards on Hugging Face).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.readers.shape import shaped
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import holds_responses
from dialogauge.corpus.reading.messages import are_messages
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.reading.records import chat_turns
from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import InputError, describe

_LISTS = ("conversations", "conversation", "items")
_NAMES = ("conversation_id", "conversation_hash", "id")
_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard", "model", "bot"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function", "function_response"), "tool"),
    "system": "system",
}
_CALLS = {"function_call", "tool_call"}


def _fits(record: Mapping[str, Any]) -> bool:
    said = next((record[name] for name in _LISTS if record.get(name)), None)
    if holds_responses(record, NOTHING) or not isinstance(said, list) or not isinstance(said[0], dict):
        return False
    return {"from", "value"} <= said[0].keys() or are_messages(said)


def _turns(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    """The model, where a record names it, is the system; `id` names the dialogue, and so does `conversation_id`. Beside
    messages by from and value a field `system` is the system prompt, as LLaMA-Factory has it."""
    source = next((name for name in _LISTS if record.get(name) is not None), None)
    said = record.get(source) if source else None
    if source is None or not isinstance(said, list):
        raise InputError(f"expected a list {' or '.join(_LISTS)}, found {describe(said if source else record)}")
    if "system" in record and "system" not in reading.columns.mapping and _is_from_and_value(said):
        record = {**record, "system_prompt": record["system"]}
        del record["system"]
    record = reading.columns.rename(record, fields=("system",))
    system = sys.intern(fields.name(record, "system") or reading.system)
    position = reading.position(system)
    named = next((fields.name(record, name) for name in ("dialogue", *_NAMES) if record.get(name) is not None), None)
    instructions = fields.texts({"system_prompt": record.get("system_prompt")}, "system_prompt")
    known = (source, *_NAMES, "dialogue", "system", "system_prompt")
    extra = {name: value for name, value in record.items() if name not in known and value is not None}
    messages = as_messages(said, source)
    yield from chat_turns(
        named or position, messages, system, line, reading, where=source, facts=instructions, extra=extra or NOTHING
    )


def _is_from_and_value(said: list[Any]) -> bool:
    return bool(said) and isinstance(said[0], dict) and "from" in said[0]


def as_messages(given: Any, where: str) -> Any:
    """A list of messages by from and value as chat completions have them; anything else as it is."""
    return [message for each in given for message in _message(each, where)] if isinstance(given, list) else given


def _message(given: Any, where: str) -> list[Any]:
    """The message as chat completions have it; none where it only calls a tool."""
    if not isinstance(given, dict) or "from" not in given:
        return [given]
    role, text = given["from"], given.get("value")
    if not isinstance(role, str) or not isinstance(text, str):
        raise InputError(f"{where}: expected a message with from and value, found {describe(given)}")
    return [] if role in _CALLS else [{"role": _ROLES.get(role, role), "content": text}]


SHAREGPT = shaped(
    "sharegpt", "ShareGPT, LMSYS-Chat, WildChat: lists of messages by from and value", _fits, _turns, has_columns=True
)
