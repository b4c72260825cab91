"""A rating study in its directory: made, opened, watched over and exported."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from dialogauge.corpus.frames import CorpusLike, as_corpus
from dialogauge.errors import Caveat, InputError, unknown
from dialogauge.files import check_writable_file
from dialogauge.people.rating import links
from dialogauge.people.rating.answers import read_state
from dialogauge.people.rating.links import Links, read_links
from dialogauge.people.rating.overview import Overview, overview
from dialogauge.people.rating.rater_side import RaterSide
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
from dialogauge.people.rating.store import FILE, Store, note, put_setting, setting

__all__ = [
    "Completion",
    "Finished",
    "Full",
    "Incomplete",
    "NoId",
    "NotConsented",
    "NotFound",
    "Rater",
    "Screen",
    "Study",
    "named_rater",
]


class Study(RaterSide):
    """A study in its directory. Any number of threads may use one, and any number of processes may open the same. Every
    answer is on the disk when `answer` returns."""

    @classmethod
    def create(cls, directory: str | Path, corpus: CorpusLike, settings: StudySettings | None = None) -> Study:
        """Plans a study of the corpus's turns and makes its directory, whole or not at all."""
        from dialogauge.people.rating.planning import write_study

        write_study(Path(directory), as_corpus(corpus), settings or StudySettings())
        return cls.open(directory)

    @classmethod
    def open(cls, directory: str | Path) -> Study:
        """A study that was made before, wherever it was left."""
        directory = Path(directory)
        if not directory.is_dir():
            raise InputError("there is no such directory; a new study needs files of responses, too", directory)
        return cls(directory, Store.open(directory / FILE))

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def title(self) -> str:
        return self.settings.title

    @property
    def instructions(self) -> str:
        return self.settings.instructions

    @cached_property
    def caveats(self) -> tuple[Caveat, ...]:
        """What its organiser must know of how it was made."""
        with self.store.reading() as db:
            return tuple(Caveat(code, message) for code, message in json.loads(setting(db, "caveats", "[]")))

    @property
    def links(self) -> Links | None:
        """In clear, as long as `links.txt` is there."""
        return read_links(self.directory / links.FILE)

    @property
    def address(self) -> dict[str, Any]:
        """Where it was served last: host, port, public_url and origin; empty where never."""
        with self.store.reading() as db:
            found: dict[str, Any] = json.loads(setting(db, "address", "{}"))
        return found

    def serves_at(self, host: str, port: int | None, public_url: str | None, origin: str) -> None:
        """Keeps where it is served, so that links hold after a stop."""
        address = {"host": host, "port": port, "public_url": public_url, "origin": origin}
        with self.store.writing() as db:
            put_setting(db, "address", json.dumps(address))
            note(db, self.clock(), "served", address=address)

    @property
    def paused(self) -> bool:
        """Whether raters are shown nothing new; what they answer still counts."""
        with self.store.reading() as db:
            return setting(db, "paused") == "1"

    def pause(self) -> None:
        self._pause("1", "paused")

    def resume(self) -> None:
        self._pause("0", "resumed")

    def organiser_view(self) -> Overview:
        """Progress, raters, time and agreement so far; never for raters."""
        return overview(read_state(self.store))

    def export(self) -> tuple[Iterator[str], list[Caveat]]:
        """The ratings as JSON lines, and what the reader must know of them; see `export_lines`."""
        from dialogauge.people.rating.export import export_lines

        return export_lines(self.store)

    def datasheet(self) -> str:
        """What to tell of the study in a paper, in Markdown."""
        from dialogauge.people.rating.datasheet import datasheet

        return datasheet(self.store)

    def refuse_own(self, target: Path) -> None:
        """Refuses to write where the study keeps itself: its database, the log beside it (there or not) and its
        links, by whatever path."""
        for name in (FILE, *(f"{FILE}-{log}" for log in ("wal", "shm", "journal")), links.FILE):
            own = self.directory / name
            if target.resolve() == own.resolve() or (target.exists() and own.exists() and target.samefile(own)):
                raise InputError("is the study's own, and is not overwritten; choose another name", target)

    def backup(self, target: str | Path, overwrite: bool = False) -> None:
        """A whole copy of the study's file, also while raters answer. With `overwrite` it takes the place of a file,
        but of no database with a log beside it: that log would be taken for the copy's."""
        target = Path(target)
        self.refuse_own(target)
        check_writable_file(target, overwrite)
        for log in (target.with_name(f"{target.name}-{log}") for log in ("wal", "journal")):
            if log.exists():
                raise InputError(f"is in use, or was not closed ({log.name} is there); choose another name", target)
        self.store.backup(target)

    def release(self, name: str) -> tuple[str, str | None]:
        """Hands what a rater left undone to a new place: its name and, but for marketplaces, its token."""
        from dialogauge.people.rating.handover import release

        return release(self, name)

    def new_link(self, name: str) -> str:
        """A new token for a rater, "organiser" or "join"; the ones before it hold no longer."""
        from dialogauge.people.rating.handover import new_link

        return new_link(self, name)

    def exclude(self, name: str, reason: str = "") -> None:
        """Marks all ratings of a rater as not trusted; `include` takes it back. Nothing is deleted."""
        self._mark(name, reason, "excluded")

    def include(self, name: str) -> None:
        self._mark(name, None, "included")

    def _mark(self, name: str, reason: str | None, what: str) -> None:
        with self.store.writing() as db:
            row = named_rater(db, name)
            db.execute("UPDATE rater SET excluded = ? WHERE id = ?", (reason, row["id"]))
            note(db, self.clock(), what, row["id"], reason=reason)

    def _pause(self, value: str, what: str) -> None:
        with self.store.writing() as db:
            if setting(db, "paused") != value:
                put_setting(db, "paused", value)
                note(db, self.clock(), what)


def named_rater(db: sqlite3.Connection, name: str) -> sqlite3.Row:
    """By the study's name or the marketplace's id."""
    row: sqlite3.Row | None = db.execute("SELECT * FROM rater WHERE name = ? OR external = ?", (name, name)).fetchone()
    if row is None:
        raise unknown("rater", name, (known for (known,) in db.execute("SELECT name FROM rater")))
    return row
