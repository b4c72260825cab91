"""dialogauge demo: the main job on the examples that come with the package, and what its output means."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialogauge.cli.common.output import add_format, add_plot, check_plot, table_width, warn

HELP = "compare three small example systems"
DESCRIPTION = """\
Scores three systems on 64 everyday conversations written for this project: one that answers well, one that
answers anything with a commonplace, and one that talks about something else."""
EXAMPLES = """\
examples:
  dialogauge demo
  dialogauge demo --plot demo.png"""
READING = """\
The system `good` was written to answer, `dull` to say commonplaces, `offtopic` to talk past the question. Variety alone
(distinct) is highest for the last of them: no single number is enough."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plot(parser, "also draw the scores")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load
    from dialogauge.evaluation import evaluate

    path = example_file()
    check_plot(arguments)
    result = evaluate(load(path), progress=not arguments.quiet)
    warn(result.caveats, arguments)
    print(result.render(arguments.format, width=table_width(arguments)))
    if arguments.format == "table":
        print(f"\n{READING}\nYour own file, in the form of {path}: dialogauge score FILE")
    if arguments.plot:
        from dialogauge.figures import plot_scores

        plot_scores(result, arguments.plot)
    return 0


def example_file() -> Path:
    """In an installed package the examples lie inside it, in a checkout beside src."""
    package = Path(__file__).resolve().parent.parent
    homes = [package / "examples", package.parent.parent / "examples"]
    return next(home / "everyday.jsonl" for home in homes if home.is_dir())
