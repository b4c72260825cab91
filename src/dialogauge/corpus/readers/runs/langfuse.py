"""Traces of Langfuse: a session as it is downloaded, single traces, and tables of traces.

Schema: `SessionWithTraces` and `Trace` of Langfuse's public API (a session has `id` and `traces`; a trace `id`,
`timestamp`, `name`, `input`, `output`, `sessionId`, and, where it is downloaded alone, `observations` and `scores`).
Rows of the table of observations have `traceId`, `type` and `model`. The decorator `@observe` keeps a call's `args` and
`kwargs` as input.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.readers.runs.entries import each_entry, remark_silent, scores, unpacked
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.messages import ASSISTANT, are_messages, is_message, take_apart
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe

_TRACE = {"sessionId", "projectId", "observations", "traceId"}
_GENERATION = "GENERATION"
_ASKED = ("messages", "query", "question", "input", "message", "prompt", "text", "content")
_REPLIED = ("messages", "answer", "output", "response", "reply", "message", "text", "content")


def sniff(head: FileHead) -> bool:
    first = head.first
    traces = first.get("traces", ())
    session = "traces" in first and (traces is None or (isinstance(traces, list) and all(map(_is_trace, traces))))
    return session or (_is_trace(first) and bool(_TRACE & first.keys()))


def read(reading: Reading) -> Iterator[LocatedTurn]:
    traces = _Traces(reading)

    def turns(record: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        if "traces" not in record:
            yield from traces.turns(record, line)
            return
        found = record["traces"]
        if isinstance(found, list) and all(isinstance(each, dict) for each in found):
            found = sorted(found, key=lambda each: str(each.get("timestamp", "")))
        session = fields.name(record, "id")
        yield from each_entry(found, "traces", line, reading, lambda each: traces.turns(each, line, session))

    yield from each_record(reading, turns)
    remark_silent(reading, traces.silent, "trace")


class _Traces:
    """Of observations only generations are replies. The system is the model of a trace's last generation, else the name
    of the trace. What was said before in the session is context, unless the input holds it already."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.silent = 0
        self._said: dict[str, list[dict[str, str]]] = {}

    def turns(self, trace: Mapping[str, Any], line: int, session: str | None = None) -> Iterator[LocatedTurn]:
        if "traceId" in trace and trace.get("type", _GENERATION) != _GENERATION:
            self.silent += 1
            return
        asked = _said(unpacked(trace.get("input")), _ASKED, "user")
        replied = _said(unpacked(trace.get("output")), _REPLIED, ASSISTANT)
        if not take_apart(replied, "output").said:
            self.silent += 1
            return
        dialogue = session or fields.name(trace, "sessionId")
        before = self._said.setdefault(dialogue, []) if dialogue else []
        context = [*before, *asked] if len(asked) < 2 else asked
        record = {
            "id": fields.name(trace, "id"),
            "system": sys.intern(_model(trace) or fields.name(trace, "name") or self.reading.system),
            "context": context,
            "response": replied,
            "dialogue": dialogue,
            "extra": _scores(trace.get("scores")),
        }
        made = turn(record, self.reading)
        before += [*asked[-1:], {"role": ASSISTANT, "content": made.response}]
        yield line, made


def _is_trace(value: Any) -> bool:
    return isinstance(value, dict) and {"input", "output"} <= value.keys()


def _said(value: Any, names: Sequence[str], role: str) -> list[Any]:
    """What goes into a trace, or comes out of it, as chat messages: texts, messages, or an object that holds either."""
    if value is None or isinstance(value, str):
        return [{"role": role, "content": value}] if value else []
    if are_messages(value):
        return list(value) if role == "user" else _last_replies(value)
    if is_message(value):
        return [value]
    if isinstance(value, dict) and {"args", "kwargs"} == value.keys():
        args = value["args"]
        if isinstance(args, list) and len(args) < 2:  # of several arguments nobody says which is meant
            return _said(args[0] if args else value["kwargs"], names, role)
    if isinstance(value, dict):
        held = next((value[name] for name in names if value.get(name) is not None), None)
        if held is not None:
            return _said(held, names, role)
        if len(texts := [each for each in value.values() if isinstance(each, str)]) == 1:
            return [{"role": role, "content": texts[0]}]
    raise InputError(
        f"{'input' if role == 'user' else 'output'}: expected text or chat messages, found {describe(value)}"
    )


def _last_replies(messages: Sequence[Any]) -> list[Any]:
    """What comes after the last message of the user; some agents give out the whole conversation."""
    users = [place for place, each in enumerate(messages) if isinstance(each, dict) and each.get("role") == "user"]
    return list(messages[users[-1] + 1 :] if users else messages)


def _model(trace: Mapping[str, Any]) -> str | None:
    observed = trace.get("observations", [trace])
    models = [each.get("model") for each in (observed if isinstance(observed, list) else []) if isinstance(each, dict)]
    return next((model for model in reversed(models) if isinstance(model, str) and model), None)


def _scores(given: Any) -> dict[str, float]:
    each = [score for score in (given if isinstance(given, list) else []) if isinstance(score, dict)]
    return scores({score["name"]: score.get("value") for score in each if isinstance(score.get("name"), str)})


LANGFUSE = Reader("langfuse", "sessions and traces of Langfuse", sniff, read)
