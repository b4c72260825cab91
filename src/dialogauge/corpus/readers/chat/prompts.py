"""Prompts with one completion, and with a chosen and a rejected one, as Hugging Face's TRL trains on.

Schema: TRL's dataset formats page: `prompt` and `completion`; `prompt`, `chosen` and `rejected`; each a text or a list
of chat messages; without a prompt, `chosen` and `rejected` are whole conversations that differ at their ends. The
conversations of Anthropic's HH-RLHF are one text each, with "\\n\\nHuman:" and "\\n\\nAssistant:" before what is said.
Intel's orca_dpo_pairs has `question` and the system prompt as `system`; LLaMA-Factory's `data/README.md` has
`conversations` by from and value, and one such message as `chosen` and as `rejected`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialogauge.corpus.readers.chat.sharegpt import as_messages
from dialogauge.corpus.readers.shape import shaped
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.messages import ASSISTANT, are_messages
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe

SIDES = ("chosen", "rejected")
_PROMPTS = ("prompt", "context", "conversations")
"""What may hold that which both sides answer."""
_SPEAKERS = re.compile(r"\n\n(Human|Assistant):")
_IDS = ("id", "prompt_id", "uid", "idx")


def _is_completion(record: Mapping[str, Any]) -> bool:
    return {"prompt", "completion"} <= record.keys() and "response" not in record and "context" not in record


def _completion(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    rest = {name: value for name, value in record.items() if name not in ("prompt", "completion")}
    given = {**rest, "context": record.get("prompt"), "response": record.get("completion")}
    yield line, turn(reading.columns.record(given), reading)


def _is_choice(record: Mapping[str, Any]) -> bool:
    return all(isinstance(record.get(side), str | list | dict) for side in SIDES) and "response" not in record


def _choice(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    """Two systems, `chosen` and `rejected`; what is said of one of them, as `score_chosen`, is its `extra`. A column
    `system` holds the system prompt."""
    told = any(record.get(field) is not None for field in _PROMPTS)
    record = reading.columns.rename(record, fields=() if told else ("context",))
    name = next((fields.name(record, each) for each in _IDS if record.get(each) is not None), None)
    position = str(reading.position(reading.system))
    given = [field for field in _PROMPTS if record.get(field) is not None]
    asked = "context" if "context" in reading.columns.mapping else given[0] if given else "prompt"
    instructions = fields.texts(record, "system")
    rest = {field: value for field, value in record.items() if field not in (asked, *SIDES, *_IDS, "system")}
    own = {side: {_without(side, field): value for field, value in rest.items() if side in field} for side in SIDES}
    shared = {field: value for field, value in rest.items() if not any(side in field for side in SIDES)}
    for side in SIDES:
        context, response = _sides(record.get(asked), record.get(side), side)
        reply = {"id": name or position, "system": side, "context": context, "response": response}
        made = turn({**reply, "facts": list(instructions), "extra": {**shared, **own[side]}}, reading)
        yield line, replace(made, numbered=name is None)
    reading.position(reading.system)


def _sides(prompt: Any, given: Any, side: str) -> tuple[Any, Any]:
    """What one side answers, and its reply."""
    prompt, given = as_messages(prompt, "prompt"), as_messages([given] if isinstance(given, dict) else given, side)
    if isinstance(given, str) and _SPEAKERS.match(given):
        given = _spoken(given)
    if isinstance(given, str):
        return prompt, given
    if not isinstance(given, list) or not are_messages(given):
        raise InputError(f"{side}: expected text or a list of chat messages, found {describe(given)}")
    start = len(given)
    while start and _is_reply(given[start - 1]):
        start -= 1
    before, reply = given[:start], given[start:]
    if not reply:
        raise InputError(f"{side}: expected a conversation that ends with a reply, found one that does not")
    if before or prompt is None:
        return before, reply
    return prompt, reply


def _is_reply(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in (ASSISTANT, "tool")


def _spoken(text: str) -> list[dict[str, str]]:
    """The messages of a conversation that is one text."""
    pieces = _SPEAKERS.split(text)[1:]
    roles = {"Human": "user", "Assistant": ASSISTANT}
    return [{"role": roles[who], "content": said.strip()} for who, said in zip(pieces[::2], pieces[1::2], strict=True)]


def _without(side: str, field: str) -> str:
    return field.replace(side, "").strip("_-. ") or field


PROMPT_COMPLETION = shaped(
    "prompt_completion",
    "prompt and completion, as TRL trains on; texts or chat messages",
    _is_completion,
    _completion,
    has_columns=True,
)
CHOSEN_REJECTED = shaped(
    "chosen_rejected",
    "chosen and rejected completions, as TRL trains on; two systems",
    _is_choice,
    _choice,
    has_columns=True,
)
