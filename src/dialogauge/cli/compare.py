"""dialogauge compare: systems against each other, with paired tests."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.inputs import (
    add_encoding,
    add_inputs,
    add_real,
    add_resampling,
    options,
    reading,
    real_conversations,
)
from dialogauge.cli.output import add_cite, add_presentation, presentation, rendered, warn
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

With --fail-if-worse, no system of a later run may be worse than that of its name in the first run (or the only one
there). In files, no system may be worse than the first. What cannot be tested counts as a failure."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="FILE|DIR", help="responses, or runs written by `score --out`")
    parser.add_argument(
        "--metrics", metavar="LIST", help="comma-separated; for runs, all they have in common by default"
    )
    add_real(parser)
    add_inputs(parser)
    parser.add_argument(
        "--fail-if-worse", metavar="METRIC", help="exit status 1 if a system got worse under this metric"
    )
    add_encoding(parser)
    add_resampling(parser)
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.metrics.registry import parse_requests

    presentation(arguments)  # what cannot be shown is refused before any work is done
    defaults = {"encoder": arguments.encoder, "dtype": arguments.dtype}
    guards = parse_requests(arguments.fail_if_worse, arguments.compat, defaults) if arguments.fail_if_worse else []
    for guard in guards:
        if guard.metric.higher_is_better is None:
            raise InputError(f"--fail-if-worse {guard.name}: this metric has no better or worse")
    comparison = _compare(arguments)
    guarded = [_column(guard.name, comparison.columns) for guard in guards]
    if guards and not comparison.baselines:
        raise InputError("--fail-if-worse: no system has one of its name in the first run to be held against")
    warn(comparison.caveats)
    print(rendered(comparison, arguments), flush=True)
    failures = [failure for name in guarded for failure in _failures(comparison, name)]
    for failure in failures:
        print(printable(failure), file=sys.stderr)
    return 1 if failures else 0


def _column(name: str, columns: Sequence[str]) -> str:
    """The column of that name, or the only one with options (`bertscore` for `bertscore[encoder=mpnet]`)."""
    found = [name] if name in columns else [column for column in columns if re.sub(r"\[.*\]", "", column) == name]
    if len(found) != 1:
        raise InputError(f"--fail-if-worse {name}: the runs have only {', '.join(columns)}")
    return found[0]


def _failures(comparison: Comparison, metric: str) -> list[str]:
    """Systems that are worse than their baseline, and those of which nothing can be said."""
    found = []
    for pair in comparison.against_baselines(metric):
        if pair.p is None:
            found.append(f"{pair.second} cannot be tested against {pair.first} under {metric}")
        elif pair.better == pair.first:
            found.append(f"{pair.second} is worse than {pair.first} under {metric}")
    return found


def _compare(arguments: argparse.Namespace) -> Comparison:
    from dialogauge.corpus import stream
    from dialogauge.corpus.source import refuse_missing
    from dialogauge.evaluation import compare, compare_runs
    from dialogauge.evaluation.saved import is_run

    for path in arguments.inputs:
        refuse_missing(Path(path), "file or run", f"runs are what `dialogauge score FILE --out {path}` writes")
    runs = [path for path in arguments.inputs if is_run(path)]
    wanted = ",".join(metrics for metrics in (arguments.metrics, arguments.fail_if_worse) if metrics)
    if len(runs) == len(arguments.inputs):
        for option in ("compat", "real", "reader", "map", "skip_invalid", "encoder", "dtype", "no_cache"):
            if getattr(arguments, option):
                raise InputError(f"--{option.replace('_', '-')} has no meaning for runs: they are measured already")
        settings = {name: options(arguments)[name] for name in ("systems", "seed", "resamples")}
        return compare_runs(runs, wanted if arguments.metrics else None, **settings)
    if runs:
        raise InputError("is a run, the others are not; give runs only, or files only", runs[0])
    if not wanted:
        folder = next((path for path in arguments.inputs if Path(path).is_dir()), None)
        if folder is not None:
            raise InputError("is no run: it has no run.json, which `dialogauge score FILE --out DIR` writes", folder)
        raise InputError("--metrics is needed to compare files; see `dialogauge metrics`")
    corpus = stream(arguments.inputs, **reading(arguments))
    return compare(corpus, wanted, real=real_conversations(arguments), **options(arguments))
