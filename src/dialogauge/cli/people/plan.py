"""dialogauge plan: how many contexts, raters and ratings a study takes, and which turns to ask about next."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import (
    METRICS,
    Joined,
    add_inputs,
    add_real,
    add_run_options,
    number,
    options,
    reading,
    whole,
)
from dialogauge.cli.common.output import add_format, remark, table_width, warn
from dialogauge.cli.common.turns import write_turns
from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.corpus import Corpus

HELP = "see how many ratings a study takes, and choose which turns to ask about"
DESCRIPTION = """\
Says how many contexts, raters and ratings it takes to tell two systems apart, from how ratings vary: in a pilot (FILE
with ratings of some turns) or, without a file, in public corpora. With --metrics also how much a metric shortens the
study: people rate some contexts, the metric scores all, and `dialogauge estimate` puts both together.

With --choose it draws the contexts to ask people about next, by chance and stratified by the metric's score, and writes
their turns as JSON lines for `dialogauge rate`, each with the probability with which it was chosen."""
EXAMPLES = """\
examples:
  dialogauge plan --difference 0.3                               from public corpora
  dialogauge plan --difference 0.3 --like usr-persona --metrics gauge
  dialogauge plan pilot.jsonl --difference 0.3 --power 0.9 --raters 1,3 --metrics gauge
  dialogauge plan pilot.jsonl --difference 0.3 --among 4 --anytime
  dialogauge plan responses.jsonl --choose 60 --metrics gauge --out ask.jsonl
  dialogauge plan responses.jsonl --choose 40 --metrics gauge --rated study.jsonl --out more.jsonl"""
STDOUT = Path("-")
SIZES_ONLY = ("power", "raters", "like", "correlation", "pool", "among", "people", "apart", "anytime")
CHOICE_ONLY = ("rated", "strata", "allocation", "out", "overwrite")

OF_FILES = ("trusted", "systems", "role", "reader", "map", "skip_invalid", "real")
"""What says how a pilot is read, and nothing about public corpora."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="a pilot, or what to choose from; gzip is fine, - is stdin"
    )
    parser.add_argument("--metrics", metavar="LIST", action=Joined, help=f"{METRICS}; with --choose one")
    parser.add_argument("--dimension", metavar="NAME", help="what was rated (default: overall, else the first)")
    parser.add_argument("--trusted", action="store_true", help="leave out ratings that failed a study's checks")
    sizes = parser.add_argument_group("how many")
    sizes.add_argument(
        "--difference", metavar="D", type=number, help="between two systems' mean ratings, in points of the scale"
    )
    sizes.add_argument("--power", metavar="P", type=number, help="the probability of finding it (default: 0.8)")
    sizes.add_argument("--raters", metavar="LIST", help="of each turn, a size for each (default: 1,2,3,5)")
    sizes.add_argument("--like", metavar="CORPUS", help="a public corpus to plan from (default: all that are known)")
    sizes.add_argument(
        "--correlation",
        metavar="R",
        type=number,
        help="also for a metric whose differences between systems correlate so with the ratings'",
    )
    sizes.add_argument(
        "--pool",
        metavar="N",
        type=whole,
        help="contexts that the metric scores in all (default: FILE's, where not all rated)",
    )
    sizes.add_argument("--among", metavar="N", type=whole, help="systems, all pairs of which are compared (default: 2)")
    sizes.add_argument("--people", metavar="N", type=whole, help="who rate in all (default: many, each a little)")
    sizes.add_argument(
        "--apart", action="store_true", help="systems of a context are rated by different people, not by the same"
    )
    sizes.add_argument(
        "--anytime", action="store_true", help="the study is looked at again and again, and stops once decided"
    )
    choice = parser.add_argument_group("which")
    choice.add_argument("--choose", metavar="N", type=whole, help="draw N contexts that nobody has rated yet")
    choice.add_argument(
        "--rated", metavar="FILE", action="append", help="what earlier studies exported: not asked about again"
    )
    choice.add_argument("--strata", metavar="N", type=whole, help="by the metric's score (default: 5)")
    choice.add_argument(
        "--allocation",
        choices=("proportional", "neyman"),
        help="to strata by size, or also by how much ratings of before differ in them (default: proportional)",
    )
    choice.add_argument("--out", metavar="FILE", type=Path, help="where to write the turns (default: stdout)")
    choice.add_argument("--overwrite", action="store_true", help="replace the file that is there already")
    add_real(parser)
    add_inputs(parser)
    add_run_options(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    return _sizes(arguments) if arguments.choose is None else _choice(arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuses a call that says neither how many nor which, or mixes the two."""
    if arguments.choose is None and arguments.difference is None:
        raise InputError(
            "expected --difference D, how far apart two systems are that are to be told apart, or --choose N, how many "
            "contexts to ask about; see `dialogauge plan --help`"
        )
    if arguments.choose is not None and not arguments.files:
        raise InputError("--choose: expected a FILE to choose from, found none")
    wrong = CHOICE_ONLY if arguments.choose is None else ("difference", "trusted", *SIZES_ONLY)
    for name in wrong:
        if getattr(arguments, name) not in (None, False):
            other = "without --choose" if arguments.choose is None else "with --choose"
            raise InputError(f"--{name}: does not go {other}; call `dialogauge plan` for each by itself")


def _sizes(arguments: argparse.Namespace) -> int:
    from dialogauge.people.plan.make_plan import plan

    given = {name: getattr(arguments, name) for name in SIZES_ONLY if getattr(arguments, name) is not None}
    if arguments.raters is not None:
        given["raters"] = _whole_numbers(arguments.raters)
    for name in OF_FILES:
        if getattr(arguments, name) not in (None, False) and not arguments.files:
            raise InputError(f"--{name.replace('_', '-')}: expected a FILE with ratings of a study, found none")
    planned = plan(
        _corpus(arguments.files, arguments) if arguments.files else None,
        arguments.metrics,
        difference=arguments.difference,
        dimension=arguments.dimension,
        **given,
        **options(arguments),
    )
    warn(planned.caveats, arguments)
    print(planned.render(arguments.format, width=table_width(arguments)), flush=True)
    return 0


def _choice(arguments: argparse.Namespace) -> int:
    from dialogauge.files import check_writable_file, whole_file
    from dialogauge.people.estimate.gather import pairs_in
    from dialogauge.people.plan.choose import PROBABILITY, STRATUM, choose

    out = arguments.out or STDOUT
    if out != STDOUT:
        inputs = (*arguments.files, *(arguments.rated or ()), *(arguments.real or ()))
        check_writable_file(out, arguments.overwrite, [Path(file) for file in inputs])
    given = {
        name: getattr(arguments, name) for name in ("strata", "allocation") if getattr(arguments, name) is not None
    }
    chosen = choose(
        _corpus(arguments.files, arguments),
        arguments.choose,
        arguments.metrics,
        rated=arguments.rated,
        pairs=pairs_in(arguments.files, skip_invalid=arguments.skip_invalid),
        dimension=arguments.dimension,
        **given,
        **options(arguments),
    )
    beside = (PROBABILITY, STRATUM)
    if out == STDOUT:
        # As bytes: a stdout that is not UTF-8 would replace characters, and what comes out is data.
        write_turns(chosen.corpus, sys.stdout.buffer, beside)
        sys.stdout.buffer.flush()
    else:
        with whole_file(out, arguments.overwrite) as file:
            write_turns(chosen.corpus, file, beside)
    warn(chosen.caveats, arguments)
    if out == STDOUT:
        for line in chosen.render("table", width=table_width(arguments)).splitlines():
            remark(line, arguments)
    else:
        print(chosen.render(arguments.format, width=table_width(arguments)), flush=True)
    return 0


def _corpus(files: list[str], arguments: argparse.Namespace) -> Corpus:
    from dialogauge.corpus import load

    corpus = load(files, **reading(arguments), progress=not arguments.quiet)
    if not arguments.trusted:
        return corpus
    from dialogauge.corpus.trusted import trusted_only

    return trusted_only(corpus)


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(piece) for piece in text.split(",")]
    except ValueError:
        raise InputError(f"--raters: expected whole numbers with commas, as 1,3, found {text!r}") from None
