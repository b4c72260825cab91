"""Links that are made anew, and lists that someone else goes on with."""

from __future__ import annotations

import secrets
import sqlite3

from dialogauge.errors import InputError
from dialogauge.people.rating import links
from dialogauge.people.rating.design import Planned
from dialogauge.people.rating.links import Links, Role, issue, write_links
from dialogauge.people.rating.planning import add_rater
from dialogauge.people.rating.store import note
from dialogauge.people.rating.study import Study, named_rater

_UNDONE = """
SELECT item, flip, kind FROM assignment JOIN item ON item.id = item
WHERE rater = ? AND released IS NULL AND done IS NULL AND repeat = 0 AND kind != 'practice' ORDER BY position"""
_PRACTICE = """
SELECT item, flip FROM assignment JOIN item ON item.id = item WHERE rater = ? AND kind = 'practice' ORDER BY position"""


def new_link(study: Study, name: str) -> str:
    """A new token for a rater, for "organiser" or for "join"; the ones before it hold no longer."""
    with study.store.writing() as db:
        if name in ("organiser", "join"):
            role: Role = "organiser" if name == "organiser" else "join"
            if not db.execute("DELETE FROM token WHERE role = ?", (role,)).rowcount:
                raise InputError("raters of this study have links of their own; name one of them")
            token = issue(db, role)
            note(db, study.clock(), "new_link", role=role)
        else:
            row = named_rater(db, name)
            name = row["name"]
            db.execute("DELETE FROM token WHERE rater = ?", (row["id"],))
            token = issue(db, "rater", row["id"])
            note(db, study.clock(), "new_link", row["id"])
    _rewrite(study, name, token)
    return token


def release(study: Study, name: str) -> tuple[str, str | None]:
    """Ends a list that was left unfinished, and makes a new place for the rest of it: its name and, where raters have
    links of their own, its token. What was answered stays; every item still gets exactly its raters."""
    with study.store.writing() as db:
        row = named_rater(db, name)
        if row["finished"] is not None or row["released"] is not None:
            raise InputError(f"{row['name']} has {'finished' if row['finished'] else 'been released'} already")
        left = db.execute(_UNDONE, (row["id"],)).fetchall()
        if not any(each["kind"] == "rated" for each in left):
            raise InputError(f"{row['name']} has rated everything; nothing is left to hand over")
        if row["consented"] is None and row["external"] is None:
            raise InputError(f"{row['name']} has not begun; give the link to someone else, or make a --new-link")
        now = study.clock()
        db.execute("UPDATE rater SET released = ? WHERE id = ?", (now, row["id"]))
        practice = [Planned(each["item"], bool(each["flip"])) for each in db.execute(_PRACTICE, (row["id"],))]
        rest = [Planned(each["item"], bool(each["flip"])) for each in left]
        if not any(each["kind"] == "check" for each in left):
            rest = _with_check(db, row["id"], rest)
        db.execute("UPDATE assignment SET released = ? WHERE rater = ? AND done IS NULL", (now, row["id"]))
        new = _free_name(db)
        rater = add_rater(db, new, [*practice, *rest])
        token = None if study.settings.id_parameter else issue(db, "rater", rater)
        note(db, now, "released", row["id"], to=new)
    if token is not None:
        _rewrite(study, new, token)
    return new, token


def _with_check(db: sqlite3.Connection, rater: int, rest: list[Planned]) -> list[Planned]:
    """One of the checks that the other had, at a random place: the new rater has seen none."""
    query = "SELECT item, flip FROM assignment JOIN item ON item.id = item WHERE rater = ? AND kind = 'check'"
    checks = db.execute(query, (rater,)).fetchall()
    if not checks:
        return rest
    check, place = secrets.choice(checks), secrets.randbelow(len(rest) + 1)
    return [*rest[:place], Planned(check["item"], bool(check["flip"])), *rest[place:]]


def _free_name(db: sqlite3.Connection) -> str:
    names = {name for (name,) in db.execute("SELECT name FROM rater")}
    width = max(len(name) - 1 for name in names)
    number = len(names) + 1
    while f"r{number:0{width}}" in names:
        number += 1
    return f"r{number:0{width}}"


def _rewrite(study: Study, name: str, token: str) -> None:
    """The new link stands in `links.txt`, too, where that is still there."""
    known = study.links
    if known is None:
        return
    if name == "organiser":
        changed = Links(token, known.join, known.raters)
    elif name == "join":
        changed = Links(known.organiser, token, known.raters)
    else:
        changed = Links(known.organiser, known.join, {**known.raters, name: token})
    write_links(changed, study.directory / links.FILE)
