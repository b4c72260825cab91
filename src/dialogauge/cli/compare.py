"""dialogauge compare: systems against each other, with paired tests."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.gates import (
    BELOW,
    IF_WORSE,
    add_fail_below,
    add_fail_if_worse,
    exit_status,
    gates_given,
)
from dialogauge.cli.common.inputs import (
    Joined,
    add_inputs,
    add_real,
    add_run_options,
    add_workers,
    listed_names,
    options,
    reading,
)
from dialogauge.cli.common.output import (
    add_cite,
    add_html,
    add_no_texts,
    add_plot,
    add_presentation,
    check_html,
    check_plot,
    deliver,
    presentation,
    rendered,
    warn,
    write_html,
)
from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.evaluation import Comparison
    from dialogauge.metrics.registry import Request

HELP = "compare systems with each other, with tests"
DESCRIPTION = """\
Compares every pair of systems under every metric: the difference with its interval, a test corrected over
all pairs, and the size of the effect. Systems that answered the same are paired (approximate randomisation, or the
jackknife where a metric needs it), others are two samples (permutation of whole dialogues, or Welch's test); the table
says which. Takes files, or directories that `dialogauge score --out` wrote."""
EXAMPLES = """\
examples:
  dialogauge compare responses.jsonl                                    under the metrics that suit the file
  dialogauge compare responses.jsonl --metrics bleu,meteor
  dialogauge compare runs/yesterday runs/today
  dialogauge compare runs/yesterday runs/today --html report.html
  dialogauge compare last_week.jsonl this_week.jsonl --metrics ruber_unreferenced
  dialogauge compare runs/a runs/b --system prod=prod-v2                prod of the first against prod-v2 of the other
  dialogauge compare runs/yesterday runs/today --fail-if-worse meteor   exit status 1 if a system got worse
  dialogauge compare runs/yesterday runs/today --fail-if-worse meteor,bleu:0.5 --fail-below bleu=20

With --fail-if-worse, no system of a later run may be worse than that of its name in the first run (or the only one
there). In files, no system may be worse than the first. --system says otherwise. What cannot be tested counts as a
failure. bleu:0.5 fails only where the whole interval of the difference lies beyond 0.5, and the test agrees."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs", nargs="+", metavar="FILE|DIR", help="responses (- is stdin), or runs written by `score --out`"
    )
    explained = "as for `score`; of runs, all they have in common by default"
    parser.add_argument("--metrics", metavar="LIST", action=Joined, help=explained)
    parser.add_argument(
        "--system",
        metavar="NAME|A=B",
        action="append",
        help="which system of the first input stands against which of the others: the one of this name, or A against B",
    )
    add_real(parser)
    add_inputs(parser)
    add_fail_if_worse(parser)
    add_fail_below(parser)
    add_run_options(parser)
    add_workers(parser)
    add_plot(parser, "also draw the differences")
    add_html(parser)
    add_no_texts(parser, "--html")
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation.gates import below_limits, fell_behind, held_against_nothing

    how = presentation(arguments)
    check_plot(arguments)
    check_html(arguments, arguments.inputs)
    guards, limits = gates_given(IF_WORSE, arguments), gates_given(BELOW, arguments)
    comparison = _compare(arguments, [gate.request for gate in (*guards, *limits)])
    failures = [*fell_behind(comparison, guards), *below_limits(comparison.scores, limits)]
    warn([*comparison.caveats, *held_against_nothing(comparison, guards)], arguments)
    deliver(rendered(comparison, arguments), lambda: _write(comparison, arguments, how["names"]))
    return exit_status(failures)


def _write(comparison: Comparison, arguments: argparse.Namespace, names: Mapping[str, str]) -> None:
    """The files that were asked for."""
    if arguments.plot:
        from dialogauge.figures import plot_comparison

        plot_comparison(comparison.renamed(names), arguments.plot)
    write_html(comparison, arguments)


def _compare(arguments: argparse.Namespace, guarded: Sequence[Request]) -> Comparison:
    from dialogauge.corpus import stream
    from dialogauge.corpus.reading.remote import input_path
    from dialogauge.corpus.reading.source import refuse_missing
    from dialogauge.evaluation import compare, compare_runs
    from dialogauge.evaluation.kept.saved import is_run

    for path in arguments.inputs:
        refuse_missing(input_path(path), "file or run", f"runs are what `dialogauge score FILE --out {path}` writes")
    runs = [path for path in arguments.inputs if is_run(path)]
    named = [] if arguments.metrics is None else [arguments.metrics]
    wanted = [*named, *guarded] or None
    if len(runs) == len(arguments.inputs):
        of_files = ("real", "reader", "map", "role", "skip_invalid", "language")
        for option in (*of_files, "compat", "encoder", "dtype", "no_cache"):
            if getattr(arguments, option):
                raise InputError(f"--{option.replace('_', '-')} has no meaning for runs: they are measured already")
        return compare_runs(
            runs,
            wanted if named else None,
            systems=listed_names(arguments.systems),
            seed=arguments.seed,
            resamples=arguments.resamples,
            confidence=arguments.confidence,
            against=arguments.system,
            keep_texts=bool(arguments.html),
        )
    if runs:
        raise InputError("is a run, the others are not; give runs only, or files only", runs[0])
    _refuse_folders(arguments)
    corpus = stream(arguments.inputs, **reading(arguments))
    return compare(corpus, wanted, against=arguments.system, **options(arguments))


def _refuse_folders(arguments: argparse.Namespace) -> None:
    """A directory that is neither a run nor a corpus."""
    from dialogauge.corpus.readers.registry import choose

    for path in filter(Path.is_dir, map(Path, arguments.inputs)):
        try:
            choose(path, arguments.reader, {})
        except InputError:
            wanted = "it has no run.json, which `dialogauge score FILE --out DIR` writes; and it is no corpus"
            raise InputError(f"is no run: {wanted}", path) from None
