"""dialogauge verify: whether a kept run's numbers follow from what it holds."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialogauge.cli.common.output import add_format, table_width

HELP = "derive a kept run's numbers again from what it holds"
DESCRIPTION = """\
Derives every number of a run that `dialogauge score --out` or `correlate --out` kept again from what the run holds,
and says which agree: the measures from the kept texts (a judge's from its kept answers), scores, intervals, floors and
tests from the measures, correlations and ceilings from the kept values and ratings. Nothing is asked of an endpoint and
no model is run; what would take one is named. The exit status is 1 where a number differs, or none
could be derived."""
EXAMPLES = """\
examples:
  dialogauge score responses.jsonl --metrics bleu,distinct --out runs/today
  dialogauge verify runs/today
  dialogauge verify runs/today --format json
  dialogauge correlate rated.jsonl --metrics rouge_l,length --out runs/study
  dialogauge verify runs/study"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", type=Path, help="a directory that `score --out` or `correlate --out` wrote"
    )
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.studies.verify_run import verify_run

    found = verify_run(arguments.run, progress=not arguments.quiet)
    print(found.render(arguments.format, width=table_width(arguments)), flush=True)
    return 0 if found.agrees else 1
