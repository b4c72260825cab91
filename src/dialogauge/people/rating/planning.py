"""A new study: its items, everyone's list and the links, written whole or not at all."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dialogauge import __version__
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.files import NEW, unfinished
from dialogauge.people.rating import links
from dialogauge.people.rating.design import Planned, arrange, assign, balance_sides, number_of_people
from dialogauge.people.rating.items import StudyItem, StudyItems, make_items
from dialogauge.people.rating.links import Links, issue
from dialogauge.people.rating.settings import MOST_PEOPLE, StudySettings
from dialogauge.people.rating.store import FILE, Store, note, put_setting

MOST_ITEMS = 100_000
_FIELDS = ("id", "context", "response", "references", "system", "ratings", "dialogue", "facts", "extra")


def write_study(directory: Path, corpus: Corpus, settings: StudySettings) -> list[Caveat]:
    """Plans the study, and makes its directory; gives what the organiser must know."""
    refuse_existing(directory)
    if not corpus.turns:
        raise InputError("expected turns to rate, found none")
    rng = np.random.default_rng(settings.seed)
    items = make_items(corpus, settings, rng)
    if len(items.rated) > MOST_ITEMS:
        raise InputError(f"expected at most {MOST_ITEMS:,} items to rate, found {len(items.rated):,}")
    lists = plan_lists(items, settings, rng)
    with unfinished(directory) as partial:
        new = partial / NEW
        new.mkdir(mode=0o700)
        store = Store.create(new / FILE)
        with store.writing() as db:
            tokens = _write(db, corpus, settings, items, lists)
        store.close()
        links.write_links(tokens, new / links.FILE)
        try:
            new.rename(directory)
        except OSError:
            refuse_existing(directory)  # someone else was quicker
            raise
    return items.caveats


def refuse_existing(directory: Path) -> None:
    """Refuses whatever is there already, but for an empty directory that is not the present one."""
    if directory.resolve() == Path.cwd():
        raise InputError("is where you are; a study needs a directory of its own", directory)
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return
    if (directory / FILE).exists():
        raise InputError("is a study already; leave the files out to go on with it, or choose another name", directory)
    raise InputError("is there already and was left as it is; choose another name", directory)


def plan_lists(items: StudyItems, settings: StudySettings, rng: np.random.Generator) -> list[list[Planned]]:
    """Everyone's list of places: those of rated items, then (from their number on) of checks."""
    apart = settings.contexts == "apart"
    people = settings.people or number_of_people(items.groups, settings.raters, settings.per_rater, apart)
    if people > MOST_PEOPLE:
        raise InputError(f"expected a study of at most {MOST_PEOPLE:,} people, found {people:,}; raise --per-rater")
    systems = [item.systems for item in items.rated]
    lists = []
    for blocks in assign(items.groups, systems, settings.raters, people, apart, rng):
        own = [item for block in blocks for item in block]
        checks = _own_checks(items, own, settings.check_every, rng)
        repeats = len(own) // settings.repeat_every if settings.repeat_every else 0
        lists.append(arrange(blocks, checks, repeats, rng))
    if empty := sum(not listed for listed in lists):
        raise InputError(f"--people: expected at most {people - empty}, found {people}: the others would rate nothing")
    return balance_sides(lists, rng) if settings.pairwise else lists


def _own_checks(items: StudyItems, own: Sequence[int], every: int, rng: np.random.Generator) -> list[int]:
    """One rater's checks, each once: first those whose context is not in the rater's list."""
    if not every or not own:
        return []
    met = {items.rated[place].group for place in own}
    order = sorted(rng.permutation(len(items.checks)).tolist(), key=lambda place: items.checks[place].group in met)
    return [len(items.rated) + place for place in order[: max(1, len(own) // every)]]


def _write(
    db: sqlite3.Connection,
    corpus: Corpus,
    settings: StudySettings,
    items: StudyItems,
    lists: Sequence[Sequence[Planned]],
) -> Links:
    now = time.time()
    values = {"settings": json.dumps(settings.to_dict()), "made": repr(now), "version": __version__, "paused": "0"}
    values["id"] = secrets.token_hex(8)
    for key, value in values.items():
        put_setting(db, key, value)
    put_setting(db, "caveats", json.dumps([[caveat.code, caveat.message] for caveat in items.caveats]))
    db.executemany("INSERT INTO turn VALUES (?, ?)", ((place, record(turn)) for place, turn in enumerate(corpus)))
    everything = [*items.rated, *items.checks, *items.practice]
    db.executemany("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?)", map(_item_row, range(len(everything)), everything))
    practice = [
        Planned(len(items.rated) + len(items.checks) + place, flip=item.form == "pair" and place % 2 == 1)
        for place, item in enumerate(items.practice)
    ]
    width = max(2, len(str(len(lists))))
    tokens = Links(issue(db, "organiser"), issue(db, "join") if settings.id_parameter else None)
    for number, listed in enumerate(lists, start=1):
        name = f"r{number:0{width}}"
        rater = add_rater(db, name, [*practice, *listed])
        if settings.id_parameter is None:
            tokens.raters[name] = issue(db, "rater", rater)
    note(db, now, "made", people=len(lists), items=len(items.rated), checks=len(items.checks))
    return tokens


def add_rater(db: sqlite3.Connection, name: str, listed: Sequence[Planned]) -> int:
    """A place with its whole list. Public ids are random: they tell nothing, not even an order."""
    rater = db.execute("INSERT INTO rater (name) VALUES (?)", (name,)).lastrowid
    if rater is None:
        raise sqlite3.DatabaseError("no row was made")
    db.executemany(
        "INSERT INTO assignment (public_id, rater, item, position, repeat, flip) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (secrets.token_urlsafe(12), rater, planned.item, place, planned.repeat, planned.flip)
            for place, planned in enumerate(listed)
        ),
    )
    return rater


def _item_row(place: int, item: StudyItem) -> tuple[Any, ...]:
    expected = None if item.expected is None else json.dumps(item.expected)
    return place, item.kind, item.form, json.dumps(item.turns), json.dumps(item.shown), expected, item.feedback


def record(turn: Turn) -> str:
    """The turn as JSON, with all that it has."""
    values = {field: getattr(turn, field) for field in _FIELDS}
    try:
        return json.dumps({field: value for field, value in values.items() if value is not NOTHING}, default=dict)
    except (TypeError, ValueError) as error:
        raise InputError(f"turn {turn.id!r} of {turn.system!r} cannot be kept as JSON: {error}") from None


def turn_of(text: str) -> Turn:
    """The turn that `record` kept."""
    values = json.loads(text)
    return Turn(**values)
