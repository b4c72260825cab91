"""How verbs print: results to stdout, warnings to stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from dialogauge.errors import Caveat
from dialogauge.tables import FORMATS, printable


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print the result (default: table)")


def warn(caveats: Iterable[Caveat]) -> None:
    for caveat in caveats:
        print(f"warning: {printable(caveat.message)}", file=sys.stderr)


def on_terminal() -> bool:
    """Whether someone watches: progress bars appear on a terminal only."""
    return sys.stderr.isatty()
