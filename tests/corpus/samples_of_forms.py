"""One small file of every further form that a format of another tool has, made from the public schemas that the
readers name."""

from __future__ import annotations

import json
from typing import Any


def texts() -> dict[str, str]:
    """By the reader's name and the form."""
    return {
        "open_telemetry events": json.dumps(_EVENTS, ensure_ascii=False),
        "open_telemetry logs": json.dumps(_SPANS) + "\n" + json.dumps(_LOGS, ensure_ascii=False) + "\n",
        "fed of dstc10": json.dumps(_DSTC10, ensure_ascii=False, indent=1),
    }


def _wrapped(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it in JSON."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _attributes(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_wrapped(each) for each in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _wrapped(value)} for name, value in values.items()]


def _events(*events: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "timeUnixNano": str(place), "attributes": _attributes({"gen_ai.system": "openai", **given})}
        for place, (name, given) in enumerate(events, start=1)
    ]


def _span(name: str, *events: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    attributes = _attributes({"gen_ai.request.model": "m1", "gen_ai.conversation.id": "c1"})
    return {"traceId": "t1", "spanId": name, "name": "chat m1", "attributes": attributes, "events": _events(*events)}


def _log(span: str, name: str, body: dict[str, Any]) -> dict[str, Any]:
    said = {"eventName": name, "attributes": _attributes({"gen_ai.system": "openai"}), "body": _wrapped(body)}
    return {"timeUnixNano": "1", "traceId": "t1", "spanId": span, **said}


_CALLED = {"id": "t", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
_MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("gen_ai.system.message", {"content": "Be kind."}),
    ("gen_ai.user.message", {"content": "is it warm?"}),
    ("gen_ai.assistant.message", {"tool_calls": [_CALLED]}),
    ("gen_ai.tool.message", {"id": "t", "content": "21 degrees"}),
]
_PROMPT = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
_EVENTS = {
    "resourceSpans": [
        {
            "resource": {"attributes": _attributes({"service.name": "bot"})},
            "scopeSpans": [
                {
                    "scope": {"name": "instrumentation"},
                    "spans": [
                        _span(
                            "s1",
                            ("gen_ai.user.message", {"content": "is it warm?"}),
                            ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": "yes, é"}),
                        ),
                        _span(
                            "s2",
                            *((name, {"gen_ai.event.content": json.dumps(body)}) for name, body in _MESSAGES),
                            ("gen_ai.choice", {"gen_ai.event.content": '{"index": 0, "message": {"content": "yes"}}'}),
                        ),
                        _span(
                            "s3",
                            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(_PROMPT)}),
                            (
                                "gen_ai.content.completion",
                                {"gen_ai.completion": '[{"role": "assistant", "content": "hello"}]'},
                            ),
                        ),
                        _span("s4", ("exception", {"exception.type": "Timeout"})),
                    ],
                }
            ],
        }
    ]
}
_SPANS = {"resourceSpans": [{"scopeSpans": [{"spans": [_span("s1"), _span("s2")]}]}]}
_LOGS = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        *(_log("s1", name, body) for name, body in _MESSAGES),
                        _log("s1", "gen_ai.choice", {"index": 0, "message": {"content": "yes, é"}}),
                        _log("s1", "gen_ai.choice", {"index": 1, "message": {"role": "assistant", "content": "yes"}}),
                        _log("s3", "gen_ai.user.message", {"content": "hi"}),
                        _log("s3", "gen_ai.choice", {"index": 0, "message": {"content": "hello"}}),
                        _log("s3", "started", {}),
                    ]
                }
            ]
        }
    ]
}
_DSTC10 = [
    {
        "context": "hi\nhow are you ?",
        "response": "fine é",
        "reference": ["very well"],
        "annotations": {"relevance": [1, 2, 3], "overall": [4, 5, 4]},
    },
    {
        "context": "where is it ?",
        "response": "there",
        "reference": ["over there", "here"],
        "annotations": {"relevance": [3, 3, 2], "overall": [4, 2, 3]},
    },
]
TASKS_MIN = [
    {
        "dialogue": [{"author": "user", "text": "hi é"}, {"author": "bot", "text": "hello"}],
        "model": "m1",
        "id": 7,
        "fluent": [{"rating": 4}],
        "kind": "2",
        "annotator": 3,
        "annotation_id": 11,
        "created_at": "2026-01-01T00:00:02Z",
        "updated_at": "2026-01-01T00:00:02Z",
        "lead_time": 4.5,
    },
    {
        "prompt": "hi",
        "response": "what?",
        "model": "m1",
        "id": 8,
        "fluent": [{"rating": 1}],
        "annotator": 4,
        "annotation_id": 13,
        "created_at": "2026-01-01T00:00:03Z",
        "updated_at": "2026-01-01T00:00:03Z",
        "lead_time": 1.5,
    },
    {
        "dialogue": [{"author": "user", "text": "hi é"}, {"author": "bot", "text": "hello"}],
        "model": "m1",
        "id": 7,
        "fluent": [{"rating": 2}],
        "remark": "short",
        "annotator": 4,
        "annotation_id": 12,
        "created_at": "2026-01-01T00:00:01Z",
        "updated_at": "2026-01-01T00:00:01Z",
        "lead_time": 2.5,
    },
]
