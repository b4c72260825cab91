"""dialogauge train ruber: how related a response is to its context, learned from one's own conversations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import add_reading, number, reading, whole
from dialogauge.cli.training import add_last, check, named_recipe, show
from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.learned.ruber.recipe import RuberRecipe

HELP = "how related a response is to what was said, from conversations (RUBER's unreferenced metric)"
DESCRIPTION = """\
Trains RUBER's unreferenced metric: how related a response is to what was said before it, learned by telling true
responses from others. Needs conversations, no ratings. The model is a directory, and a metric by its path.

A run that was broken off goes on where it stopped when the same command is given again."""
EXAMPLES = """\
examples:
  dialogauge train ruber conversations.jsonl --out my-ruber
  dialogauge score responses.jsonl --metrics 'ruber[model=my-ruber],ruber_unreferenced[model=my-ruber]'
  dialogauge train ruber train.txt --validation valid.txt --recipe paper --sentence max --out bert-ruber
  dialogauge train ruber logs.jsonl --encoder static:glove.txt --recipe paper --sentence rnn --loss ranking --out m"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="conversations; gzip is fine, - is stdin")
    parser.add_argument("--out", required=True, metavar="DIR", type=Path, help="where the model is written")
    parser.add_argument("--overwrite", action="store_true", help="replace the model that is there already")
    parser.add_argument(
        "--validation", metavar="FILE", action="append", help="conversations to validate with (default: a share)"
    )
    parser.add_argument(
        "--validation-share", metavar="S", type=number, help="the share of dialogues to validate with (default: 0.05)"
    )
    parser.add_argument(
        "--leave-out",
        metavar="FILE",
        action="append",
        help="turns whose last utterances of context are not learned from",
    )
    add_reading(parser)
    parser.add_argument("--encoder", metavar="NAME", default="minilm", help="vectors (default: minilm), or static:FILE")
    parser.add_argument(
        "--recipe",
        metavar="R",
        default="towers",
        help="where all that follows starts from: towers (ours, the default) or paper (Ghazarian et al. 2019)",
    )
    parser.add_argument("--network", metavar="N", help="ruber or towers")
    parser.add_argument("--sentence", metavar="S", help="rnn, max or mean")
    parser.add_argument("--layers", metavar="LIST", help="layers of the encoder, side by side (towers: 6,3 of minilm)")
    parser.add_argument("--loss", metavar="L", help="cross_entropy, ranking or softmax")
    parser.add_argument("--margin", metavar="X", type=number, help="of the ranking loss (default: 0.5)")
    parser.add_argument(
        "--negatives",
        metavar="LIST",
        help="one for each pair and kind: random, same_length, in_batch, hard",
    )
    parser.add_argument("--dropout", metavar="P", type=number, help="before each layer")
    parser.add_argument("--context", metavar="K", type=whole, help="utterances before the response that are looked at")
    parser.add_argument("--members", metavar="N", type=whole, help="networks whose mean is the score (default: 1)")
    parser.add_argument("--batch", metavar="N", type=whole, help="pairs at a time")
    parser.add_argument("--rate", metavar="X", type=number, help="the learning rate")
    parser.add_argument("--schedule", metavar="S", help="of the learning rate: plateau or linear")
    parser.add_argument("--patience", metavar="N", type=whole, help="epochs until the rate is halved (default: 5)")
    parser.add_argument("--stop", metavar="N", type=whole, help="epochs until training ends (default: 20)")
    parser.add_argument("--epochs", metavar="N", type=whole, help="the most epochs")
    add_last(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.learned.ruber.train import Conversations, train_ruber

    check(arguments, "conversations")
    trained = train_ruber(
        Conversations(
            arguments.files,
            arguments.validation,
            0.05 if arguments.validation_share is None else arguments.validation_share,
            arguments.leave_out,
            **reading(arguments),
        ),
        arguments.out,
        make_recipe(arguments),
        encoder=arguments.encoder,
        half=arguments.half,
        overwrite=arguments.overwrite,
        cache=not arguments.no_cache,
        progress=not arguments.quiet,
    )
    show(trained, arguments, "ruber_unreferenced")
    return 0


def make_recipe(arguments: argparse.Namespace) -> RuberRecipe:
    """The recipe named, but for what was given."""
    from dialogauge.learned.ruber.recipe import RECIPES

    negatives, layers = arguments.negatives, arguments.layers
    kinds = None if negatives is None else tuple(kind.strip() for kind in negatives.split(",") if kind.strip())
    return named_recipe(RECIPES, arguments, negatives=kinds, layers=None if layers is None else _layers(layers))


def _layers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(piece) for piece in text.split(","))
    except ValueError:
        raise InputError(f"--layers: expected whole numbers, as 6,3, found {text!r}") from None
