"""Battles of an arena: the conversations of two models with one person, and which of them won.

Schema: the dataset cards of lmsys/chatbot_arena_conversations, lmsys/mt_bench_human_judgments and
lmarena-ai/arena-human-preference-140k (`model_a`, `model_b`, `conversation_a`, `conversation_b`, `winner`), and of
lmsys/lmsys-arena-human-preference-55k (`prompt`, `response_a`, `response_b`, `winner_model_a`, `winner_model_b`,
`winner_tie`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import parse
from dialogauge.corpus.reading.messages import ASSISTANT, is_message
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import chat_turns
from dialogauge.errors import InputError, describe, quote

_IDS = ("id", "question_id", "battle_id", "conversation_id")
_USED = ("model_a", "model_b", "conversation_a", "conversation_b", "response_a", "response_b", "prompt", "winner")
_VOTES = ("winner_model_a", "winner_model_b", "winner_tie")
_TIES = {"tie", "tie (bothbad)", "tie(bothbad)", "bothbad", "both_bad", "both bad", "neither", "both_good"}
Vote = Literal["a", "b", "tie"]


class Battle(NamedTuple):
    """The turns of both conversations, each with the line of the battle, and who won; None where nobody said."""

    a: list[LocatedTurn]
    b: list[LocatedTurn]
    vote: Vote | None
    systems: tuple[str, str]
    extra: Mapping[str, Any]


def is_battle(record: Mapping[str, Any]) -> bool:
    if not {"model_a", "model_b"} <= record.keys():
        return False
    sides = any({f"{kind}_a", f"{kind}_b"} <= record.keys() for kind in ("conversation", "response"))
    return sides and ("winner" in record or _VOTES[0] in record)


def battle(record: Mapping[str, Any], line: int, reading: Reading) -> Battle:
    """To be called inside `reading.record`."""
    a, b = fields.name(record, "model_a"), fields.name(record, "model_b")
    if a is None or b is None:
        raise InputError(f"expected the names of two models, found {describe([a, b])}")
    if a == b:
        raise InputError(f"expected replies of two systems, found {quote(a)} twice")
    models = sys.intern(a), sys.intern(b)
    named = next((fields.name(record, name) for name in _IDS if record.get(name) is not None), None)
    dialogue = named or reading.position(reading.system)
    skipped = (*_USED, *_VOTES, *_IDS)
    extra = {name: value for name, value in record.items() if name not in skipped and value is not None}
    sides = [
        list(chat_turns(dialogue, _messages(record, side), model, line, reading, where=side, extra=extra))
        for side, model in zip("ab", models, strict=True)
    ]
    return Battle(sides[0], sides[1], _vote(record, models), models, extra)


def sniff(head: FileHead) -> bool:
    return is_battle(head.first)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Every reply of both models is a turn. A reply that stands in several battles, under one id, is one turn; another
    text under the same model and id is an error."""
    seen: dict[tuple[str, str], str] = {}

    def turns(record: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        fought = battle(record, line, reading)
        for place, turn in (*fought.a, *fought.b):
            known = seen.get((turn.system, turn.id))
            if known is None:
                seen[turn.system, turn.id] = turn.response
                yield place, turn
            elif known != turn.response:
                whose = f"id {quote(turn.id)} of system {quote(turn.system)}"
                raise InputError(f"{whose}: expected the reply {quote(known)}, found {quote(turn.response)}")

    return each_record(reading, turns)


def _messages(record: Mapping[str, Any], side: str) -> list[Any]:
    """The conversation of one side, as chat messages."""
    said = _unpacked(record.get(f"conversation_{side}"))
    if said is not None:
        if not isinstance(said, list) or not said or not is_message(said[0]):
            raise InputError(f"conversation_{side}: expected a list of chat messages, found {describe(said)}")
        return said
    asked, replies = _unpacked(record.get("prompt")), _unpacked(record.get(f"response_{side}"))
    questions = asked if isinstance(asked, list) else [asked]
    answers = replies if isinstance(replies, list) else [replies]
    if len(questions) != len(answers) or not all(isinstance(each, str | None) for each in (*questions, *answers)):
        found = f"{describe(asked)} and {describe(replies)}"
        raise InputError(f"expected a prompt and a response_{side} for each of its messages, found {found}")
    messages = []
    for question, answer in zip(questions, answers, strict=True):
        messages.append({"role": "user", "content": question or ""})
        messages.append({"role": ASSISTANT, "content": answer or ""})
    return messages


def _unpacked(value: Any) -> Any:
    """Lists and messages are written as JSON in some of the files."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return parse(value)
    except InputError:
        return value


def _vote(record: Mapping[str, Any], models: tuple[str, str]) -> Vote | None:
    if "winner" not in record:
        votes = [str(record.get(name, "")).strip() for name in _VOTES]
        won = [place for place, vote in enumerate(votes) if vote in ("1", "1.0", "true", "True")]
        if len(won) > 1:
            raise InputError(f"expected one winner, found {', '.join(_VOTES[place] for place in won)}")
        return ("a", "b", "tie")[won[0]] if won else None
    winner = record["winner"]
    if winner is None or winner == "":
        return None
    if not isinstance(winner, str):
        raise InputError(f"winner: expected model_a, model_b or tie, found {describe(winner)}")
    said = winner.strip().casefold()
    if said in _TIES:
        return "tie"
    if said in ("model_a", "a") or winner == models[0]:
        return "a"
    if said in ("model_b", "b") or winner == models[1]:
        return "b"
    raise InputError(f"winner: expected model_a, model_b or tie, found {describe(winner)}")


ARENA = Reader("arena", "battles of two models, with which of them people prefer (Chatbot Arena)", sniff, read)
