"""dialogauge compare: systems against each other, with paired tests."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dialogauge.cli.inputs import add_inputs, add_resampling, chosen_systems
from dialogauge.cli.output import add_format, on_terminal, warn
from dialogauge.errors import InputError
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.evaluation import Comparison

HELP = "compare systems with each other, with paired tests"
DESCRIPTION = """\
Compares every pair of systems under every metric: the difference with its 95 % interval, a paired test
(approximate randomisation, or the jackknife where a metric needs it) corrected over all pairs, and the size of
the effect. Takes files, or directories that `dialogauge score --out` wrote."""
EXAMPLES = """\
examples:
  dialogauge compare responses.jsonl --metrics bleu,meteor
  dialogauge compare runs/yesterday runs/today
  dialogauge compare runs/yesterday runs/today --fail-if-worse meteor   exit status 1 if a system got worse

With --fail-if-worse, the first system is the one the others must not fall behind."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="FILE|DIR", help="responses, or runs written by `score --out`")
    parser.add_argument(
        "--metrics", metavar="LIST", help="comma-separated; for runs, all they have in common by default"
    )
    add_inputs(parser)
    parser.add_argument(
        "--fail-if-worse", metavar="METRIC", help="exit status 1 if a system is worse than the first under this metric"
    )
    add_resampling(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.metrics.registry import parse_requests

    guard = None
    if arguments.fail_if_worse:
        (guard,) = parse_requests(arguments.fail_if_worse, arguments.compat)
        if guard.metric.higher_is_better is None:
            raise InputError(f"--fail-if-worse {guard.name}: this metric has no better or worse")
    comparison = _compare(arguments)
    if guard and guard.name not in comparison.columns:
        raise InputError(f"--fail-if-worse {guard.name}: not among the metrics: {', '.join(comparison.columns)}")
    warn(comparison.caveats)
    print(comparison.render(arguments.format))
    worse = comparison.worse_than_first(guard.name) if guard else []
    for system in worse:
        message = f"{system} is worse than {next(iter(comparison.systems))} under {arguments.fail_if_worse}"
        print(printable(message), file=sys.stderr)
    return 1 if worse else 0


def _compare(arguments: argparse.Namespace) -> Comparison:
    from dialogauge.corpus import stream
    from dialogauge.evaluation import compare, compare_runs
    from dialogauge.evaluation.saved import is_run

    runs = [path for path in arguments.inputs if is_run(path)]
    settings = {"systems": chosen_systems(arguments), "seed": arguments.seed, "resamples": arguments.resamples}
    if len(runs) == len(arguments.inputs):
        return compare_runs(runs, arguments.metrics, **settings)
    if runs:
        raise InputError("is a run, the others are not; give runs only, or files only", runs[0])
    wanted = [metrics for metrics in (arguments.metrics, arguments.fail_if_worse) if metrics]
    if not wanted:
        raise InputError("--metrics is needed to compare files; see `dialogauge metrics`")
    corpus = stream(arguments.inputs, reader=arguments.reader, skip_invalid=arguments.skip_invalid)
    return compare(corpus, wanted, compat=arguments.compat, progress=on_terminal(), **settings)
