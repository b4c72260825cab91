"""What logs and results of tools have in common: entries of a document, the reply that scores are about, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialogauge.corpus.reading.json import parse
from dialogauge.corpus.reading.messages import are_messages
from dialogauge.corpus.reading.reader import LocatedTurn, Reading
from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import InputError, describe
from dialogauge.tables import counted

MakeEntry = Callable[[dict[str, Any]], Iterator[LocatedTurn]]
_VERDICTS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "correct": 1.0, "incorrect": 0.0, "true": 1.0, "false": 0.0}


def each_entry(values: Any, where: str, line: int, reading: Reading, turns: MakeEntry) -> Iterator[LocatedTurn]:
    """The turns of each entry of a list inside a document; one that cannot be read is left out, or an error, alone."""
    if not isinstance(values, list):
        raise InputError(f"{where}: expected a list, found {describe(values)}")
    for number, value in enumerate(values, start=1):
        with reading.record(line, item=number):
            if not isinstance(value, dict):
                raise InputError(f"{where}: expected objects, found {describe(value)}")
            yield from turns(value)


def about_last_reply(
    turns: Sequence[LocatedTurn],
    system: str,
    references: tuple[str, ...] = (),
    extra: Mapping[str, Any] = NOTHING,
) -> Iterator[LocatedTurn]:
    """The turns of a conversation, the last of this system with references and whatever else is known."""
    last = max((place for place, (_, turn) in enumerate(turns) if turn.system == system), default=None)
    for place, (line, turn) in enumerate(turns):
        if place != last:
            yield line, turn
        else:
            yield line, replace(turn, references=references, extra={**turn.extra, **extra})


def score(value: Any) -> float | None:
    """A score as a number: of truth values and of Inspect's letters (correct, partly, incorrect, no answer) too; None
    of what is none."""
    if isinstance(value, int | float):
        return float(value)
    return _VERDICTS.get(value) if isinstance(value, str) else None


def scores(values: Mapping[str, Any]) -> dict[str, float]:
    """Those of several scores that are numbers."""
    found = {name: score(value) for name, value in values.items()}
    return {name: number for name, number in found.items() if number is not None}


def unpacked(value: Any) -> Any:
    """The list or object that a text spells as JSON; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return parse(value)
    except InputError:
        return value


def prompt(value: Any) -> Any:
    """A prompt as a context: chat messages, also where they are spelled as JSON, or text."""
    found = unpacked(value)
    return found if are_messages(found) else value


def remark_silent(reading: Reading, silent: int, what: str) -> None:
    """Says how many entries have no reply."""
    if silent:
        reading.remark("without_reply", f"{counted(silent, what)} without a reply left out")
