"""One small file of every format that other tools write, made from the public schemas that the readers name."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import Any

import zstandard

from tests.corpus.samples_of_forms import TASKS_MIN


def texts() -> dict[str, str]:
    """By the reader's name, those that are one file of text."""
    return {
        "sharegpt": json.dumps(_SHAREGPT, ensure_ascii=False, indent=1),
        "prompt_completion": _lines(*_COMPLETIONS),
        "chosen_rejected": _lines(*_CHOICES),
        "arena": _lines(*_BATTLES),
        "inspect": json.dumps(INSPECT, ensure_ascii=False, indent=1),
        "lm_eval": _lines(*_LM_EVAL),
        "promptfoo": json.dumps(_PROMPTFOO, ensure_ascii=False, indent=1),
        "deepeval": json.dumps(_DEEPEVAL, ensure_ascii=False),
        "open_telemetry": json.dumps(_SPANS, ensure_ascii=False),
        "langfuse": json.dumps(_SESSION, ensure_ascii=False, indent=1),
        "label_studio": json.dumps(_TASKS, ensure_ascii=False, indent=1),
        "label_studio_min": json.dumps(TASKS_MIN, ensure_ascii=False, indent=1),
        "convokit": _lines(*_UTTERANCES),
        "dstc": _DSTC,
        "xdial": _XDIAL,
        "rater_columns": _RATER_COLUMNS,
        "rating_rows": _RATING_ROWS,
    }


def eval_log(method: int) -> bytes:
    """Inspect's log as `.eval`, packed by this method; 93 is zstandard, which Python's zipfile does not know."""
    members = {"header.json": {name: value for name, value in INSPECT.items() if name != "samples"}}
    members |= {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in INSPECT["samples"]}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED if method == 93 else method) as file:
        for name, value in members.items():
            raw = json.dumps(value, ensure_ascii=False).encode()
            packed = zstandard.compress(raw[:50]) + zstandard.compress(raw[50:]) if method == 93 else raw
            info = zipfile.ZipInfo(name)
            info.compress_type = file.compression
            file.writestr(info, packed)
            if method == 93:
                # Only the list of members says how they are packed; the reader goes by it.
                kept = file.getinfo(name)
                kept.compress_type, kept.CRC, kept.file_size = 93, zlib.crc32(raw), len(raw)
    return stream.getvalue()


