"""Public corpora: what is in them, what they do not say themselves, and what is wrong with them.

They are listed in `known.toml`. A file is recognised by the sha256 of its content, decompressed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class KnownCorpus:
    """A public corpus. `systems` and `dimensions` stand in the order of the file, and are empty for conversations
    that nobody rated. `papers` are citations, `cite` is short for the first of them. `sha256` maps the path of
    each file in the source to the hash of its content."""

    name: str
    title: str
    reader: str
    turns: int
    systems: tuple[str, ...]
    dimensions: tuple[str, ...]
    cite: str
    papers: tuple[str, ...]
    source: str
    licence: str
    sha256: Mapping[str, str]
    faults: tuple[str, ...]


@cache
def corpora() -> tuple[KnownCorpus, ...]:
    """All known corpora, in the order of the list."""
    import tomllib

    listed = tomllib.loads(Path(__file__).with_name("known.toml").read_text(encoding="utf-8"))
    return tuple(_known(entry, listed["papers"]) for entry in listed["corpora"])


def with_content(sha256: str) -> KnownCorpus | None:
    """The corpus that consists of the one file with this hash."""
    return next(iter(with_contents({sha256})), None)


def with_contents(sha256s: AbstractSet[str]) -> list[KnownCorpus]:
    """The corpora whose files are all among these, by their hashes."""
    return [corpus for corpus in corpora() if set(corpus.sha256.values()) <= sha256s]


def _known(entry: Mapping[str, Any], papers: Mapping[str, Mapping[str, str]]) -> KnownCorpus:
    return KnownCorpus(
        name=entry["name"],
        title=entry["title"],
        reader=entry["reader"],
        turns=entry["turns"],
        systems=tuple(entry["systems"]),
        dimensions=tuple(entry["dimensions"]),
        cite=papers[entry["papers"][0]]["short"],
        papers=tuple(papers[paper]["full"] for paper in entry["papers"]),
        source=entry["source"],
        licence=entry["licence"],
        sha256=entry["sha256"],
        faults=tuple(entry["faults"]),
    )
