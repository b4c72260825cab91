"""Samples of EleutherAI's evaluation harness, `samples_TASK_DATE.jsonl` of `--log_samples`.

Schema: lm_eval 0.4.13, `lm_eval/evaluator.py` (the fields of a sample) and `lm_eval/loggers/evaluation_tracker.py` (how
they are written: `arguments` as `gen_args_0`, `arg_0`). `target` is text there, whatever it was: several right answers
are a list as Python prints it. What chat endpoints are asked is the messages as JSON, alone in a list (`JsonChatStr`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dialogauge.corpus.readers.containers import each_record
from dialogauge.corpus.readers.runs.entries import prompt, scores
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe, quote
from dialogauge.tables import counted


def sniff(head: FileHead) -> bool:
    return {"doc_id", "doc", "resps", "arguments"} <= head.first.keys()


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Every text that was generated is a turn; of several for one question the second is `ID#2`. Where replies were
    filtered in several ways they stand in the file as often: the rows of the first filter are read."""
    first: list[Any] = []
    others = 0

    def turns(sample: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        nonlocal others
        first[:] = first or [sample.get("filter")]
        if sample.get("filter") != first[0]:
            others += 1
            return
        yield from _turns(sample, line, reading)

    yield from each_record(reading, turns, with_nan=True)
    if others:
        shown = f"the replies once more, as filtered otherwise than by {quote(str(first[0]))}"
        reading.remark("other_filters", f"{counted(others, 'line')} left out that hold {shown}")


def _turns(sample: Mapping[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    name = fields.name(sample, "doc_id")
    named = sample.get("metrics")
    metrics = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    given = {
        "context": prompt(_asked(sample)),
        "references": _targets(sample.get("target")),
        "extra": scores({metric: sample.get(metric) for metric in metrics}),
    }
    for number, text in enumerate(_generated(sample), start=1):
        reply = {**given, "id": name if number == 1 or name is None else f"{name}#{number}", "response": text}
        made = turn(reply, reading)
        yield line, replace(made, id=f"{made.id}#{number}") if name is None and number > 1 else made


def _asked(sample: Mapping[str, Any]) -> str:
    """The first argument of the first request: the prompt."""
    found = sample.get("arguments")
    for key, place in (("gen_args_0", 0), ("arg_0", 0)):
        if isinstance(found, dict):
            found = found.get(key)
        elif _is_list(found) and found:
            found = found[place]
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, str):
        raise InputError(f"arguments: expected a prompt, found {describe(sample.get('arguments'))}")
    return found


def _targets(target: Any) -> list[str]:
    """The right answers: of a list that Python printed its texts, else the text itself."""
    if not isinstance(target, str):
        return []
    try:
        listed = ast.literal_eval(target) if target.startswith("[") else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        listed = None
    if isinstance(listed, list) and listed and all(isinstance(each, str) for each in listed):
        return listed
    return [target]


def _generated(sample: Mapping[str, Any]) -> list[str]:
    replies = sample.get("resps")
    texts = replies[0] if _is_list(replies) and replies and _is_list(replies[0]) else replies
    if not _is_list(texts) or not texts or not all(isinstance(text, str) for text in texts):
        why = "a task that compares likelihoods generates no text"
        raise InputError(f"resps: expected texts that were generated, found {describe(replies)}; {why}")
    return list(texts)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


LM_EVAL = Reader("lm_eval", "samples of the LM Evaluation Harness (samples_*.jsonl)", sniff, read)
