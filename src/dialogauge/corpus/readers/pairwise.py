"""Pairs of replies that people chose between, one line per pair: every verb sees the turns of both systems."""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.corpus.rated_pairs import is_rated_pair, rated_pair
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.errors import InputError, quote


def sniff(head: FileHead) -> bool:
    return is_rated_pair(head.record)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """A reply that stands in several pairs is one turn; another text under the same system and id is an error."""
    seen: dict[tuple[str, str], str] = {}
    for line, text in reading.lines():
        with reading.record(line):
            pair = rated_pair(parse_object(text), reading)
            new = []
            for side in (pair.a, pair.b):
                known = seen.get((side.system, side.id))
                if known is None:
                    new.append(side)
                elif known != side.response:
                    whose = f"id {quote(side.id)} of system {quote(side.system)}"
                    raise InputError(f"{whose}: expected the reply {quote(known)}, found {quote(side.response)}")
            for side in new:
                seen[side.system, side.id] = side.response
                yield line, side


PAIRWISE = Reader("pairwise", "JSON lines, one pair of replies each, with what people preferred", sniff, read)
