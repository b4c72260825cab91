"""dialogauge estimate: what people would say of all turns, from ratings of some."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import (
    METRICS_OR_DEFAULT,
    Joined,
    add_inputs,
    add_names,
    add_real,
    add_run_options,
    listed_names,
    options,
    reading,
    whole,
)
from dialogauge.cli.common.output import add_cite, add_presentation, rendered, warn

if TYPE_CHECKING:
    from dialogauge.corpus import Corpus
    from dialogauge.corpus.rated_pairs import RatedPair

PLANNED = 100
HELP = "say what people would, from few ratings"
DESCRIPTION = """\
What people would say of each system on all its turns, from ratings of some of them and metrics on all, with intervals
that hold however bad the metric is (prediction-powered inference, over dialogues or contexts); differences between
systems, corrected by Holm; of pairwise ratings, win rates (Bradley-Terry with ties). Beside them the ratings alone, and
how many more of them the metric was worth. The rated turns must be a random choice, such as `dialogauge plan --choose`
makes; a field `probability` says how likely each was to be chosen."""
EXAMPLES = """\
examples:
  dialogauge estimate responses.jsonl --ratings study.jsonl --metrics gauge       what `rate --export` wrote
  dialogauge estimate responses.jsonl --ratings ratings.csv --metrics bertscore,length
  dialogauge estimate partly_rated.jsonl                      one file, in which some turns have ratings
  dialogauge estimate responses.jsonl --ratings pairs.jsonl --metrics gauge       win rates, from pairwise ratings
  dialogauge estimate responses.jsonl --ratings so_far.jsonl --anytime 200        may be looked at again and again"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="all responses; gzip is fine, - is stdin")
    parser.add_argument("--metrics", metavar="LIST", action=Joined, help=METRICS_OR_DEFAULT)
    parser.add_argument(
        "--ratings",
        metavar="FILE",
        action="append",
        help="what people said, where it stands apart: from `rate --export`, or as id, system, rater, dimension, value",
    )
    add_names(parser, "--dimension", "what was rated, or all (default: overall where there is one, else all)")
    parser.add_argument(
        "--level", choices=("turn", "dialogue"), default="turn", help="what was rated: turns, or whole dialogues"
    )
    parser.add_argument(
        "--these-turns",
        action="store_true",
        help="about these turns alone, and not about turns such as these: narrower where many of them are rated",
    )
    parser.add_argument(
        "--anytime",
        metavar="PLANNED",
        nargs="?",
        const=PLANNED,
        type=whole,
        help="intervals and p-values that hold however often one looks, narrowest at so many rated dialogues"
        f" ({PLANNED})",
    )
    parser.add_argument("--trusted", action="store_true", help="leave out ratings that failed a study's checks")
    add_real(parser)
    add_inputs(parser)
    add_run_options(parser)
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.people.estimate.estimate_corpus import estimate

    corpus, pairs = _read(arguments)
    result = estimate(
        corpus,
        arguments.metrics,
        ratings=arguments.ratings,
        pairs=pairs,
        level=arguments.level,
        dimension=listed_names(arguments.dimension),
        these_turns=arguments.these_turns,
        anytime=arguments.anytime,
        trusted=arguments.trusted,
        **options(arguments),
    )
    warn(result.caveats, arguments)
    print(rendered(result, arguments), flush=True)
    return 0


def _read(arguments: argparse.Namespace) -> tuple[Corpus, list[RatedPair]]:
    """The turns of all files, and the pairs of those that hold any."""
    from dialogauge.corpus import load
    from dialogauge.people.estimate.gather import pairs_in

    corpus = load(arguments.files, **reading(arguments), progress=not arguments.quiet)
    return corpus, pairs_in(arguments.files, trusted=arguments.trusted, skip_invalid=arguments.skip_invalid)
