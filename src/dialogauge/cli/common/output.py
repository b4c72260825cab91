"""How verbs print: results to stdout, warnings to stderr."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.cli.common.inputs import whole
from dialogauge.errors import Caveat, InputError
from dialogauge.tables import FORMATS, Table, printable, render, to_json

if TYPE_CHECKING:
    from dialogauge.agreement import Agreement
    from dialogauge.evaluation import Comparison, Result
    from dialogauge.evaluation.forms import MetricForms
    from dialogauge.people.estimate.estimate_result import PeopleEstimate


def add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print the result (default: table)")
    parser.add_argument(
        "--wide", action="store_true", help="tables as wide as they come, in place of fitted to the terminal"
    )


def add_plot(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--plot", metavar="FILE", type=Path, help=f"{what} (.png, .svg or .pdf)")


def check_plot(arguments: argparse.Namespace) -> None:
    """Refuses a --plot that cannot be drawn, before any work is done."""
    if arguments.plot:
        from dialogauge.figures.drawing import check_figure_path

        check_figure_path(arguments.plot)


def add_html(parser: argparse.ArgumentParser) -> None:
    explained = "also write the report: one page that opens offline, with every number and the replies behind it"
    parser.add_argument("--html", metavar="FILE", type=Path, help=explained)


def add_no_texts(parser: argparse.ArgumentParser, places: str) -> None:
    parser.add_argument("--no-texts", action="store_true", help=f"leave the turns' texts out of {places}")


def check_html(arguments: argparse.Namespace, inputs: Iterable[str] = ()) -> None:
    """Refuses a --html that cannot be written, before any work is done."""
    if arguments.html:
        from dialogauge.figures.report import check_report_path

        check_report_path(arguments.html, inputs)


def write_html(result: Result | Comparison | Agreement, arguments: argparse.Namespace) -> None:
    """Where --html asks for it."""
    if arguments.html:
        from dialogauge.figures.report import write_report

        write_report(
            result,
            arguments.html,
            command=arguments.command,
            names=dict(arguments.names),
            digits=arguments.digits,
            texts=not arguments.no_texts,
            progress=not arguments.quiet,
        )


def add_out(parser: argparse.ArgumentParser, what: str) -> None:
    """Where a run is kept."""
    parser.add_argument("--out", metavar="DIR", type=Path, help=f"also write {what}")
    parser.add_argument("--overwrite", action="store_true", help="replace the run that is in --out already")
    add_no_texts(parser, "--out and --html")


def table_width(arguments: argparse.Namespace) -> int | None:
    """The columns that tables are fitted to: COLUMNS where it is set, else the terminal's; None for as many as they
    take, which is also what pipes and files get."""
    if arguments.wide or not (os.environ.get("COLUMNS") or sys.stdout.isatty()):
        return None
    return shutil.get_terminal_size().columns


def add_presentation(parser: argparse.ArgumentParser) -> None:
    """The format, and how numbers and names are shown in it."""
    add_format(parser)
    parser.add_argument(
        "--digits", metavar="N", type=whole, help="decimals of every value (default: as many as its interval justifies)"
    )
    add_names_shown(parser)


def add_names_shown(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--names",
        metavar="NAME=SHOWN",
        action=_DisplayNames,
        default=[],
        help="what tables and figures call a metric or a system: bleu=BLEU-4,s0=Ours; can be repeated",
    )


def add_cite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cite", action="store_true", help="also say how it was computed, in words for a paper, with BibTeX"
    )


def rendered(
    result: Result | Comparison | Agreement | PeopleEstimate,
    arguments: argparse.Namespace,
    beside: Mapping[str, Sequence[MetricForms]] | None = None,
) -> str:
    """The result in the format that was asked for, then what stands `beside` it (under these names in JSON), then whom
    to cite."""
    more = {name: items for name, items in (beside or {}).items() if items}
    shown = result.renamed(dict(arguments.names))
    if arguments.format == "json":
        cited = {"citations": result.citation().to_dict()} if arguments.cite else {}
        others = {name: [item.to_dict() for item in items] for name, items in more.items()}
        return to_json({**result.to_dict(), **others, **cited})
    parts = [result.render(arguments.format, **presentation(arguments))]
    for item in chain.from_iterable(more.values()):
        parts.append(item.render(arguments.format, **presentation(arguments, item.names())))
    if arguments.cite:
        parts.append(shown.citation().render(arguments.format, table_width(arguments)))
    return "\n\n".join(parts)


class _DisplayNames(argparse.Action):
    """Not a `type`: argparse takes an InputError there, which is a ValueError, and says less."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *_display_names(values)])


def _display_names(text: str) -> list[tuple[str, str]]:
    """Pairs between commas; a comma that no pair comes after is part of a name."""
    from dialogauge.metrics.registry import COMMA_OUTSIDE_BRACKETS

    found: list[tuple[str, str]] = []
    for piece in COMMA_OUTSIDE_BRACKETS.split(text):
        name, equals, shown = (part.strip() for part in piece.rpartition("="))
        if equals and name and shown:
            found.append((name, shown))
        elif found and not equals:
            found[-1] = (found[-1][0], f"{found[-1][1]},{piece}")
        else:
            raise InputError(f"--names: expected NAME=SHOWN, found {piece!r}")
    return found


def presentation(arguments: argparse.Namespace, known: Collection[str] | None = None) -> dict[str, Any]:
    """What `render` takes beside the format; of the names only those of `known` metrics and systems, where given."""
    from dialogauge.evaluation.digits import check_digits

    check_digits(arguments.digits)
    if arguments.format == "csv" and getattr(arguments, "cite", False):
        raise InputError("--cite: CSV has one line per number and no room for citations; choose another --format")
    names = {name: shown for name, shown in arguments.names if known is None or name in known}
    return {"width": table_width(arguments), "digits": arguments.digits, "names": names}


def print_table(
    arguments: argparse.Namespace, table: Table, records: Sequence[Mapping[str, Any]], document: Mapping[str, Any]
) -> None:
    """In the format that was asked for."""
    width = table_width(arguments)
    print(render(arguments.format, table=table, records=records, document=document, width=width))


def deliver(text: str, *writers: Callable[[], object]) -> None:
    """Writes what was asked for to files first, and then prints: a pipe that is closed early costs nothing that was to
    be kept. What fails on the way to a file is still printed."""
    try:
        for write in writers:
            write()
    finally:
        print(text, flush=True)


def add_quiet(parser: argparse.ArgumentParser, **default: Any) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and no warnings on stderr", **default)


def warn(caveats: Iterable[Caveat], arguments: argparse.Namespace) -> None:
    for caveat in caveats:
        remark(caveat.line, arguments)


def remark(text: str, arguments: argparse.Namespace) -> None:
    """A line on stderr beside the result, which --quiet leaves out."""
    if not arguments.quiet:
        print(printable(text), file=sys.stderr)
