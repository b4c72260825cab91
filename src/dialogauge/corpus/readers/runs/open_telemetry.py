"""Spans of OpenTelemetry's generative AI conventions, of which every one with a reply is a turn.

Schema: the semantic conventions for generative client spans (`gen_ai.input.messages`, `gen_ai.output.messages`,
`gen_ai.system_instructions`, `gen_ai.conversation.id`, `gen_ai.request.model`), and OTLP's JSON encoding as the
collector's file exporter writes it (`resourceSpans`, `scopeSpans`, `spans`); the SDKs' console exporter writes spans
one by one, with attributes as an object.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.readers.runs.entries import each_entry, remark_silent, unpacked
from dialogauge.corpus.reading.messages import take_apart
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe

_INPUT, _OUTPUT, _INSTRUCTIONS = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "gen_ai.agent.name")
_PLAIN = ("stringValue", "intValue", "doubleValue", "boolValue")


def sniff(head: FileHead) -> bool:
    first = head.first
    return "resourceSpans" in first or ("attributes" in first and bool({"spanId", "span_id", "context"} & first.keys()))


def read(reading: Reading) -> Iterator[LocatedTurn]:
    spans = _Spans(reading)

    def turns(record: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        if "resourceSpans" in record:
            found = [span for each in _lists(record, "resourceSpans", "scopeSpans", "spans") for span in each]
            yield from each_entry(found, "spans", line, reading, lambda span: spans.turns(span, line))
        else:
            yield from spans.turns(record, line)

    yield from each_record(reading, turns)
    remark_silent(reading, spans.silent, "span")


class _Spans:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.silent = 0

    def turns(self, span: Mapping[str, Any], line: int) -> Iterator[LocatedTurn]:
        """The system is the model; tools and whatever else is no reply of a model are counted."""
        said = _attributes(span.get("attributes"))
        output = unpacked(said.get(_OUTPUT))
        if not isinstance(output, list) or not take_apart(output, _OUTPUT).said:
            self.silent += 1
            return
        context = span.get("context")
        held = context if isinstance(context, dict) else span
        system = next((said[name] for name in _MODELS if isinstance(said.get(name), str)), self.reading.system)
        record = {
            "id": held.get("spanId") or held.get("span_id"),
            "system": sys.intern(system),
            "context": unpacked(said.get(_INPUT)),
            "response": output,
            "dialogue": said.get("gen_ai.conversation.id"),
            "facts": list(_instructions(unpacked(said.get(_INSTRUCTIONS)))),
        }
        yield line, turn(record, self.reading)


def _instructions(parts: Any) -> tuple[str, ...]:
    if isinstance(parts, str):
        return (parts,)
    return take_apart([{"role": "system", "parts": parts}], _INSTRUCTIONS).facts if isinstance(parts, list) else ()


def _lists(record: Mapping[str, Any], outer: str, middle: str, inner: str) -> Iterator[list[Any]]:
    for resource in _objects(record.get(outer), outer):
        for scope in _objects(resource.get(middle), middle):
            yield _objects(scope.get(inner), inner)


def _objects(value: Any, where: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise InputError(f"{where}: expected a list of objects, found {describe(value)}")
    return value


def _attributes(given: Any) -> Mapping[str, Any]:
    """By their names, from OTLP's list of keys and values or from an object."""
    if isinstance(given, dict):
        return given
    found = {}
    for each in _objects(given, "attributes"):
        if isinstance(each.get("key"), str):
            found[each["key"]] = _value(each.get("value"))
    return found


def _value(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    if plain := [given[name] for name in _PLAIN if name in given]:
        return plain[0]
    if "arrayValue" in given:
        return [_value(each) for each in _objects(_inner(given["arrayValue"]), "arrayValue")]
    return dict(_attributes(_inner(given["kvlistValue"]))) if "kvlistValue" in given else None


def _inner(value: Any) -> Any:
    return value.get("values") if isinstance(value, dict) else None


OPEN_TELEMETRY = Reader("open_telemetry", "spans of OpenTelemetry with gen_ai messages", sniff, read)
