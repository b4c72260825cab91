"""Spans of OpenTelemetry's generative AI conventions, of which every one with a reply is a turn.

Schema: the semantic conventions for generative client spans (`gen_ai.input.messages`, `gen_ai.output.messages`,
`gen_ai.system_instructions`, `gen_ai.conversation.id`, `gen_ai.request.model`), and OTLP's JSON encoding as the
collector's file exporter writes it (`resourceSpans`, `scopeSpans`, `spans`; `resourceLogs`, `scopeLogs`, `logRecords`);
the SDKs' console exporters write spans and log records one by one, with attributes as an object. Where the span does
not hold its messages, its events may, or the log records that name it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.readers.runs.entries import each_entry, remark_silent, unpacked
from dialogauge.corpus.readers.runs.gen_ai_events import SpanMessages, is_about_messages
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.messages import take_apart
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe
from dialogauge.tables import counted

_INPUT, _OUTPUT, _INSTRUCTIONS = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "gen_ai.agent.name")
_PLAIN = ("stringValue", "intValue", "doubleValue", "boolValue")


def sniff(head: FileHead) -> bool:
    first = head.first
    named = {"spanId", "span_id", "context"} & first.keys()
    return bool({"resourceSpans", "resourceLogs"} & first.keys()) or ("attributes" in first and bool(named))


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Spans that hold their messages, or have them as events, in the order of the file; then those whose messages are
    log records."""
    spans = _Spans(reading)

    def turns(record: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        if "resourceSpans" in record:
            found = [span for each in _lists(record, "resourceSpans", "scopeSpans", "spans") for span in each]
            yield from each_entry(found, "spans", line, reading, lambda span: spans.turns(span, line))
        if "resourceLogs" in record:
            logs = [log for each in _lists(record, "resourceLogs", "scopeLogs", "logRecords") for log in each]
            yield from each_entry(logs, "logRecords", line, reading, lambda log: spans.keep(log, line))
        if not {"resourceSpans", "resourceLogs"} & record.keys():
            yield from spans.keep(record, line) if _is_log(record) else spans.turns(record, line)

    yield from each_record(reading, turns)
    yield from spans.turns_of_logs()
    remark_silent(reading, spans.silent, "span")
    if spans.other_logs:
        reading.remark("other_logs", f"{counted(spans.other_logs, 'log record')} without a message left out")


class _Spans:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.silent = 0
        """Spans without a reply: tools, and whatever else is no call of a model."""
        self.other_logs = 0
        self._told: set[str] = set()
        """Spans that have their turn."""
        self._open: dict[str, dict[str, Any]] = {}
        """What is known of spans whose messages may be in log records."""
        self._logs: dict[str, tuple[int, SpanMessages]] = {}
        """What log records say, by their span, and the line of the first."""

    def turns(self, span: Mapping[str, Any], line: int) -> Iterator[LocatedTurn]:
        """The system is the model; spans without a reply are counted."""
        said = _attributes(span.get("attributes"))
        name = _span_id(span)
        system = next((said[each] for each in _MODELS if isinstance(said.get(each), str)), self.reading.system)
        known = {
            "id": name,
            "system": sys.intern(system),
            "dialogue": said.get("gen_ai.conversation.id"),
            "facts": list(_instructions(unpacked(said.get(_INSTRUCTIONS)))),
        }
        output = unpacked(said.get(_OUTPUT))
        if isinstance(output, list):
            exchange = SpanMessages(unpacked(said.get(_INPUT)), {0: output}, _OUTPUT)
        else:
            exchange = SpanMessages()
            for event in _objects(span.get("events"), "events"):
                exchange.add(event.get("name"), _attributes(event.get("attributes")))
        if exchange.said:
            if name is not None:
                self._told.add(name)
            yield from self._replies(known, exchange, line)
            return
        self.silent += 1
        if name is not None and any(each.startswith("gen_ai.") for each in said):
            self._open[name] = known

    def keep(self, log: Mapping[str, Any], line: int) -> Iterator[LocatedTurn]:
        """Keeps the message of a log record until all are there; it makes no turn yet."""
        name, span = _event_name(log), _span_id(log)
        if not is_about_messages(name):
            self.other_logs += 1
        elif span is None or not span.removeprefix("0x").strip("0"):
            raise InputError(f"{name}: expected a log record that names its span, found none")
        else:
            _, exchange = self._logs.setdefault(span, (line, SpanMessages()))
            exchange.add(name, _attributes(log.get("attributes")), _body(log))
        yield from ()

    def turns_of_logs(self) -> Iterator[LocatedTurn]:
        """One exchange for each span that has none yet; where its span is not in the file the system is the file's."""
        for span, (line, exchange) in self._logs.items():
            if span in self._told:
                continue
            with self.reading.record(line):
                known = self._open.get(span)
                if exchange.said and known:
                    self.silent -= 1
                elif not exchange.said and not known:
                    self.silent += 1
                yield from self._replies(known or {"id": span}, exchange, line)

    def _replies(self, known: dict[str, Any], exchange: SpanMessages, line: int) -> Iterator[LocatedTurn]:
        """A turn for each reply; of several to one prompt the second is `ID#2`."""
        for number, reply in enumerate(exchange.said, start=1):
            made = turn({**known, "context": exchange.asked, "response": reply}, self.reading)
            yield line, made if number == 1 else replace(made, id=f"{made.id}#{number}")


def _is_log(record: Mapping[str, Any]) -> bool:
    return "body" in record or is_about_messages(_event_name(record))


def _event_name(log: Mapping[str, Any]) -> Any:
    """Older SDKs give the name of an event as an attribute."""
    return log.get("eventName") or log.get("event_name") or _attributes(log.get("attributes")).get("event.name")


def _span_id(record: Mapping[str, Any]) -> str | None:
    context = record.get("context")
    held = context if isinstance(context, dict) else record
    return fields.name(held, "spanId") if held.get("spanId") else fields.name(held, "span_id")


def _body(log: Mapping[str, Any]) -> Any:
    """The body of a log record, which OTLP wraps by its type."""
    body = log.get("body")
    wrapped = isinstance(body, dict) and len(body) == 1 and {*_PLAIN, "arrayValue", "kvlistValue"} & body.keys()
    return _value(body) if wrapped else body


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