def _lines(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _said(*messages: tuple[str, Any]) -> list[dict[str, Any]]:
    return [{"role": role, "content": content} for role, content in messages]


_SHAREGPT = [
    {
        "id": "c1",
        "conversations": [
            {"from": "system", "value": "Be kind."},
            {"from": "human", "value": "is it warm?"},
            {"from": "function_call", "value": '{"name": "weather"}'},
            {"from": "observation", "value": "21 degrees"},
            {"from": "gpt", "value": "yes, 21 degrees"},
            {"from": "human", "value": "é merci"},
        ],
    },
    {"id": "c2", "model": "m2", "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]},
]
_COMPLETIONS = [
    {"prompt": "the sky is", "completion": " blue", "label": True},
    {"prompt": _said(("user", "hé")), "completion": _said(("assistant", "hello"))},
]
_CHOICES = [
    {"prompt": "the sky is", "chosen": " blue", "rejected": " green", "score_chosen": 8.0, "score_rejected": 2.0},
    {
        "prompt": "hé",
        "chosen": _said(("user", "hé"), ("assistant", "hello")),
        "rejected": _said(("user", "hé"), ("assistant", "what?")),
    },
    {"chosen": "\n\nHuman: hi\n\nAssistant: hello", "rejected": "\n\nHuman: hi\n\nAssistant: go away"},
]
_BATTLES = [
    {
        "question_id": "q1",
        "model_a": "m1",
        "model_b": "m2",
        "winner": "model_a",
        "judge": "arena_user_1",
        "conversation_a": _said(("user", "hi"), ("assistant", "hello"), ("user", "and?"), ("assistant", "that is it")),
        "conversation_b": _said(("user", "hi"), ("assistant", "é?"), ("user", "and?"), ("assistant", "and what?")),
        "turn": 2,
    },
    {
        "question_id": "q2",
        "model_a": "m2",
        "model_b": "m3",
        "winner": "tie (bothbad)",
        "conversation_a": _said(("user", "hi"), ("assistant", "hey")),
        "conversation_b": _said(("user", "hi"), ("assistant", "hm")),
    },
]

INSPECT: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "manners", "model": "openai/m1", "dataset": {"name": "d", "samples": 2}},
    "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}]},
    "results": {"total_samples": 2, "completed_samples": 2},
    "stats": {"started_at": "2026-01-01T00:00:00+00:00"},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "is it warm?",
            "target": "yes",
            "messages": [
                {"id": "a", "role": "system", "content": "Be kind."},
                {"id": "b", "role": "user", "content": "is it warm?", "source": "input"},
                {"id": "c", "role": "assistant", "content": "", "tool_calls": [{"id": "t", "function": "weather"}]},
                {"id": "d", "role": "tool", "content": "21 degrees", "tool_call_id": "t", "function": "weather"},
                {
                    "id": "e",
                    "role": "assistant",
                    "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "yes, 21 degrees"}],
                },
            ],
            "output": {"model": "m1", "choices": [{"message": {"role": "assistant", "content": "yes, 21 degrees"}}]},
            "scores": {"match": {"value": "C", "answer": "yes"}, "kind": {"value": float("nan")}},
            "metadata": {},
        },
        {
            "id": "two",
            "epoch": 2,
            "input": "hé",
            "target": ["hello", "hi"],
            "messages": [],
            "output": {"model": "m1", "choices": [{"message": {"role": "assistant", "content": "hello é"}}]},
            "scores": {"rubric": {"value": {"fluent": 4, "polite": "I"}}},
        },
    ],
}
_LM_EVAL = [
    {
        "doc_id": 0,
        "doc": {"question": "2 + 2?"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "Q: 2 + 2?\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [["It is 4.", "Four é."]],
        "filtered_resps": ["4"],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": "a",
        "exact_match": 1.0,
    },
    {
        "doc_id": 1,
        "doc": {"question": "hi"},
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": '[{"role": "user", "content": "hi"}]', "arg_1": {}}},
        "resps": [["hello"]],
        "filtered_resps": ["hello"],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "exact_match": float("nan"),
    },
    {
        "doc_id": 0,
        "doc": {"question": "2 + 2?"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "Q: 2 + 2?\nA:", "arg_1": {}}},
        "resps": [["It is 4.", "Four é."]],
        "filtered_resps": ["4"],
        "filter": "flexible-extract",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    },
]
_ASKED = {"promptIdx": 0, "testIdx": 0, "promptId": "p1", "vars": {"name": "Ann"}, "success": True, "score": 1}
_PROMPTFOO = {
    "evalId": "eval-1",
    "results": {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "prompts": [{"raw": "greet {{name}}", "label": "greet {{name}}", "provider": "m1"}],
        "results": [
            {
                **_ASKED,
                "provider": {"id": "openai:m1", "label": ""},
                "prompt": {"raw": "greet Ann", "label": "greet {{name}}"},
                "response": {"output": "hello Ann é", "tokenUsage": {"total": 9}},
                "testCase": {"vars": {"name": "Ann"}, "assert": [{"type": "similar", "value": "hi Ann"}]},
                "namedScores": {"polite": 0.5},
                "latencyMs": 120,
            },
            {
                **_ASKED,
                "promptId": "p2",
                "provider": {"id": "openai:m1"},
                "prompt": {"raw": '[{"role": "system", "content": "Be short."}, {"role": "user", "content": "Ann"}]'},
                "response": {"output": {"greeting": "hi"}},
                "testCase": {"vars": {}, "metadata": {"conversationId": "c1"}},
            },
            {
                **_ASKED,
                "testIdx": 1,
                "provider": {"id": "openai:m1"},
                "prompt": {"raw": "greet Bob"},
                "error": "timeout",
                "response": {},
                "testCase": {"vars": {"name": "Bob"}},
            },
        ],
        "stats": {"successes": 2, "failures": 0, "errors": 1},
    },
    "config": {},
    "shareableUrl": None,
}
_DEEPEVAL = {
    "testCases": [
        {
            "name": "test_case_0",
            "input": "where is it?",
            "actualOutput": "behind é house",
            "expectedOutput": "behind the house",
            "retrievalContext": ["The well is behind the house."],
            "success": True,
            "metricsData": [{"name": "Faithfulness", "threshold": 0.5, "success": True, "score": 0.9}],
            "order": 0,
        },
        {"name": "test_case_1", "input": "hi", "success": False, "order": 1},
    ],
    "conversationalTestCases": [
        {
            "name": "chat",
            "success": True,
            "metricsData": [{"name": "Knowledge Retention", "score": 1.0, "success": True}],
            "turns": [
                {"role": "user", "content": "hi", "order": 0},
                {"role": "assistant", "content": "hello", "order": 1},
                {"role": "user", "content": "who is it?", "order": 2},
                {"role": "assistant", "content": "Ann", "order": 3, "retrievalContext": ["Ann lives here."]},
            ],
        }
    ],
    "hyperparameters": {"model": "m1"},
    "testPassed": 2,
    "testFailed": 1,
}


def _attributes(**values: str) -> list[dict[str, Any]]:
    return [{"key": name.replace("__", "."), "value": {"stringValue": value}} for name, value in values.items()]


