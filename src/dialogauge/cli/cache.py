"""dialogauge cache: what is kept between runs, and how to be rid of it."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.cli.common.output import add_format, print_table, warn
from dialogauge.errors import Caveat
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.encode.cache.cache import CacheStatus
    from dialogauge.encode.cache.parts import Part

HELP = "show or clear what is kept between runs"
DESCRIPTION = """\
Shows what is kept between runs so that no text is encoded twice, no word vectors are converted twice and no weights
are unpacked twice. All of it can be deleted at any time: a run that misses something makes it again. Answers of
language models (judge, answer) lie there too; these are kept for good, and --clear leaves them.

DIALOGAUGE_CACHE       the folder, by default dialogauge in the user's cache folder. On a cluster, choose one on a disk
                       of the machine itself.
DIALOGAUGE_CACHE_SIZE  the most that vectors of texts may take, such as 4GiB (the default) or 500MB; 0 keeps none.
                       Past that, those that were not used for longest go."""
EXAMPLES = """\
examples:
  dialogauge cache
  dialogauge cache --clear
  DIALOGAUGE_CACHE=/scratch/me DIALOGAUGE_CACHE_SIZE=20GiB dialogauge cache --format json"""

ANSWERS = "answers of endpoints"
SHOWN = 3
"""So many unknown things are named in the table's notes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="delete it all; what is not dialogauge's is left alone")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.encode.cache.cache import Cache
    from dialogauge.encode.cache.parts import parts

    with Cache() as cache:
        freed = removed = None
        if arguments.clear:
            known, _ = parts(cache.folder)
            before = cache.status().bytes_on_disk + sum(part.bytes_on_disk for part in known)
            removed = cache.clear() + sum(part.entries for part in known)
            for part in known:
                part.clear()
        status = cache.status()
        known, unknown = parts(cache.folder)
        if arguments.clear:
            freed = max(0, before - status.bytes_on_disk - sum(part.bytes_on_disk for part in known))
    warn([Caveat("cache", problem) for problem in cache.problems], arguments)
    records = [_vectors(status), *map(_part, known), *_answers(cache.folder)]
    document = {
        "schema": "dialogauge.cache/1",
        "folder": str(status.folder),
        "parts": records,
        "unknown": [str(path.relative_to(status.folder)) for path in unknown],
        "removed": removed,
        "freed": freed,
    }
    print_table(arguments, _table(document), records, document)
    return 1 if arguments.clear and cache.problems and status.entries else 0


def _vectors(status: CacheStatus) -> dict[str, Any]:
    return {
        "what": "vectors of texts",
        "entries": status.entries,
        "bytes_in_use": status.bytes_in_use,
        "bytes_on_disk": status.bytes_on_disk,
        "limit": status.limit,
        "oldest_use": status.oldest_use and status.oldest_use.isoformat(timespec="seconds"),
        "newest_use": status.newest_use and status.newest_use.isoformat(timespec="seconds"),
    }


def _part(part: Part) -> dict[str, Any]:
    size = part.bytes_on_disk
    record = {"what": part.kind.what, "entries": part.entries, "bytes_in_use": size, "bytes_on_disk": size}
    return {**record, "limit": None, "oldest_use": None, "newest_use": None}


def _answers(folder: Path) -> list[dict[str, Any]]:
    """What endpoints answered, where there is any."""
    from dialogauge.endpoint.answers import NAME, Answers

    path = folder / NAME
    if not path.exists():
        return []
    answers, size = Answers(path), path.stat().st_size
    record = {"what": ANSWERS, "entries": len(answers), "bytes_in_use": size, "bytes_on_disk": size}
    answers.close()
    return [{**record, "limit": None, "oldest_use": None, "newest_use": None}]


def _table(document: dict[str, Any]) -> Table:
    headers = [
        Header("what", align="left"),
        *(Header(name) for name in ("entries", "in use", "on disk", "limit")),
        *(Header(name, align="left") for name in ("oldest use", "newest use")),
    ]
    rows = [
        [
            Cell(record["what"]),
            Cell(str(record["entries"])),
            *(Cell(_size(record[field])) for field in ("bytes_in_use", "bytes_on_disk", "limit")),
            *(Cell(_time(record[field])) for field in ("oldest_use", "newest_use")),
        ]
        for record in document["parts"]
    ]
    return Table(headers, rows, _notes(document))


def _notes(document: dict[str, Any]) -> list[str]:
    there = Path(document["folder"]).is_dir()
    notes = [f"in {document['folder']}{'' if there else ', which is not there yet'}"]
    if any(part["what"] == ANSWERS for part in document["parts"]):
        notes.append(f"{ANSWERS} (answers.sqlite) cost time or money, and are kept for good: --clear leaves them")
    if document["freed"] is not None:
        entries = "1 entry" if document["removed"] == 1 else f"{document['removed']} entries"
        notes.append(f"{entries} deleted, {_size(document['freed'])} freed")
    if unknown := document["unknown"]:
        more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
        notes.append(f"not dialogauge's, left alone: {', '.join(unknown[:SHOWN])}{more}")
    return notes


def _size(size: int | None) -> str:
    if size is None:
        return ""
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1000 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def _time(moment: str | None) -> str:
    return datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M UTC") if moment else ""
