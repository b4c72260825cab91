"""dialogauge report: a page of runs that were kept."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialogauge.cli.common.inputs import whole
from dialogauge.cli.common.output import add_names_shown, add_no_texts
from dialogauge.tables import printable

HELP = "write a page of kept runs, with the replies behind each number"
DESCRIPTION = """\
Writes one HTML page of what `dialogauge score --out` or `correlate --out` kept: the answer, every score with its
interval, pairs of systems with their tests, the replies behind each number, and how it was made. Several runs of
`score` stand beside each other, as in `compare`. The page opens offline and asks for nothing; one that is there already
is replaced."""
EXAMPLES = """\
examples:
  dialogauge score responses.jsonl --out runs/today
  dialogauge report runs/today --out report.html
  dialogauge report runs/yesterday runs/today --out week.html
  dialogauge correlate rated.jsonl --out runs/agreement
  dialogauge report runs/agreement --out agreement.html --names bleu=BLEU-4

A run that was kept with --no-texts has a page without replies' texts. `score`, `compare` and `correlate` write the
page at once with --html FILE."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="directories that --out of `score` or `correlate` wrote")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=Path("report.html"), help="the page (default: report.html)"
    )
    parser.add_argument(
        "--digits", metavar="N", type=whole, help="decimals of every value (default: as many as its interval justifies)"
    )
    add_names_shown(parser)
    add_no_texts(parser, "the page")


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation.digits import check_digits
    from dialogauge.figures.report import check_report_path, runs_content, write_page

    path = check_report_path(arguments.out)
    check_digits(arguments.digits)
    content = runs_content(
        arguments.runs,
        names=dict(arguments.names),
        digits=arguments.digits,
        texts=not arguments.no_texts,
        progress=not arguments.quiet,
    )
    print(printable(str(write_page(content, path))))
    return 0
