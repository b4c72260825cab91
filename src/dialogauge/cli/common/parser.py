"""Reads the call, answers a wrong one with the hint that helps, and adds commands below a command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from dialogauge.cli.common.output import add_quiet
from dialogauge.errors import InputError, unknown
from dialogauge.tables import printable

LONG_OPTION = re.compile(r"(--[^\s=]+)(=.*)?", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """Names the nearest option for an unknown one, and shows what was typed only in a form that is safe for a
    terminal."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse's, but nothing is left over: each parser refuses what it does not know, and does so before
        argparse misses the option that was misspelled."""
        self._refuse_unknown_options(args)
        parsed, rest = super().parse_known_args(args, namespace)
        if "--metrics" in self._option_string_actions:
            files = [*getattr(parsed, "files", ()), *getattr(parsed, "inputs", ())]
            refuse_metrics_among([*rest, *(file for file in files if not Path(file).exists())], parsed.metrics)
        if rest:
            option = f"--{rest[0]}"
            hint = f"did you mean {option}?" if option in self._option_string_actions else f"see `{self.prog} --help`"
            raise InputError(f"unexpected argument {rest[0]!r}; {hint}")
        return parsed, rest

    def error(self, message: str) -> NoReturn:
        super().error(printable(f"{message}; see `{self.prog} --help`"))

    def _refuse_unknown_options(self, arguments: Sequence[str]) -> None:
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for argument in arguments:
            if argument == "--" or (self._subparsers and not argument.startswith("-")):
                return  # what follows are values, or is for the parser of the verb
            option = LONG_OPTION.fullmatch(argument)
            if option and not any(name.startswith(option[1]) for name in known):
                raise unknown("option", option[1], known, alike=0.7)


def refuse_metrics_among(texts: Sequence[str], metrics: str | Sequence[str] | None) -> None:
    """Refuses what stands where files do and names metrics: `--metrics bleu meteor`."""
    if not texts:
        return  # the registry is slow to import
    from dialogauge.metrics.registry import names_metrics

    misplaced = [text for text in texts if names_metrics(text)]
    if misplaced:
        given = [metrics] if isinstance(metrics, str) else metrics or []
        whole = ",".join(text.strip(", ") for text in [*given, *misplaced])
        raise InputError(f"{misplaced[0]!r} is a metric, not a file; name metrics with commas: --metrics {whole}")


class Command(NamedTuple):
    """A verb, or what a verb is for: what its help says, its options, and what carries it out."""

    help: str
    description: str
    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]

    @classmethod
    def from_module(cls, module: Any) -> Command:
        """The verb that a module of `dialogauge.cli` is."""
        return cls(module.HELP, module.DESCRIPTION, module.EXAMPLES, module.add_arguments, module.run)


def add_subcommands(
    parser: argparse.ArgumentParser, commands: Mapping[str, Command], *, dest: str, metavar: str
) -> None:
    children = parser.add_subparsers(dest=dest, required=True, metavar=metavar)
    for name, command in commands.items():
        child = children.add_parser(
            name,
            help=command.help,
            description=command.description,
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(child)
        # Without a default of its own, what stands before the command holds.
        add_quiet(child, default=argparse.SUPPRESS)
