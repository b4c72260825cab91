"""dialogauge train entailment: whether a response follows from what was said, learned from inference pairs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import number, whole
from dialogauge.cli.training import add_last, check, named_recipe, show

if TYPE_CHECKING:
    from dialogauge.learned.entailment.recipe import EntailmentRecipe

HELP = "whether a response follows from what was said, ignores or contradicts it, from inference pairs"
DESCRIPTION = """\
Trains a model that says whether a response follows from what was said before it, ignores it or contradicts it, from
pairs of premise and hypothesis with their labels: those that `dialogauge synthesize entailment` makes from
conversations, or those of SNLI, MultiNLI or Dialogue NLI. The model is a directory, and a metric by its path.

Of files that say of each pair whether it is for training, validation or test, each part is used as such.
A run that was broken off goes on where it stopped when the same command is given again."""
EXAMPLES = """\
examples:
  dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl
  dialogauge train entailment pairs.jsonl --out my-entailment
  dialogauge score responses.jsonl --metrics 'entailment[model=my-entailment]'
  dialogauge train entailment pairs.jsonl --recipe transformer --test snli_test.jsonl --out tuned
  dialogauge train entailment pairs.jsonl --recipe esim --encoder static:glove.txt --out esim"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="pairs to learn from; gzip is fine")
    parser.add_argument("--out", required=True, metavar="DIR", type=Path, help="where the model is written")
    parser.add_argument("--overwrite", action="store_true", help="replace the model that is there already")
    parser.add_argument(
        "--validation", metavar="FILE", action="append", default=[], help="pairs to validate with (default: a share)"
    )
    parser.add_argument(
        "--validation-share", metavar="S", type=number, help="the share of dialogues to validate with (default: 0.05)"
    )
    parser.add_argument("--test", metavar="FILE", action="append", default=[], help="pairs to test on; may be repeated")
    parser.add_argument(
        "--skip-invalid", action="store_true", help="leave out lines that cannot be read, and count them"
    )
    parser.add_argument(
        "--encoder", metavar="NAME", default="minilm", help="default: minilm; for esim also static:FILE"
    )
    parser.add_argument(
        "--recipe",
        metavar="R",
        default="adapter",
        help="where all that follows starts from: adapter (few weights added to the encoder, the default), transformer "
        "(all weights of the encoder) or esim",
    )
    parser.add_argument("--rank", metavar="N", type=whole, help="of the adapters (default: 16)")
    parser.add_argument("--pool", metavar="P", help="of a transformer's states: cls, mean or max (default: cls)")
    parser.add_argument("--units", metavar="N", type=whole, help="of each direction of ESIM (default: 128)")
    parser.add_argument("--dropout", metavar="P", type=number, help="before each layer")
    parser.add_argument(
        "--hypothesis-only",
        action="store_true",
        default=None,
        help="hide the premise: shows how much labels can be told without it",
    )
    parser.add_argument("--batch", metavar="N", type=whole, help="pairs at a time")
    parser.add_argument("--accumulate", metavar="N", type=whole, help="batches before weights change (default: 1)")
    parser.add_argument("--rate", metavar="X", type=number, help="the learning rate")
    parser.add_argument(
        "--warm-up", metavar="S", type=number, help="the share of steps in which it rises (default: 0.06)"
    )
    parser.add_argument("--weight-decay", metavar="X", type=number, help="of matrices (default: 0.01)")
    parser.add_argument("--epochs", metavar="N", type=whole, help="the most epochs")
    parser.add_argument("--stop", metavar="N", type=whole, help="epochs without gain until training ends (default: 2)")
    parser.add_argument(
        "--full-precision",
        dest="mixed",
        action="store_false",
        default=None,
        help="32 bits also on a GPU (default there: 16 where they suffice)",
    )
    add_last(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.learned.entailment.data import Files
    from dialogauge.learned.entailment.train import train_entailment

    check(arguments, "pairs")
    trained = train_entailment(
        Files(
            arguments.files,
            arguments.validation,
            arguments.test,
            arguments.validation_share,
            arguments.skip_invalid,
        ),
        arguments.out,
        make_recipe(arguments),
        encoder=arguments.encoder,
        half=arguments.half,
        overwrite=arguments.overwrite,
        cache=not arguments.no_cache,
        progress=not arguments.quiet,
    )
    show(trained, arguments, "entailment")
    return 0


def make_recipe(arguments: argparse.Namespace) -> EntailmentRecipe:
    """The recipe named, but for what was given."""
    from dialogauge.learned.entailment.recipe import RECIPES

    return named_recipe(RECIPES, arguments)
