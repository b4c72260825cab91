"""Label Studio's export "JSON-MIN": an object per annotation, with the task's data at its top.

Schema: `convert_to_json_min` of Label Studio's converter. The fields of the data come first, then the task's `id`, then
what was said with each control by the control's name, then `annotator`, `annotation_id`, `created_at`, `updated_at` and
`lead_time`. A rating is a list with `{"rating": 4}`, a single choice its text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from dialogauge.corpus.readers.containers import held_records
from dialogauge.corpus.readers.rated.label_studio import dialogue_in, last_of_dialogue
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import holds_responses
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, quote

_ABOUT_ANNOTATION = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
_KINDS = ("rating", "number", "choices")


class _Rated(NamedTuple):
    line: int
    turn: Turn
    annotations: list[tuple[str | None, dict[str, float]]]
    """Who rated, and what, in the order of the file."""


def sniff(head: FileHead) -> bool:
    """A table of these columns is the export "CSV", in which controls may stand anywhere."""
    is_json = head.first_line.lstrip().startswith(("[", "{"))
    return is_json and head.mapping.get("response") is None and {"id", *_ABOUT_ANNOTATION} <= head.first.keys()


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """A task stands in as many objects as it has annotations: they are one turn, with its raters in the order in which
    they first appear in the file."""
    tasks: dict[tuple[str, str], _Rated] = {}
    ranks: dict[str | None, int] = {}
    for held in held_records(reading):
        with reading.record(held.line, item=held.item):
            record = held.parse()
            made, ratings = _parted(record, reading)
            who = fields.name(record, "annotator")
            task = tasks.setdefault((made.system, made.id), _Rated(held.line, made, []))
            if (task.turn.context, task.turn.response) != (made.context, made.response):
                raise InputError(
                    f"id {quote(made.id)}: expected the reply that it has in line {task.line}, found another"
                )
            ranks.setdefault(who, len(ranks))
            task.annotations.append((who, ratings))
    for task in tasks.values():
        said = [ratings for _, ratings in sorted(task.annotations, key=lambda each: ranks[each[0]])]
        dimensions = dict.fromkeys(name for ratings in said for name in ratings)
        given = {name: [ratings.get(name) for ratings in said] for name in dimensions}
        yield task.line, replace(task.turn, ratings=fields.ratings(given))


def _parted(record: Mapping[str, Any], reading: Reading) -> tuple[Turn, dict[str, float]]:
    """The turn of the data, and the ratings of this annotation."""
    data, controls = _data_and_controls(record, reading)
    if holds_responses(data, reading.columns.mapping):
        found = reading.columns.rename(data)
    else:
        found = reading.columns.rename(last_of_dialogue(data), fields=("system",))
    if found.get("ratings"):
        raise InputError("ratings: expected those of annotators, found some in the data")
    given = {name: _rating(value) for name, value in controls.items()}
    ratings = {name: value for name, value in given.items() if value is not None}
    rest = {name: value for name, value in found.items() if name not in ratings}
    return turn({**rest, "id": record.get("id")}, reading), ratings


def _data_and_controls(record: Mapping[str, Any], reading: Reading) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands before the task's `id` is its data, and what stands from there to `annotator` was said with controls.
    Data with an `id` of its own has the task's in that place: where nothing before it holds a reply, what follows is
    data too, and only lists and objects are of controls."""
    names = list(record)
    place = names.index("id") if "id" in names else 0
    end = names.index("annotator") if "annotator" in names else len(names)
    before = {name: record[name] for name in names[:place]}
    after = {name: record[name] for name in names[place + 1 : end]}
    if holds_responses(before, reading.columns.mapping) or dialogue_in(before):
        return before, after
    return {**before, **after}, {name: value for name, value in after.items() if isinstance(value, list | dict)}


def _rating(value: Any) -> float | None:
    """The number that stars, a number or a single choice give."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = next((value[kind] for kind in _KINDS if kind in value), None)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        given = float(value)
    except ValueError:
        return None
    return given if math.isfinite(given) else None


LABEL_STUDIO_MIN = Reader("label_studio_min", "exports of Label Studio (JSON-MIN)", sniff, read, has_columns=True)
