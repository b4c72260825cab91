"""Commands below a command, each a module with HELP, DESCRIPTION, EXAMPLES, `add_arguments` and `run`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import ModuleType

from dialogauge.cli.output import add_quiet


def add_subcommands(
    parser: argparse.ArgumentParser, modules: Mapping[str, ModuleType], *, dest: str, metavar: str
) -> None:
    children = parser.add_subparsers(dest=dest, required=True, metavar=metavar)
    for name, module in modules.items():
        child = children.add_parser(
            name,
            help=module.HELP,
            description=module.DESCRIPTION,
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(child)
        # Without a default of its own, what stands before the command holds.
        add_quiet(child, default=argparse.SUPPRESS)
