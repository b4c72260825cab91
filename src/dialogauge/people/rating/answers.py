"""What was answered in a study, all of one moment: what its organiser sees, what is exported and what is said of it all
begin here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dialogauge.people.rating.items import Form
from dialogauge.people.rating.questions import Value
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.store import Store, setting
from dialogauge.text.words import SPACED_WORD

FASTEST_READING = 20.0
"""Words a second: 1,200 a minute, several times what anyone reads with understanding (Brysbaert 2019 finds 238)."""

_PLANNED_CHECKS = """
SELECT rater, count(*) FROM assignment JOIN item ON item.id = item WHERE kind = 'check' AND repeat = 0 GROUP BY rater"""


@dataclass(frozen=True)
class ItemRecord:
    """An item as the study keeps it."""

    id: int
    kind: str
    form: Form
    turns: tuple[int, ...]
    words: int
    """Of its replies; of a dialogue, all of it."""
    expected: Mapping[str, Any] | None

    def passed(self, values: Mapping[str, Value]) -> bool:
        """Of a check: whether this is what an attentive rater answers. "Does not apply" passes, and so does a tie."""
        if self.expected is None:
            return True
        value = values.get(self.expected["dimension"])
        if isinstance(value, str):
            return value != self.expected.get("not")
        return value is None or value <= self.expected["most"]


@dataclass(frozen=True)
class AssignedItem:
    """A place in a rater's list, answered or not; practice is left out."""

    assignment: int
    rater: int
    item: ItemRecord
    position: int
    repeat: bool
    flip: bool
    done: float | None
    seconds: float | None
    values: Mapping[str, Value]
    """Of a pair, sides as the study keeps them."""
    floor: float

    @property
    def fast(self) -> bool:
        """Whether it came sooner than anyone can read and decide."""
        return self.seconds is not None and self.seconds < self.floor

    @property
    def counts(self) -> bool:
        """Whether it is a rating of an item of the study: answered, and no check or repeat."""
        return self.done is not None and self.item.kind == "rated" and not self.repeat


@dataclass(frozen=True)
class RaterRow:
    """A rater as the study keeps one; times are seconds since 1970, None where it has not happened."""

    id: int
    name: str
    external: str | None
    parameters: Mapping[str, str]
    joined: float | None
    consented: float | None
    finished: float | None
    code: str | None
    released: float | None
    excluded: str | None


@dataclass(frozen=True)
class StudyState:
    """A study at one moment."""

    settings: StudySettings
    id: str
    made: float
    version: str
    paused: bool
    items: dict[int, ItemRecord]
    raters: list[RaterRow]
    answers: list[AssignedItem]
    """In the order of raters and of their lists, without places that were released."""
    planned_checks: dict[int, int]
    """Attention checks in each rater's list as it was made, places that were released since among them."""

    @cached_property
    def of_rater(self) -> dict[int, list[AssignedItem]]:
        found: dict[int, list[AssignedItem]] = {rater.id: [] for rater in self.raters}
        for answer in self.answers:
            found[answer.rater].append(answer)
        return found

    @cached_property
    def of_item(self) -> dict[int, list[AssignedItem]]:
        """The ratings of every item to be rated, in the order of the raters."""
        found: dict[int, list[AssignedItem]] = {item.id: [] for item in self.items.values() if item.kind == "rated"}
        for answer in self.answers:
            if answer.counts:
                found[answer.item.id].append(answer)
        return found


def read_state(store: Store) -> StudyState:
    with store.snapshot() as db:
        settings = StudySettings.from_dict(json.loads(setting(db, "settings")))
        items = {row["id"]: _item(row) for row in db.execute("SELECT * FROM item ORDER BY id")}
        return StudyState(
            settings=settings,
            id=setting(db, "id"),
            made=float(setting(db, "made")),
            version=setting(db, "version"),
            paused=setting(db, "paused") == "1",
            items=items,
            raters=[_rater(row) for row in db.execute("SELECT * FROM rater ORDER BY id")],
            answers=_answers(db, settings, items),
            planned_checks={rater: count for rater, count in db.execute(_PLANNED_CHECKS)},
        )


def _item(row: sqlite3.Row) -> ItemRecord:
    shown = json.loads(row["shown"])
    texts = shown["responses"] or shown["context"]
    words = sum(len(SPACED_WORD.findall(text)) for text in texts)
    expected = None if row["expected"] is None else json.loads(row["expected"])
    return ItemRecord(row["id"], row["kind"], row["form"], tuple(json.loads(row["turns"])), words, expected)


def _rater(row: sqlite3.Row) -> RaterRow:
    return RaterRow(**{**dict(row), "parameters": json.loads(row["parameters"])})


def _answers(db: sqlite3.Connection, settings: StudySettings, items: Mapping[int, ItemRecord]) -> list[AssignedItem]:
    values: dict[int, dict[str, Value]] = {}
    for assignment, dimension, value in db.execute("SELECT assignment, dimension, value FROM rating"):
        values.setdefault(assignment, {})[dimension] = value
    dimensions = [question.dimension for question in settings.questions]
    found = []
    for row in db.execute("SELECT * FROM assignment WHERE released IS NULL ORDER BY rater, position"):
        item = items[row["item"]]
        if item.kind == "practice":
            continue
        given = values.get(row["id"], {})
        found.append(
            AssignedItem(
                assignment=row["id"],
                rater=row["rater"],
                item=item,
                position=row["position"],
                repeat=bool(row["repeat"]),
                flip=bool(row["flip"]),
                done=row["done"],
                seconds=row["seconds"],
                values={name: given[name] for name in dimensions if name in given},
                floor=max(settings.time_floor, item.words / FASTEST_READING) if settings.time_floor else 0.0,
            )
        )
    return found
