"""dialogauge merge: the shards of a run put together."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.output import (
    add_cite,
    add_html,
    add_out,
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

if TYPE_CHECKING:
    from dialogauge.evaluation import Result

HELP = "put the shards of a run together"
DESCRIPTION = """\
Puts together what `dialogauge score --shard i/n --out DIR` noted on n machines, or one after another: the scores of all
turns, with their intervals. The order in which shards are given changes no bit. A shard that is missing, there twice,
or of another run (other files, metrics, settings or version) is named and refused. The files themselves are not
needed."""
EXAMPLES = """\
examples:
  dialogauge score logs.jsonl --metrics bleu,length --shard 1/2 --out shards/1
  dialogauge score logs.jsonl --metrics bleu,length --shard 2/2 --out shards/2
  dialogauge merge shards/1 shards/2 --out runs/all

As an array of jobs, 20 of them:
  dialogauge score logs.jsonl --shard $SLURM_ARRAY_TASK_ID/20 --out shards/$SLURM_ARRAY_TASK_ID
  dialogauge merge shards/* --out runs/all"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shards", nargs="+", metavar="DIR", type=Path, help="directories that `score --shard` wrote, in any order"
    )
    add_out(parser, "scores, per-turn values, the turns themselves and how it was made")
    add_plot(parser, "also draw the scores")
    add_html(parser)
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation.kept.save import check_run_writable
    from dialogauge.scale.merge import merge_shards

    presentation(arguments)
    if arguments.out:
        check_run_writable(arguments.out, arguments.overwrite)
    check_plot(arguments)
    check_html(arguments)
    result = merge_shards(arguments.shards, cache=not arguments.no_cache, progress=not arguments.quiet)
    warn(result.caveats, arguments)
    deliver(rendered(result, arguments), lambda: _write(result, arguments))
    return 0


def _write(result: Result, arguments: argparse.Namespace) -> None:
    if arguments.out:
        how_made, texts = arguments.command, not arguments.no_texts
        result.save(arguments.out, overwrite=arguments.overwrite, command=how_made, texts=texts)
    if arguments.plot:
        from dialogauge.figures import plot_scores

        plot_scores(result.renamed(dict(arguments.names)), arguments.plot)
    write_html(result, arguments)
