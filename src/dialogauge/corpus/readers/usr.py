"""The ratings of USR (Mehri & Eskenazi 2020a): a JSON array, one context per item, with every system's response
and every rater's ratings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import items, parse_item
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, describe

TRUTH = "Original Ground Truth"
_FIELDS = ("context", "fact", "responses", "extra")
_NOT_RATED = ("response", "model")
_PERSONA = "your persona:"
_NO_FACT = "_nofact"


def sniff(head: FileHead) -> bool:
    return "context" in head.item and isinstance(head.item.get("responses"), list)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Systems are the models; ids count items from 0. The original reply is the reference of all others and,
    since people rated it too, a system of its own without a reference. Context and facts are split at line
    breaks, and "your persona:" is taken off a fact. Every further field of a response is a rated dimension."""
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            turns = _turns(parse_item(item.text), str(item.number - 1))
            yield from ((item.line, turn) for turn in turns)


def _turns(record: Mapping[str, Any], place: str) -> list[Turn]:
    responses = [(_model(response), response) for response in _responses(record)]
    truth = next((_said(response) for model, response in responses if model == TRUTH), "")
    context = tuple(_lines(fields.text(record, "context")))
    facts = tuple(fact.removeprefix(_PERSONA).strip() for fact in _facts(record))
    extra = fields.extra(record, _FIELDS)
    return [
        Turn(
            id=place,
            response=_said(response),
            context=context,
            references=(truth,) if truth and model != TRUTH else (),
            system=model,
            ratings=fields.ratings({field: response[field] for field in response if field not in _NOT_RATED}),
            facts=facts,
            extra=extra,
        )
        for model, response in responses
    ]


def _responses(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    responses = record.get("responses")
    if not isinstance(responses, list) or not all(isinstance(response, dict) for response in responses):
        raise InputError(f"responses: expected a list of objects, found {describe(responses)}")
    return responses


def _model(response: Mapping[str, Any]) -> str:
    name = fields.name(response, "model")
    if name is None:
        raise InputError(f"model: expected the system's name, found {describe(dict(response))}")
    return sys.intern(name)


def _said(response: Mapping[str, Any]) -> str:
    return fields.text(response, "response").strip()


def _facts(record: Mapping[str, Any]) -> list[str]:
    given = fields.texts(record, "fact")
    return [fact for text in given for fact in _lines(text) if fact != _NO_FACT]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


USR = Reader("usr", "USR's ratings, a JSON array of contexts with responses", sniff, read)
