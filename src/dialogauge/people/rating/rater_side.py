"""What raters do in a study: come, agree, see one item after the other, answer, finish."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote as percent

from dialogauge.errors import InputError
from dialogauge.people.rating.links import hashed, issue
from dialogauge.people.rating.questions import RatingQuestion, Value
from dialogauge.people.rating.screen import (
    Completion,
    Finished,
    Full,
    Incomplete,
    NoId,
    NotConsented,
    NotFound,
    Rater,
    Screen,
)
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.store import Store, note, setting

MOST_PARAMETERS = 20
LONGEST_PARAMETER = 200
OTHER_SIDE = {"a": "b", "b": "a"}
_ASSIGNMENT = (
    "SELECT assignment.*, kind, form, item.shown AS shown_texts, feedback "
    "FROM assignment JOIN item ON item.id = assignment.item"
)


class RaterSide:
    """A study as far as raters act in it."""

    def __init__(self, directory: Path, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.directory = directory
        self.store = store
        self.clock = clock

    @cached_property
    def settings(self) -> StudySettings:
        with self.store.reading() as db:
            return StudySettings.from_dict(json.loads(setting(db, "settings")))

    @property
    def questions(self) -> tuple[RatingQuestion, ...]:
        return self.settings.questions

    def rater_by_token(self, token: str) -> Rater | None:
        with self.store.reading() as db:
            row = db.execute(
                "SELECT rater.* FROM token JOIN rater ON rater.id = token.rater WHERE hash = ? AND role = 'rater'",
                (hashed(token),),
            ).fetchone()
        return None if row is None else _rater(row)

    def organiser(self, token: str) -> bool:
        """Whether this is the organiser's secret."""
        return self._has_role(token, "organiser")

    def join(self, token: str, parameters: Mapping[str, str]) -> str:
        """The token of the rater with this id, new at each call: the one who came before, or a place that is free.

        Raises `NotFound` for a wrong secret, `NoId` without the id, `Full` where no place is left.
        """
        if not self._has_role(token, "join"):
            raise NotFound("there is no such study")
        name = self.settings.id_parameter or ""
        kept = {key: value for key, value in parameters.items() if len(key) + len(value) <= LONGEST_PARAMETER}
        external = kept.get(name, "").strip()
        if not external or not external.isprintable() or len(kept) > MOST_PARAMETERS:
            raise NoId(f"this link needs your id: …?{name}=YOUR_ID")
        with self.store.writing() as db:
            row = db.execute("SELECT id FROM rater WHERE external = ?", (external,)).fetchone()
            if row is None:
                row = db.execute(
                    "SELECT id FROM rater WHERE external IS NULL AND released IS NULL ORDER BY id LIMIT 1"
                ).fetchone()
                if row is None:
                    raise Full("all places of this study are taken; thank you")
                db.execute(
                    "UPDATE rater SET external = ?, parameters = ?, joined = ? WHERE id = ?",
                    (external, json.dumps(kept), self.clock(), row["id"]),
                )
                note(db, self.clock(), "joined", row["id"])
            return issue(db, "rater", row["id"])

    def consent(self, rater: Rater) -> None:
        with self.store.writing() as db:
            now = self.clock()
            changed = db.execute(
                "UPDATE rater SET consented = ?, joined = coalesce(joined, ?) WHERE id = ? AND consented IS NULL",
                (now, now, rater.id),
            ).rowcount
            if changed:
                note(db, now, "consented", rater.id)

    def next_assignment(self, rater: Rater) -> Screen | None:
        """The first that is not answered; None where all are. It counts as shown from now on."""
        with self.store.reading() as db:
            row = db.execute(
                f"{_ASSIGNMENT} WHERE rater = ? AND done IS NULL AND released IS NULL ORDER BY position LIMIT 1",
                (rater.id,),
            ).fetchone()
        if row is None:
            return None
        if row["shown"] is None:
            self.shown(rater, row["public_id"])
        return self.assignment(rater, row["public_id"])

    def assignment(self, rater: Rater, public_id: str) -> Screen | None:
        """None where it is not in this rater's list."""
        with self.store.reading() as db:
            row = self._own(db, rater, public_id)
            return None if row is None else self._screen(db, row)

    def previous(self, rater: Rater, public_id: str | None = None) -> Screen | None:
        """The answered one before this one, or the last of all: for undo. Its answers stay until others are given."""
        with self.store.reading() as db:
            position = 1 << 62
            if public_id is not None:
                own = self._own(db, rater, public_id)
                if own is None:
                    return None
                position = own["position"]
            row = db.execute(
                f"{_ASSIGNMENT} WHERE rater = ? AND done IS NOT NULL AND released IS NULL AND position < ? "
                "ORDER BY position DESC LIMIT 1",
                (rater.id, position),
            ).fetchone()
            return None if row is None else self._screen(db, row)

    def shown(self, rater: Rater, public_id: str) -> None:
        """Notes when an item was first put on this rater's screen."""
        with self.store.writing() as db:
            now = self.clock()
            row = self._own(db, rater, public_id)
            if row is None:
                raise NotFound("there is no such item in this list")
            if row["shown"] is None:
                db.execute("UPDATE assignment SET shown = ? WHERE id = ?", (now, row["id"]))
                note(db, now, "shown", rater.id, row["id"])

    def progress(self, rater: Rater) -> tuple[int, int]:
        """How many are answered, of how many; practice does not count."""
        with self.store.reading() as db:
            done, total = db.execute(
                "SELECT count(done), count(*) FROM assignment JOIN item ON item.id = item "
                "WHERE rater = ? AND released IS NULL AND kind != 'practice'",
                (rater.id,),
            ).fetchone()
        return int(done), int(total)

    def answer(self, rater: Rater, public_id: str, values: Mapping[str, Any], seconds: float | None = None) -> None:
        """Keeps the answers to one item, on the disk when this returns. The same again changes nothing; other ones
        replace them, and what stood there before is kept as an event. Sides are those of the rater's screen.

        `seconds` is how long it took; by default, since the item was first shown. Raises `Incomplete` where an answer
        is missing or cannot be one, `NotFound`, `NotConsented` or `Finished`; nothing is kept then.
        """
        checked = self._checked(values)
        with self.store.writing() as db:
            now = self.clock()
            state = db.execute("SELECT * FROM rater WHERE id = ?", (rater.id,)).fetchone()
            row = self._own(db, rater, public_id)
            if state is None or row is None:
                raise NotFound("there is no such item in this list")
            before = _values(db, row["id"]) if row["done"] is not None else None
            turned = _turned(checked, bool(row["flip"]))
            if before == turned:
                return
            if state["consented"] is None:
                raise NotConsented("the rater has not agreed to take part yet")
            if state["finished"] is not None or state["released"] is not None:
                raise Finished("this list is closed; nothing was changed")
            took = seconds if seconds is not None else None if row["shown"] is None else now - row["shown"]
            db.executemany(
                "INSERT INTO rating VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                ((row["id"], dimension, value) for dimension, value in turned.items()),
            )
            if before is None:
                db.execute("UPDATE assignment SET done = ?, seconds = ? WHERE id = ?", (now, took, row["id"]))
                note(db, now, "answered", rater.id, row["id"], values=turned, seconds=took)
            else:
                note(db, now, "changed", rater.id, row["id"], values=turned, before=before)

    def finish(self, rater: Rater) -> Completion:
        """Closes a list that is answered whole, once; the same code each time."""
        with self.store.writing() as db:
            row = db.execute("SELECT * FROM rater WHERE id = ?", (rater.id,)).fetchone()
            if row is None:
                raise NotFound("there is no such rater")
            if row["finished"] is None:
                left = db.execute(
                    "SELECT count(*) FROM assignment WHERE rater = ? AND done IS NULL AND released IS NULL", (rater.id,)
                ).fetchone()[0]
                if left:
                    raise InputError(f"{left} items are not answered yet")
                now = self.clock()
                code = self.settings.completion_code or secrets.token_hex(5).upper()
                db.execute("UPDATE rater SET finished = ?, code = ? WHERE id = ?", (now, code, rater.id))
                note(db, now, "finished", rater.id)
                return self._completion(code, row["external"])
            return self._completion(row["code"], row["external"])

    def _has_role(self, token: str, role: str) -> bool:
        with self.store.reading() as db:
            query = "SELECT 1 FROM token WHERE hash = ? AND role = ?"
            return db.execute(query, (hashed(token), role)).fetchone() is not None

    def _own(self, db: sqlite3.Connection, rater: Rater, public_id: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = db.execute(
            f"{_ASSIGNMENT} WHERE rater = ? AND public_id = ? AND released IS NULL", (rater.id, public_id)
        ).fetchone()
        return row

    def _screen(self, db: sqlite3.Connection, row: sqlite3.Row) -> Screen:
        shown = json.loads(row["shown_texts"])
        practice = row["kind"] == "practice"
        position, total = db.execute(
            "SELECT sum(position <= ?), count(*) FROM assignment JOIN item ON item.id = item "
            "WHERE rater = ? AND released IS NULL AND (kind = 'practice') = ?",
            (row["position"], row["rater"], practice),
        ).fetchone()
        responses = tuple(shown["responses"])
        flip = bool(row["flip"])
        return Screen(
            public_id=row["public_id"],
            stage="practice" if practice else "rating",
            form=row["form"],
            context=tuple(shown["context"]),
            responses=responses[::-1] if flip else responses,
            facts=tuple(shown["facts"]),
            questions=self.questions,
            answers=None if row["done"] is None else _turned(_values(db, row["id"]), flip),
            position=position,
            total=total,
            feedback=row["feedback"],
        )

    def _checked(self, values: Mapping[str, Any]) -> dict[str, Value]:
        checked: dict[str, Value] = {}
        problems = {}
        for question in self.questions:
            try:
                if question.dimension not in values:
                    raise InputError(f"{question.dimension}: an answer is needed")
                checked[question.dimension] = question.checked(values[question.dimension])
            except InputError as error:
                problems[question.dimension] = error.message
        for name in values:
            if name not in checked and name not in problems:
                problems[name] = f"{name}: no such question"
        if problems:
            raise Incomplete(problems)
        return checked

    def _completion(self, code: str, external: str | None) -> Completion:
        url = self.settings.completion_url
        if url is not None:
            url = url.replace("{code}", percent(code, safe="")).replace("{id}", percent(external or "", safe=""))
        return Completion(code, url)


def _rater(row: sqlite3.Row) -> Rater:
    was = {name: row[name] is not None for name in ("consented", "finished", "released")}
    return Rater(row["id"], row["name"], **was)


def _values(db: sqlite3.Connection, assignment: int) -> dict[str, Value]:
    rows: Iterable[Any] = db.execute("SELECT dimension, value FROM rating WHERE assignment = ?", (assignment,))
    return {dimension: value for dimension, value in rows}


def _turned(values: Mapping[str, Value], flip: bool) -> dict[str, Value]:
    """Sides of the screen to those of the pair, or back."""
    return {name: OTHER_SIDE.get(str(value), value) if flip else value for name, value in values.items()}
