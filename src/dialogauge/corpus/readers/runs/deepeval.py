"""Results of DeepEval: test runs as it saves them, and what `evaluate` returns.

Schema: deepeval 4.3.1, `TestRun`, `LLMApiTestCase` and `ConversationalApiTestCase` (`deepeval/test_run/api.py`,
`test_run.py`), whose names are written as camelCase; `TestResult` of `EvaluationResult` has the same in snake_case.
`.deepeval/.latest_test_run.json` holds the run in `testRunData`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.readers.runs.entries import about_last_reply, each_entry, remark_silent, score
from dialogauge.corpus.readers.shape import shaped
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.reading.records import chat_turns, turn
from dialogauge.errors import InputError, describe

_CASES, _CHATS, _RESULTS = "test_cases", "conversational_test_cases", "test_results"
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


def _fits(record: Mapping[str, Any]) -> bool:
    run = _run(record)
    lists = {name for name in (_CASES, _CHATS, _RESULTS) if name in run and isinstance(run[name], list | None)}
    return bool(lists) and "response" not in record


def _turns(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    """The system is the `model` among the hyperparameters of the run, else its identifier, else the file."""
    run = _run(record)
    hyper = run.get("hyperparameters")
    named = {"model": hyper.get("model") if isinstance(hyper, dict) else None, "identifier": run.get("identifier")}
    system = next((value for value in named.values() if isinstance(value, str) and value), reading.system)
    cases = _Cases(sys.intern(system), line, reading)
    for name in (_CASES, _CHATS, _RESULTS):
        if run.get(name) is not None:
            yield from each_entry(run[name], name, line, reading, cases.turns)
    remark_silent(reading, cases.silent, "test case")


class _Cases:
    def __init__(self, system: str, line: int, reading: Reading) -> None:
        self.system, self.line, self.reading = system, line, reading
        self.silent = 0
        self._names: set[str] = set()

    def turns(self, given: dict[str, Any]) -> Iterator[LocatedTurn]:
        case = _snake(given)
        facts = fields.texts(case, "context") + fields.texts(case, "retrieval_context")
        judged = _judged(case.get("metrics_data"))
        name = self._name(case)
        if case.get("turns"):
            yield from self._chat(case, name, facts, judged)
        elif case.get("actual_output") is None:
            self.silent += 1
        else:
            record = {
                "id": name,
                "system": self.system,
                "context": case.get("input"),
                "response": case.get("actual_output"),
                "references": case.get("expected_output"),
                "facts": list(facts),
                "extra": judged,
            }
            yield self.line, turn(record, self.reading)

    def _chat(
        self, case: Mapping[str, Any], name: str | None, facts: tuple[str, ...], judged: dict[str, float]
    ) -> Iterator[LocatedTurn]:
        if not isinstance(case["turns"], list):
            raise InputError(f"turns: expected a list of messages, found {describe(case['turns'])}")
        messages: list[Any] = []
        for each in case["turns"]:
            found = fields.texts(_snake(each), "retrieval_context") if isinstance(each, dict) else ()
            messages += [{"role": "tool", "content": text} for text in found]
            messages.append(each)
        dialogue = name or self.reading.position(self.system)
        said = chat_turns(dialogue, messages, self.system, self.line, self.reading, where="turns", facts=facts)
        yield from about_last_reply(list(said), self.system, extra=judged)

    def _name(self, case: Mapping[str, Any]) -> str | None:
        """Test cases are named by position, or all alike after the test function: then the position counts."""
        name = fields.name(case, "name")
        if name is None or name in self._names:
            order = fields.name(case, "order")
            name = None if name is None or order is None else f"{name}#{order}"
        if name is not None:
            self._names.add(name)
        return name


def _run(record: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _snake(record)
    inner = found.get("test_run_data")
    return _snake(inner) if isinstance(inner, dict) else found


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    """With names as Python has them."""
    return {_CAPITAL.sub(lambda match: f"_{match[1].lower()}", name): value for name, value in record.items()}


def _judged(metrics: Any) -> dict[str, float]:
    found = {}
    for each in metrics if isinstance(metrics, list) else []:
        value = score(each.get("score")) if isinstance(each, dict) and isinstance(each.get("name"), str) else None
        if value is not None:
            found[each["name"]] = value
    return found


DEEPEVAL = shaped("deepeval", "test runs of DeepEval", _fits, _turns, with_nan=True)
