"""Unguessable links: tokens of 192 bits, of which the study keeps hashes alone, and the file that keeps them in clear
for its organiser."""

from __future__ import annotations

import os
import secrets
import sqlite3
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal

from dialogauge.errors import InputError

FILE = "links.txt"
Role = Literal["rater", "organiser", "join"]
PATHS: dict[Role, str] = {"rater": "r", "organiser": "o", "join": "join"}
HEADER = """\
# Who has a link can act as the person it stands for. Delete this file once the links are handed out: the study keeps
# only their hashes, and goes on without it (`dialogauge rate --study DIR --new-link NAME` makes a new one).
"""


@dataclass(frozen=True)
class Links:
    """A study's tokens in clear, known where it was just made or `links.txt` is still there."""

    organiser: str
    join: str | None = None
    raters: dict[str, str] = field(default_factory=dict)
    """By the raters' names, in order."""

    def lines(self, origin: str, id_parameter: str | None = None) -> list[tuple[str, str]]:
        """Whom each link is for, and the link."""
        found = [("organiser", link(origin, "organiser", self.organiser))]
        if self.join is not None:
            found.append(("everyone", f"{link(origin, 'join', self.join)}?{id_parameter or 'ID'}=…"))
        return found + [(name, link(origin, "rater", token)) for name, token in self.raters.items()]


def link(origin: str, role: Role, token: str) -> str:
    return f"{origin.rstrip('/')}/{PATHS[role]}/{token}"


def new_token() -> str:
    return secrets.token_urlsafe(24)


def hashed(token: str) -> bytes:
    """A token is 192 random bits: a plain hash cannot be turned back, and needs no salt."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def issue(db: sqlite3.Connection, role: Role, rater: int | None = None) -> str:
    """A new token; earlier ones of the same rater still hold."""
    token = new_token()
    db.execute("INSERT INTO token VALUES (?, ?, ?)", (hashed(token), role, rater))
    return token


def write_links(links: Links, path: Path) -> None:
    """Whole or not at all, for the owner's eyes."""
    lines = [f"organiser\t{links.organiser}"]
    lines += [f"join\t{links.join}"] if links.join else []
    lines += [f"{name}\t{token}" for name, token in links.raters.items()]
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(HEADER + "".join(f"{line}\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def read_links(path: Path) -> Links | None:
    """None where the organiser has deleted the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            name, tab, token = line.partition("\t")
            if not tab:
                raise InputError("expected a name, a tab and a token", path, number)
            found[name] = token.strip()
    if "organiser" not in found:
        raise InputError("expected a line for the organiser; delete the file if it is broken", path)
    return Links(found.pop("organiser"), found.pop("join", None), found)
