"""Logs of Inspect: `.json`, and `.eval`, a zip of one JSON file for each sample.

Schema: inspect_ai 0.3.285, `inspect_ai.log.EvalLog` and `EvalSample` (`inspect_ai/log/_log.py`), the layout of the zip
in `inspect_ai/log/_recorders/eval.py`: `header.json` (of a run that was cut short `_journal/start.json`), and
`samples/ID_epoch_N.json`. Members are deflated or, by newer versions, packed with zstandard.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialogauge.corpus.readers.containers import document, first_record
from dialogauge.corpus.readers.runs.entries import about_last_reply, each_entry, remark_silent, scores
from dialogauge.corpus.readers.runs.zipped import member, members
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import parse_item
from dialogauge.corpus.reading.messages import ASSISTANT
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import chat_turns
from dialogauge.errors import InputError, describe

_HEADERS = ("header.json", "_journal/start.json")
_ATTACHED = "attachment://"


def sniff(head: FileHead) -> bool:
    if head.start.startswith(b"PK\x03\x04"):
        return any(name in _HEADERS for name in members(head.path))
    return {"version", "status", "eval"} <= first_record(head).keys()


def read(reading: Reading) -> Iterator[LocatedTurn]:
    log = _Log(reading)
    if FileHead.read(reading.path).start.startswith(b"PK\x03\x04"):
        yield from log.of_zip()
    else:
        with reading.record(1):
            found = document(reading.path, with_nan=True)
            log.header = _spec(found)
            yield from each_entry(found.get("samples") or [], "samples", 1, reading, log.sample)
    remark_silent(reading, log.silent, "sample")


class _Log:
    """One log on its way to turns. A sample is a dialogue, `TASK/ID`, from the second epoch on `TASK/ID/EPOCH`; the
    system is the model. What scorers said of a sample, and its target, stand with the last reply."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.header: Mapping[str, Any] = {}
        self.silent = 0

    def of_zip(self) -> Iterator[LocatedTurn]:
        names = members(self.reading.path)
        header = next((name for name in _HEADERS if name in names), None)
        if header is None:
            raise InputError(
                f"expected a log of Inspect, with {_HEADERS[0]}, found a zip without it", self.reading.path
            )
        self.header = _spec(_object(self.reading.path, header))
        samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
        for number, name in enumerate(samples, start=1):
            with self.reading.record(1, item=number):
                yield from self.sample(_object(self.reading.path, name))

    def sample(self, sample: dict[str, Any]) -> Iterator[LocatedTurn]:
        system = sys.intern(fields.name(self.header, "model") or self.reading.system)
        self.reading.belongs_to(system)
        task, name = fields.name(self.header, "task"), fields.name(sample, "id")
        if name is None:
            raise InputError(f"id: expected the id of a sample, found {describe(sample.get('id'))}")
        epoch = sample.get("epoch")
        parts = (task, name, str(epoch) if isinstance(epoch, int) and epoch > 1 else None)
        dialogue = "/".join(part for part in parts if part)
        messages = _attached(_messages(sample), sample.get("attachments"))
        turns = list(chat_turns(dialogue, messages, system, 1, self.reading))
        if not any(turn.system == system for _, turn in turns):
            self.silent += 1
        values = sample.get("scores")
        judged = {scorer: value.get("value") for scorer, value in _objects(values) if isinstance(value, dict)}
        # The target of a question with choices is a letter, which no reply is like.
        references = () if sample.get("choices") else fields.texts(sample, "target")
        yield from about_last_reply(turns, system, references, _flat(judged))


def _spec(log: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = log.get("eval")
    if not isinstance(spec, dict):
        raise InputError(f"eval: expected an object with task and model, found {describe(spec)}")
    return spec


def _object(path: Path, name: str) -> dict[str, Any]:
    text = member(path, name).decode("utf-8", errors="surrogateescape")
    try:
        return parse_item(text, with_nan=True)
    except InputError as error:
        raise InputError(f"{name}: {error.message}") from None


def _messages(sample: Mapping[str, Any]) -> list[Any]:
    """The conversation; in logs that keep none, what was asked and answered."""
    if isinstance(sample.get("messages"), list) and sample["messages"]:
        return list(sample["messages"])
    given, output = sample.get("input"), sample.get("output")
    asked = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(asked, list):
        raise InputError(f"expected messages or an input, found {describe(given)}")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    said = first.get("message") if isinstance(first, dict) else None
    return [*asked, {"role": ASSISTANT, **said}] if isinstance(said, dict) else asked


def _attached(value: Any, attachments: Any) -> Any:
    """The value with texts that the log keeps elsewhere put back."""
    if isinstance(value, str) and value.startswith(_ATTACHED) and isinstance(attachments, dict):
        return attachments.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, list):
        return [_attached(item, attachments) for item in value]
    if isinstance(value, dict):
        return {name: _attached(item, attachments) for name, item in value.items()}
    return value


def _objects(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _flat(judged: Mapping[str, Any]) -> dict[str, float]:
    """Scores as numbers; of a scorer with several values each as `SCORER.NAME`."""
    found = {name: value for name, value in judged.items() if not isinstance(value, dict)}
    parts = {f"{name}.{part}": each for name, value in judged.items() for part, each in _objects(value)}
    return scores({**found, **parts})


INSPECT = Reader("inspect", "logs of Inspect, .json and .eval", sniff, read)