_WEATHER = [
    {"role": "user", "parts": [{"type": "text", "content": "is it warm?"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "t", "name": "weather", "arguments": {}}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t", "response": "21 degrees"}]},
]
_SPANS = {
    "resourceSpans": [
        {
            "resource": {"attributes": _attributes(service__name="bot")},
            "scopeSpans": [
                {
                    "scope": {"name": "instrumentation"},
                    "spans": [
                        {
                            "traceId": "t1",
                            "spanId": "s1",
                            "name": "chat m1",
                            "attributes": _attributes(
                                gen_ai__request__model="m1",
                                gen_ai__conversation__id="c1",
                                gen_ai__system_instructions='[{"type": "text", "content": "Be kind."}]',
                                gen_ai__input__messages=json.dumps(_WEATHER),
                                gen_ai__output__messages=json.dumps(
                                    [{"role": "assistant", "parts": [{"type": "text", "content": "yes, é"}]}]
                                ),
                            ),
                        },
                        {"traceId": "t1", "spanId": "s2", "name": "execute_tool weather", "attributes": []},
                    ],
                }
            ],
        }
    ]
}
_SESSION = {
    "id": "session-1",
    "createdAt": "2026-01-01T00:00:00.000Z",
    "projectId": "p",
    "traces": [
        {
            "id": "t2",
            "timestamp": "2026-01-01T00:00:02.000Z",
            "name": "bot",
            "input": {"question": "and tomorrow?"},
            "output": {"role": "assistant", "content": "rain"},
            "scores": [{"name": "helpful", "value": 0.5}, {"name": "note", "value": "good"}],
        },
        {
            "id": "t1",
            "timestamp": "2026-01-01T00:00:01.000Z",
            "name": "bot",
            "input": "is it warm?",
            "output": "yes é",
        },
        {"id": "t3", "timestamp": "2026-01-01T00:00:03.000Z", "name": "bot", "input": "hello?", "output": None},
    ],
}
_TASKS = [
    {
        "id": 7,
        "data": {"dialogue": [{"author": "user", "text": "hi é"}, {"author": "bot", "text": "hello"}], "model": "m1"},
        "annotations": [
            {
                "id": 1,
                "completed_by": 3,
                "result": [
                    {"from_name": "fluent", "to_name": "d", "type": "rating", "value": {"rating": 4}},
                    {"from_name": "kind", "to_name": "d", "type": "choices", "value": {"choices": ["2"]}},
                ],
            },
            {
                "id": 2,
                "completed_by": 4,
                "result": [{"from_name": "fluent", "to_name": "d", "type": "rating", "value": {"rating": 2}}],
            },
            {"id": 3, "was_cancelled": True, "result": []},
        ],
    },
    {"id": 8, "data": {"prompt": "hi", "response": "what?", "model": "m1"}, "annotations": []},
]
_UTTERANCES = [
    {
        "id": "u0",
        "speaker": "ann",
        "conversation_id": "u0",
        "reply_to": None,
        "timestamp": 0,
        "text": "hi é",
        "meta": {},
    },
    {"id": "u1", "speaker": "bob", "conversation_id": "u0", "reply_to": "u0", "timestamp": 1, "text": "hello"},
    {"id": "u2", "speaker": "ann", "conversation_id": "u0", "reply-to": "u1", "timestamp": 2, "text": "and you?"},
    {"id": "u3", "speaker": "cid", "conversation_id": "u0", "reply_to": "u0", "timestamp": 3, "text": "hey"},
    {"id": "u4", "speaker": "cid", "conversation_id": "u4", "reply_to": None, "timestamp": 4, "text": "anyone?"},
]
_DSTC = """\
UID,SID,SEG,TRANSLATION
SAMPLE-000001-0000,user,"Hello, how are you?",hola
SAMPLE-000001-0001,system,I am fine é,estoy bien
SAMPLE-000001-0002,user,good,bueno
SAMPLE-000002-0000,user,Hi,hola
SAMPLE-000002-0001,system,Hey,ey
"""
_XDIAL = """\
en_ctx,en_res,zh_ctx,zh_res,ratings
"hi
hello","how are you?","你好
您好",你好吗?,4.5
what?,é,什么?,啊,
"""
_RATER_COLUMNS = """\
context,response,model,rater_1,rater_2,fluent_rater_1,fluent_rater_2
hi,hello é,m1,4,5,3,
hi,what?,m2,1,2,2,1
"""
_RATING_ROWS = """\
id,prompt,response,model,annotator,criterion,rating
1,hi,hello é,m1,ann,kind,5
1,hi,hello é,m1,bob,kind,4
1,hi,hello é,m1,ann,fluent,3
2,hi,what?,m1,bob,kind,1
"""
