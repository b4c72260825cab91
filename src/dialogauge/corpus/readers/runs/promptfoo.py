"""Results of promptfoo, `promptfoo eval --output results.json`, or JSON lines.

Schema: promptfoo's page "Output formats" (site/docs/configuration/outputs.md) and `EvaluateResult` in
`src/types/index.ts`, version 3 of the results: `results.results`, each with
`prompt.raw`, `provider`, `response.output`, `testCase.assert`, `score`, `namedScores`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.readers.runs.entries import each_entry, prompt, remark_silent, scores
from dialogauge.corpus.reading.messages import as_text
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe

_COMPARE = ("equals", "similar", "rouge-n", "bleu", "gleu", "meteor", "levenshtein", "factuality")
"""Assertions whose value is a reply that would have been right."""


def sniff(head: FileHead) -> bool:
    first = head.first
    if _is_result(first):
        return True
    told = {"evalId", "config", "shareableUrl"} & first.keys()
    return "results" in first and bool(told) and isinstance(first["results"], dict | None)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    results = _Results(reading)

    def turns(record: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        if _is_result(record):
            yield from results.turn(record, line)
            return
        held = record.get("results")
        found = held.get("results", held.get("outputs")) if isinstance(held, dict) else held
        yield from each_entry(found, "results", line, reading, lambda entry: results.turn(entry, line))

    yield from each_record(reading, turns, with_nan=True)
    remark_silent(reading, results.silent, "result")


class _Results:
    """The system is the provider, by its label where it has one; with a second prompt it is `PROVIDER:2`. The id is the
    number of the test, so that systems are paired."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.silent = 0
        self._prompts: dict[str, list[str]] = {}

    def turn(self, result: Mapping[str, Any], line: int) -> Iterator[LocatedTurn]:
        asked, answer, case = (_held(result, name) for name in ("prompt", "response", "testCase"))
        output = answer.get("output")
        if output is None:
            self.silent += 1
            return
        scored = {"score": result.get("score"), "latencyMs": result.get("latencyMs"), **_held(result, "namedScores")}
        test = result.get("testIdx")
        record = {
            "id": test if isinstance(test, int) else result.get("id"),
            "system": self._system(result, asked),
            "context": prompt(asked.get("raw")),
            "response": as_text(output, "output"),
            "references": list(_expected(case)),
            "dialogue": _held(case, "metadata").get("conversationId"),
            "extra": scores(scored),
        }
        yield line, turn(record, self.reading)

    def _system(self, result: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
        provider = result.get("provider")
        named = (provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider
        if not isinstance(named, str) or not named:
            raise InputError(f"provider: expected the name of one, found {describe(provider)}")
        prompts = self._prompts.setdefault(named, [])
        template = str(result.get("promptId") or asked.get("label"))
        if template not in prompts:
            prompts.append(template)
        number = prompts.index(template) + 1
        return sys.intern(named if number == 1 else f"{named}:{number}")


def _is_result(record: Mapping[str, Any]) -> bool:
    return {"prompt", "provider", "response"} <= record.keys() and bool({"testCase", "testIdx", "vars"} & record.keys())


def _expected(case: Mapping[str, Any]) -> Iterator[str]:
    """Replies that the test's assertions hold the output against."""
    asserted = case.get("assert")
    for each in asserted if isinstance(asserted, list) else []:
        kind, value = (each.get("type"), each.get("value")) if isinstance(each, dict) else (None, None)
        if isinstance(kind, str) and kind.partition(":")[0] in _COMPARE:
            yield from (text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))


def _held(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object in a field; empty where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


PROMPTFOO = Reader("promptfoo", "results of promptfoo (promptfoo eval --output results.json)", sniff, read)
