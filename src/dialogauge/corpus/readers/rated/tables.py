"""Tables of rated replies as questionnaires give them: a column per rater, or a row per rating.

A turn of our own format has the ratings of all raters in one place; here they are brought there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialogauge.corpus.readers.containers import each_record, held_records
from dialogauge.corpus.readers.turns import number
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import FIELDS, RATINGS, gather_ratings, holds_responses
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe, quote

OVERALL = "overall"
_WHO = "rater|annotator|worker|judge|evaluator|assessor|participant"
_RATER_COLUMN = re.compile(
    rf"(?:(?P<dimension>.+?)[ _.-])?(?:{_WHO}|rating)(?:[ _.-]?[0-9]+|[ _.-][A-Z])", re.IGNORECASE
)
_RATER = re.compile(rf"(?:{_WHO})(?:[ _-]?(?:id|name))?", re.IGNORECASE)
_VALUE = re.compile("rating|value|score|stars|likert", re.IGNORECASE)
_DIMENSION = re.compile("dimension|criterion|aspect|quality", re.IGNORECASE)


def rater_columns(names: Sequence[str] | Mapping[str, Any]) -> dict[str, list[str]]:
    """By dimension, the columns of raters, where there are two at least."""
    found: dict[str, list[str]] = {}
    for name in names:
        if match := _RATER_COLUMN.fullmatch(name):
            found.setdefault((match["dimension"] or OVERALL).removeprefix(RATINGS), []).append(name)
    return {dimension: columns for dimension, columns in found.items() if len(columns) > 1}


def _sniff_wide(head: FileHead) -> bool:
    named = head.mapping.get("response") is not None
    return not named and holds_responses(head.first, NOTHING) and bool(rater_columns(head.first))


def _read_wide(reading: Reading) -> Iterator[LocatedTurn]:
    """The first record has all columns, also those in which it has nothing."""
    columns = rater_columns(FileHead.read(reading.path).first)
    taken = {name for names in columns.values() for name in names}

    def turns(record: dict[str, Any], line: int) -> Iterator[LocatedTurn]:
        ratings = {dimension: [_value(record.get(name)) for name in names] for dimension, names in columns.items()}
        rest = gather_ratings(_typed({name: value for name, value in record.items() if name not in taken}, reading))
        yield line, turn({**rest, "ratings": {**(rest.get("ratings") or {}), **ratings}}, reading)

    return each_record(reading, turns)


def _typed(record: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """Under our names, with numbers where cells of other columns spell them."""
    named = reading.columns.rename(record, looks=_value)
    return {name: value if name in FIELDS else _value(value) for name, value in named.items()}


def _value(cell: Any) -> Any:
    return number(cell) if isinstance(cell, str) else cell


def _sniff_long(head: FileHead) -> bool:
    if head.mapping.get("response") is not None:
        return False
    found = _roles(head.first)
    return holds_responses(head.first, NOTHING) and len(found["rater"]) == len(found["value"]) == 1


def _roles(names: Mapping[str, Any]) -> dict[str, list[str]]:
    patterns = {"rater": _RATER, "value": _VALUE, "dimension": _DIMENSION}
    return {role: [name for name in names if pattern.fullmatch(name)] for role, pattern in patterns.items()}


def _read_long(reading: Reading) -> Iterator[LocatedTurn]:
    """A reply stands in as many rows as it has ratings: they are one turn. Raters come in the order of the table."""
    turns: dict[tuple[Any, ...], tuple[int, Turn]] = {}
    given: dict[tuple[Any, ...], dict[str, dict[str, float | None]]] = {}
    raters: dict[str, None] = {}
    for held in held_records(reading):
        with reading.record(held.line, item=held.item):
            record = held.parse()
            found = _roles(record)
            rater = fields.name(record, found["rater"][0]) if found["rater"] else None
            dimension = fields.name(record, found["dimension"][0]) if found["dimension"] else None
            value = _value(record.get(found["value"][0])) if found["value"] else None
            if rater is None:
                raise InputError(f"expected who rated, found {describe(record)}")
            own = {name for names in found.values() for name in names}
            made = turn(_typed({name: value for name, value in record.items() if name not in own}, reading), reading)
            key = made.system, None if made.numbered else made.id, made.context, made.response
            turns.setdefault(key, (held.line, made))
            mine = given.setdefault(key, {}).setdefault(dimension or OVERALL, {})
            if rater in mine:
                raise InputError(
                    f"the rating {quote(dimension or OVERALL)} of this reply by {quote(rater)} stands already above"
                )
            mine[rater] = fields.rating(value, dimension or OVERALL)
            raters[rater] = None
    for place, (key, (line, made)) in enumerate(turns.items()):
        ratings = {name: [by[who] for who in raters if who in by] for name, by in given[key].items()}
        named = made.id if not made.numbered else str(place)
        yield line, replace(made, id=named, ratings={**made.ratings, **fields.ratings(ratings)})


RATER_COLUMNS = Reader("rater_columns", "replies with a column per rater: rater_1, rater_2", _sniff_wide, _read_wide)
RATING_ROWS = Reader("rating_rows", "replies with a row per rating: rater and rating", _sniff_long, _read_long)
