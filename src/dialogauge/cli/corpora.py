"""dialogauge corpora: public corpora that are known by their content."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from dialogauge.cli.common.output import add_format, print_table
from dialogauge.tables import Cell, Header, Table

HELP = "list the public corpora that are known"
DESCRIPTION = """\
Lists public corpora: what is in them, whom to cite and where to get them. A file of one of them is recognised by
its content, whatever its name: systems and rated dimensions get their names, and known faults are shown as warnings
wherever its numbers are."""
EXAMPLES = """\
examples:
  dialogauge corpora
  dialogauge corpora --format json      with full citations, licences, hashes and known faults"""

SHOWN = 4
"""So many dimensions fit in the table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus.known import corpora

    listed = [asdict(corpus) for corpus in corpora()]
    document = {"schema": "dialogauge.corpora/1", "corpora": listed}
    records = [_record(corpus) for corpus in listed]
    print_table(arguments, _table(listed), records, document)
    return 0


def _record(corpus: dict[str, Any]) -> dict[str, Any]:
    """A line of CSV: every list in one cell."""
    hashes = "; ".join(f"{path} {sha256}" for path, sha256 in corpus["sha256"].items())
    joined = {field: "; ".join(value) if isinstance(value, tuple) else value for field, value in corpus.items()}
    return {**joined, "sha256": hashes}


def _table(listed: list[dict[str, Any]]) -> Table:
    headers = [
        Header("name", align="left"),
        Header("turns"),
        Header("systems"),
        *(Header(name, align="left") for name in ("rated for", "cite")),
        Header("where to get it", align="left", spare=True),
    ]
    rows = [
        [
            Cell(corpus["name"]),
            Cell(str(corpus["turns"])),
            Cell(str(len(corpus["systems"]) or "")),
            Cell(_dimensions(corpus["dimensions"])),
            Cell(corpus["cite"]),
            Cell(corpus["source"].partition(",")[0]),
        ]
        for corpus in listed
    ]
    faulty = sum(bool(corpus["faults"]) for corpus in listed)
    notes = [f"{faulty} of these have known faults; --format json shows them, with citations, licences and hashes"]
    return Table(headers, rows, notes)


def _dimensions(names: tuple[str, ...]) -> str:
    if len(names) > SHOWN:
        return f"{', '.join(names[: SHOWN - 1])} and {len(names) - SHOWN + 1} more"
    return ", ".join(names) or "not rated"
