"""How verbs print: results to stdout, warnings to stderr."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dialogauge.errors import Caveat
from dialogauge.tables import FORMATS, Table, printable, render


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print the result (default: table)")
    parser.add_argument(
        "--wide", action="store_true", help="tables as wide as they come, in place of fitted to the terminal"
    )


def table_width(arguments: argparse.Namespace) -> int | None:
    """The columns that tables are fitted to: COLUMNS where it is set, else the terminal's; None for as many as they
    take, which is also what pipes and files get."""
    if arguments.wide or not (os.environ.get("COLUMNS") or sys.stdout.isatty()):
        return None
    return shutil.get_terminal_size().columns


def print_table(
    arguments: argparse.Namespace, table: Table, records: Sequence[Mapping[str, Any]], document: Mapping[str, Any]
) -> None:
    """In the format that was asked for."""
    width = table_width(arguments)
    print(render(arguments.format, table=table, records=records, document=document, width=width))


def warn(caveats: Iterable[Caveat]) -> None:
    for caveat in caveats:
        print(f"warning: {printable(caveat.message)}", file=sys.stderr)


def on_terminal() -> bool:
    """Whether someone watches: progress bars appear on a terminal only."""
    return sys.stderr.isatty()
