"""Exports of Label Studio: tasks with what annotators said of them.

Schema: Label Studio's page "Label Studio Task Format": a task has `data`, as it was imported, and `annotations`, each
with `completed_by` and `result`, whose entries have `from_name`, `type` and `value`. The dialogue of a task is a list
of objects, by the tag Paragraphs with `author` and `text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.readers.shape import shaped
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import holds_responses
from dialogauge.corpus.reading.messages import are_messages
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.errors import InputError, describe, quote_all

_SAID = ("text", "utterance", "content", "message")
_NUMBERS = ("rating", "number")


def _fits(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("data"), dict) and isinstance(record.get("annotations"), list)


def _turns(record: dict[str, Any], line: int, reading: Reading) -> Iterator[LocatedTurn]:
    """A task is a turn. Its data holds the reply under a name of ours, or a dialogue, whose last utterance it is."""
    data = record.get("data")
    if not isinstance(data, dict):
        raise InputError(f"data: expected an object, found {describe(data)}")
    if holds_responses(data, reading.columns.mapping):
        found = reading.columns.rename(data)
    else:
        found = reading.columns.rename(last_of_dialogue(data), fields=("system",))
    ratings = _ratings(record.get("annotations"))
    if ratings and found.get("ratings"):
        raise InputError("ratings: expected those of annotators or those of the data, found both")
    yield line, turn({"id": record.get("id"), **found, **({"ratings": ratings} if ratings else {})}, reading)


def last_of_dialogue(data: Mapping[str, Any]) -> dict[str, Any]:
    name = dialogue_in(data)
    if name is None:
        raise InputError(
            f"data: expected a reply or a dialogue, found {quote_all(data)}; --map response=NAME names the reply"
        )
    rest = {key: value for key, value in data.items() if key != name}
    if are_messages(data[name]):
        *context, last = data[name]
        return {**rest, "context": context, "response": last}
    *context, last = _utterances(data[name])
    return {**rest, "context": list(context), "response": last}


def dialogue_in(data: Mapping[str, Any]) -> str | None:
    """The field that holds a dialogue, if any does."""
    return next((name for name, value in data.items() if isinstance(value, list) and _utterances(value)), None)


def _utterances(values: list[Any]) -> list[str]:
    """The texts of a dialogue; none where it is something else."""
    found = [_text(value) for value in values]
    return [text for text in found if text is not None] if None not in found else []


def _text(value: Any) -> str | None:
    held = next((value[name] for name in _SAID if name in value), None) if isinstance(value, dict) else value
    return held if isinstance(held, str) else None


def _ratings(annotations: Any) -> dict[str, list[float | None]]:
    """By control, what each annotator gave: stars and numbers as they are, and a choice that spells a number. What was
    cancelled is nobody's."""
    if not isinstance(annotations, list):
        return {}
    said = [_of_annotator(each) for each in annotations if isinstance(each, dict) and not each.get("was_cancelled")]
    dimensions = dict.fromkeys(name for each in said for name in each)
    return {name: [each.get(name) for each in said] for name in dimensions}


def _of_annotator(annotation: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    result = annotation.get("result")
    for each in result if isinstance(result, list) else []:
        value = each.get("value") if isinstance(each, dict) else None
        if isinstance(value, dict) and isinstance(each.get("from_name"), str):
            given = next((value[kind] for kind in _NUMBERS if kind in value), None)
            choices = value.get("choices")
            if given is None and isinstance(choices, list) and len(choices) == 1:
                given = _number(choices[0])
            if isinstance(given, int | float) and not isinstance(given, bool):
                found[each["from_name"]] = float(given)
    return found


def _number(text: Any) -> float | None:
    try:
        return fields.rating(float(text), "choice")
    except (TypeError, ValueError):
        return None


LABEL_STUDIO = shaped("label_studio", "exports of Label Studio (JSON)", _fits, _turns, has_columns=True)
