"""Two replies to one context, and which of them people prefer."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from dialogauge.corpus.readers.containers import held_records
from dialogauge.corpus.readers.rated.arena import battle, is_battle
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.reader import FileHead, Reading
from dialogauge.corpus.reading.records import turn
from dialogauge.corpus.trusted import TRUSTED, trusted_values
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, describe, quote
from dialogauge.tables import counted

Preference = Literal["a", "b", "tie"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)
Preferences: TypeAlias = Mapping[str, tuple[Preference | None, ...]]
SHARED = ("id", "context", "messages", "dialogue", "facts")
"""What both replies have in common."""
_FIELDS = (*SHARED, "a", "b", "preferences", "extra")


@dataclass(frozen=True)
class RatedPair:
    """Two replies to one context by different systems. `preferences` maps a dimension to what each rater said: "a",
    "b", "tie", or None where one said nothing."""

    a: Turn
    b: Turn
    preferences: Preferences = field(default_factory=lambda: NOTHING)
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Everything else that the line has, such as `probability` and `raters`."""


def is_rated_pair(record: Mapping[str, Any] | None) -> bool:
    """Whether a record holds two replies."""
    return record is not None and all(isinstance(record.get(side), dict) for side in "ab")


def rated_pair(record: Mapping[str, Any], reading: Reading) -> RatedPair:
    """The pair that a record describes; to be called inside `reading.record`."""
    extra = fields.extra(record, _FIELDS)
    if fields.name(record, "id") is None:
        raise InputError("id: expected text or a whole number, found none")
    own = {name: extra[name] for name in ("probability", "stratum") if name in extra}
    sides = []
    for side in "ab":
        given = record.get(side)
        if not isinstance(given, dict) or fields.name(given, "system") is None:
            wanted = 'an object such as {"system": "s0", "response": "…"}'
            raise InputError(f"{side}: expected {wanted}, found {describe(given)}")
        shared = {name: record[name] for name in SHARED if name in record}
        try:
            sides.append(turn({**own, **given, **shared}, reading))
        except InputError as error:
            raise InputError(f"{side}: {error.message}") from None
    a, b = sides
    if a.system == b.system:
        raise InputError(f"expected replies of two systems, found {quote(a.system)} twice")
    return RatedPair(a, b, _preferences(record), extra)


def battle_pair(record: Mapping[str, Any], line: int, reading: Reading) -> RatedPair:
    """The replies of two models that a battle is about, with the vote of its one rater as `overall`: the last ones, or
    those of the turn that is named, since MT-bench's judges vote on each turn of a conversation."""
    fought = battle(record, line, reading)
    sides = zip((fought.a, fought.b), fought.systems, strict=True)
    a_said, b_said = ([turn for _, turn in side if turn.system == system] for side, system in sides)
    if not a_said or not b_said:
        raise InputError("expected a reply of each model, found a conversation without one")
    judged = record.get("turn")
    both = range(1, min(len(a_said), len(b_said)) + 1)
    place = judged - 1 if isinstance(judged, int) and judged in both else -1
    a, b = a_said[place], b_said[place]
    return RatedPair(a, b, NOTHING if fought.vote is None else {"overall": (fought.vote,)}, fought.extra)


def read_rated_pairs(
    path: str | Path, *, trusted: bool = False, skip_invalid: bool = False
) -> tuple[list[RatedPair], list[Caveat]]:
    """The pairs of a file, ours or battles of an arena, and what the reader must know. `trusted`: without what failed
    the checks of a study."""
    reading = Reading(Path(path), skip_invalid)
    pairs: list[RatedPair] = []
    lost = marked = 0
    for held in held_records(reading):
        with reading.record(held.line, item=held.item):
            record = held.parse()
            pair = battle_pair(record, held.line, reading) if is_battle(record) else rated_pair(record, reading)
            if trusted:
                kept: Preferences = trusted_values(pair.preferences, pair.extra, TRUSTED, f"pair {quote(pair.a.id)}")
                marked += bool(pair.extra.get(TRUSTED))
                lost += _said(pair.preferences) - _said(kept)
                pair = replace(pair, preferences=kept)
            pairs.append(pair)
    if not pairs:
        raise InputError("expected rated pairs, found none", reading.path)
    if trusted and not marked:
        wanted = "which `dialogauge rate --export` writes"
        raise InputError(f"--trusted: expected pairs with the field `trusted`, {wanted}, found none", reading.path)
    caveats = reading.caveats()
    if lost:
        message = f"{counted(lost, 'preference')} left out that failed the study's checks"
        caveats.append(Caveat("untrusted_left_out", message))
    return pairs, caveats


def holds_rated_pairs(path: str | Path) -> bool:
    """Whether a file is one of rated pairs, by its first record."""
    if Path(path).is_dir():
        return False
    head = FileHead.read(Path(path))
    return is_rated_pair(head.record) or is_battle(head.first)


def _preferences(record: Mapping[str, Any]) -> Preferences:
    given = record.get("preferences")
    if given is None:
        return NOTHING
    if not isinstance(given, dict):
        raise InputError(f'preferences: expected an object such as {{"overall": ["a"]}}, found {describe(given)}')
    fields.refuse_many_names(given, "rated dimensions")
    found: dict[str, tuple[Preference | None, ...]] = {}
    for dimension, said in given.items():
        each: Sequence[Any] = said if isinstance(said, list) else [said]
        for value in each:
            if value is not None and value not in PREFERENCES:
                wanted = '"a", "b", "tie" or null'
                raise InputError(f"preference {quote(dimension)}: expected {wanted}, found {describe(value)}")
        if any(value is not None for value in each):
            found[sys.intern(dimension)] = tuple(each)
    return found or NOTHING


def _said(preferences: Preferences) -> int:
    return sum(value is not None for values in preferences.values() for value in values)
