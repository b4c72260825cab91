"""ConTurE (Ghazarian et al. 2022): a JSON array of dialogues with a chatbot, every reply of it rated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import items, parse_item
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe

_FIELDS = ("dialog_id", "turns", "dialog_ratings", "system", "extra")
_TEXTS = ("user", "chatbot")


def sniff(head: FileHead) -> bool:
    return isinstance(head.item.get("turns"), list) and ("dialog_id" in head.item or "dialog_ratings" in head.item)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Every reply of the chatbot is a turn; its id is `<dialog_id>:<position in the dialogue>`. The file does not
    say which chatbot spoke: the system is named after the file, unless
    the file is a known one. The ratings of the whole dialogue stand in
    `extra["dialogue_ratings"]`, apart from the turn's own. Empty replies stay: people rated them too."""
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            turns = _turns(parse_item(item.text), str(item.number - 1), reading)
            yield from ((item.line, turn) for turn in turns)


def _turns(record: Mapping[str, Any], place: str, reading: Reading) -> list[Turn]:
    dialogue = fields.name(record, "dialog_id") or place
    system = fields.name(record, "system") or (reading.known.systems[0] if reading.known else reading.system)
    extra = dict(fields.extra(record, _FIELDS))
    if ratings := _dialogue_ratings(record):
        extra["dialogue_ratings"] = ratings
    turns: list[Turn] = []
    said: tuple[str, ...] = ()
    for position, exchange in enumerate(_objects(record, "turns")):
        said += (_said(exchange, "user", "User:"),)
        response = _said(exchange, "chatbot", "Chatbot:")
        ratings_here = {name: exchange[name] for name in exchange if name not in _TEXTS}
        turns.append(
            Turn(
                id=f"{dialogue}:{position}",
                response=response,
                context=said,
                system=system,
                ratings=fields.ratings(ratings_here),
                dialogue=dialogue,
                extra=extra or NOTHING,
            )
        )
        said += (response,)
    return turns


def _dialogue_ratings(record: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """One list per dimension, as turns have it; the file has one object per rater."""
    if record.get("dialog_ratings") is None:
        return {}
    raters = _objects(record, "dialog_ratings")
    dimensions = dict.fromkeys(dimension for rater in raters for dimension in rater)
    rated = fields.ratings({dimension: [rater.get(dimension) for rater in raters] for dimension in dimensions})
    return {dimension: list(numbers) for dimension, numbers in rated.items()}


def _objects(record: Mapping[str, Any], field: str) -> list[dict[str, Any]]:
    values = record.get(field)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(f"{field}: expected a list of objects, found {describe(values)}")
    return values


def _said(exchange: Mapping[str, Any], field: str, speaker: str) -> str:
    return fields.text(exchange, field).strip().removeprefix(speaker).strip()


CONTURE = Reader("conture", "ConTurE's ratings, a JSON array of dialogues", sniff, read)
