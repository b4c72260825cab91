"""dialogauge reproduce: the papers' tables and figures beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.cli.output import add_format, on_terminal, warn
from dialogauge.errors import InputError, unknown

if TYPE_CHECKING:
    from dialogauge.reproduce.correlations import Recipe

HELP = "set the papers' tables and figures beside ours"
DESCRIPTION = """\
Computes tables and figures of Xiang et al. 2021 (Assessing Dialogue Systems with Distribution Distances) anew from
its files, and shows the published numbers, ours by the paper's recipes, and ours signed with intervals.

  table3    agreement with the overall ratings of six corpora
  table4    whether the vectors are Gaussian
  table5    agreement with four ratings of Daily(Z)
  figure1   BERTScore, FBD and PRD by corpus
  figure2   BERTScore, FBD and PRD by language model
  faults    what is wrong with the paper's files, counted"""
EXAMPLES = """\
examples:
  dialogauge reproduce table3 --corpora frechet-bert-distance/datasets
  dialogauge reproduce table3 --corpora datasets --metrics bleu,meteor,rouge_l --format markdown
  dialogauge reproduce table5 --corpora datasets --models roberta-base=roberta-base --vectors glove.txt
  dialogauge reproduce figure2 --corpora datasets --plot figure2.png
  dialogauge reproduce faults --corpora datasets --grade GRADE/evaluation --only mixtures

--corpora is the folder with the six files of github.com/yhlleo/frechet-bert-distance, datasets/."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="WHAT", help="table3, table4, table5, figure1, figure2 or faults")
    parser.add_argument("--corpora", metavar="DIR", type=Path, required=True, help="the folder of annotation files")
    parser.add_argument("--metrics", metavar="LIST", help="only these rows, by our names: bleu,meteor,rouge_l")
    parser.add_argument(
        "--models",
        metavar="LIST",
        help="encoders for the paper's models, as roberta-base=NAME"
        " (default: the models themselves where they are found, else minilm and mpnet)",
    )
    parser.add_argument("--vectors", metavar="FILE", help="word vectors for Greedy, Average and Extrema, as GloVe's")
    parser.add_argument("--own-recipes", action="store_true", help="our metrics in place of the paper's recipes")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the figure (.png, .svg or .pdf)")
    parser.add_argument("--only", metavar="FAULT", help="for faults: one check")
    parser.add_argument("--grade", metavar="DIR", type=Path, help="for faults: GRADE's directory, with eval_data in it")
    parser.add_argument(
        "--conversations",
        metavar="FILE",
        type=Path,
        action="append",
        help="for faults: what people said, in which random responses are looked up",
    )
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")
    parser.add_argument("--resamples", metavar="N", type=int, default=1000, help="resamples (default: 1000)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="same seed, same numbers (default: 0)")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation.settings import Settings

    if arguments.what not in WHAT:
        raise unknown("table or figure", arguments.what, WHAT)
    for option in OPTIONS.keys() - TAKES[arguments.what]:
        if getattr(arguments, option) != OPTIONS[option]:
            raise InputError(f"--{option.replace('_', '-')}: {arguments.what} has no use for it")
    Settings(arguments.seed, arguments.resamples)
    if arguments.plot:
        from dialogauge.report.figures import check_figure_path

        check_figure_path(arguments.plot)
    result = WHAT[arguments.what](arguments)
    warn(result.caveats)
    print(result.render(arguments.format), flush=True)
    if arguments.plot:
        from dialogauge.report import plot_paper_bars

        plot_paper_bars(result.panels, arguments.plot)
    return 0


def _recipe(arguments: argparse.Namespace) -> Recipe:
    from dialogauge.reproduce.correlations import Recipe
    from dialogauge.reproduce.models import parse_models

    rows = [name for name in map(str.strip, (arguments.metrics or "").split(",")) if name]
    if arguments.metrics is not None and not rows:
        raise InputError("--metrics: expected a name, found none")
    return Recipe(parse_models(arguments.models), arguments.vectors, arguments.own_recipes, rows)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "cache": not arguments.no_cache,
        "resamples": arguments.resamples,
        "seed": arguments.seed,
        "progress": on_terminal(),
    }


def _table3(arguments: argparse.Namespace) -> Any:
    from dialogauge.reproduce.correlations import reproduce_table3

    return reproduce_table3(arguments.corpora, _recipe(arguments), **_options(arguments))


def _table4(arguments: argparse.Namespace) -> Any:
    from dialogauge.reproduce.models import parse_models
    from dialogauge.reproduce.normality import reproduce_table4

    options = _options(arguments)
    del options["resamples"]
    return reproduce_table4(arguments.corpora, parse_models(arguments.models), **options)


def _table5(arguments: argparse.Namespace) -> Any:
    from dialogauge.reproduce.correlations import reproduce_table5

    return reproduce_table5(arguments.corpora, _recipe(arguments), **_options(arguments))


def _figure1(arguments: argparse.Namespace) -> Any:
    from dialogauge.reproduce.bars import reproduce_figure1

    return reproduce_figure1(arguments.corpora, _recipe(arguments), **_options(arguments))


def _figure2(arguments: argparse.Namespace) -> Any:
    from dialogauge.reproduce.bars import reproduce_figure2

    return reproduce_figure2(arguments.corpora, _recipe(arguments), **_options(arguments))


def _faults(arguments: argparse.Namespace) -> Any:
    from dialogauge.reproduce.faults import faults

    conversations = arguments.conversations or ()
    return faults(arguments.corpora, arguments.only, grade=arguments.grade, conversations=conversations)


OPTIONS: dict[str, Any] = {
    "metrics": None,
    "models": None,
    "vectors": None,
    "own_recipes": False,
    "plot": None,
    "only": None,
    "grade": None,
    "conversations": None,
    "no_cache": False,
    "resamples": 1000,
    "seed": 0,
}
"""Options by their defaults."""
MAKING = {"metrics", "models", "vectors", "own_recipes", "no_cache", "resamples", "seed"}
TAKES = {
    "table3": MAKING,
    "table4": {"models", "no_cache", "seed"},
    "table5": MAKING,
    "figure1": (MAKING - {"vectors"}) | {"plot"},
    "figure2": (MAKING - {"vectors"}) | {"plot"},
    "faults": {"only", "grade", "conversations"},
}
"""The options that each has a use for."""
WHAT: dict[str, Callable[[argparse.Namespace], Any]] = {
    "table3": _table3,
    "table4": _table4,
    "table5": _table5,
    "figure1": _figure1,
    "figure2": _figure2,
    "faults": _faults,
}
