"""--fail-if-worse and --fail-below: what makes a command end with exit status 1 after it has printed its result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import Joined
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.evaluation.gates import Gate

IF_WORSE, BELOW = "--fail-if-worse", "--fail-below"


def add_fail_if_worse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        IF_WORSE,
        metavar="METRIC[:MARGIN]",
        action=Joined,
        help="exit status 1 if a system got worse under this metric; with a margin, if it is worse by more than that "
        "(the whole interval of the difference lies beyond it); can be repeated",
    )


def add_fail_below(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        BELOW,
        metavar="METRIC=VALUE",
        action=Joined,
        help="exit status 1 if a system scores below this value (above it where lower is better) or has no score; "
        "can be repeated",
    )


def gates_given(option: str, arguments: argparse.Namespace) -> list[Gate]:
    """What an option was given, once or often."""
    from dialogauge.evaluation.gates import parse_gates

    given = getattr(arguments, option.removeprefix("--").replace("-", "_")) or ""
    how = {name: getattr(arguments, name) for name in ("compat", "encoder", "dtype", "language")}
    return parse_gates(option, given, **how) if given else []


def exit_status(failures: Sequence[str]) -> int:
    for failure in failures:
        print(printable(failure), file=sys.stderr)
    return 1 if failures else 0
