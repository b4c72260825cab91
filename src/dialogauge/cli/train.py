"""dialogauge train: learned metrics from data of one's own."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from dialogauge.cli.common.inputs import add_reading, add_skip_invalid, number, reading, whole
from dialogauge.cli.common.output import add_format, add_plot, check_plot, deliver, remark, table_width, warn
from dialogauge.cli.common.parser import Command, add_subcommands
from dialogauge.errors import InputError, require_neural, unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dialogauge.learned.training.card import TrainingResult

HELP = "train a learned metric on data of your own"
RESUMED = "A run that was broken off goes on where it stopped when the same command is given again."
DESCRIPTION = f"""\
Trains a learned metric. The model is a directory, and a metric by its path.

{RESUMED}"""
EXAMPLES = """\
examples:
  dialogauge train ruber conversations.jsonl --out my-ruber
  dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl
  dialogauge train entailment pairs.jsonl --out my-entailment
  dialogauge train gauge conversations.jsonl --ratings rated.jsonl --out my-gauge

`dialogauge train MODEL --help` explains each model."""

AnyRecipe = TypeVar("AnyRecipe", bound="DataclassInstance")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_subcommands(parser, MODELS, dest="what", metavar="MODEL")


def run(arguments: argparse.Namespace) -> int:
    require_neural(f"dialogauge train {arguments.what}")
    return MODELS[arguments.what].run(arguments)


def _add_files(parser: argparse.ArgumentParser, data: str, files: str) -> None:
    """The options that every model's help begins with."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=files)
    parser.add_argument("--out", required=True, metavar="DIR", type=Path, help="where the model is written")
    parser.add_argument("--overwrite", action="store_true", help="replace the model that is there already")
    parser.add_argument(
        "--validation", metavar="FILE", action="append", default=[], help=f"{data} to validate with (default: a share)"
    )
    parser.add_argument(
        "--validation-share", metavar="S", type=number, help="the share of dialogues to validate with (default: 0.05)"
    )


def _add_recipe(parser: argparse.ArgumentParser, encoder: str, default: str, recipes: str) -> None:
    parser.add_argument("--encoder", metavar="NAME", default="minilm", help=encoder)
    parser.add_argument("--recipe", metavar="R", default=default, help=f"where all that follows starts from: {recipes}")


def _add_steps(parser: argparse.ArgumentParser) -> None:
    """How a transformer that reads pairs is tuned."""
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


def _add_output(parser: argparse.ArgumentParser) -> None:
    """The options that every model's help ends with."""
    parser.add_argument("--half", action="store_true", help="keep weights in 16 bits: half the size")
    parser.add_argument("--seed", metavar="N", type=whole, help="same seed, same weights (default: 0)")
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")
    add_plot(parser, "draw loss and accuracy by epoch")
    add_format(parser)


def _check(arguments: argparse.Namespace, data: str) -> None:
    """Refuses options that do not go together, before any work is done."""
    if arguments.validation and arguments.validation_share is not None:
        raise InputError(f"--validation-share: --validation names {data} to validate with already")
    check_plot(arguments)


def _recipe(recipes: Mapping[str, AnyRecipe], arguments: argparse.Namespace, **read: Any) -> AnyRecipe:
    """The recipe named, but for the options that were given; `read` has those that are not as argparse left them."""
    if arguments.recipe not in recipes:
        raise unknown("recipe", arguments.recipe, recipes)
    base = recipes[arguments.recipe]
    given = {field.name: getattr(arguments, field.name, None) for field in fields(base)} | read
    return replace(base, **{name: value for name, value in given.items() if value is not None})


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What every training takes beside data, directory and recipe."""
    return {
        "encoder": arguments.encoder,
        "half": arguments.half,
        "overwrite": arguments.overwrite,
        "cache": not arguments.no_cache,
        "progress": not arguments.quiet,
    }


def _show(trained: TrainingResult, arguments: argparse.Namespace, metric: str) -> int:
    """Prints what came of training, draws it where asked to, and says how the model is used."""
    warn(trained.caveats, arguments)

    def draw() -> None:
        if arguments.plot:
            from dialogauge.figures import plot_training

            plot_training(trained.card, arguments.plot)

    deliver(trained.render(arguments.format, width=table_width(arguments)), draw)
    call = f"dialogauge score FILE --metrics {quote(f'{metric}[model={arguments.out}]')}"
    remark(f"use it: {call}", arguments)
    return 0


def _add_ruber(parser: argparse.ArgumentParser) -> None:
    _add_files(parser, "conversations", "conversations; gzip is fine, - is stdin")
    parser.add_argument(
        "--leave-out",
        metavar="FILE",
        action="append",
        help="turns whose last utterances of context are not learned from",
    )
    add_reading(parser)
    recipes = "towers (ours, the default) or paper (Ghazarian et al. 2019)"
    _add_recipe(parser, "vectors (default: minilm), static:FILE or elmo:DIR", "towers", recipes)
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
    _add_output(parser)


def _train_ruber(arguments: argparse.Namespace) -> int:
    from dialogauge.learned.ruber.recipe import RECIPES
    from dialogauge.learned.ruber.train import Conversations, train_ruber

    _check(arguments, "conversations")
    share = 0.05 if arguments.validation_share is None else arguments.validation_share
    data = Conversations(arguments.files, arguments.validation, share, arguments.leave_out, **reading(arguments))
    negatives, layers = arguments.negatives, arguments.layers
    kinds = None if negatives is None else tuple(kind.strip() for kind in negatives.split(",") if kind.strip())
    recipe = _recipe(RECIPES, arguments, negatives=kinds, layers=None if layers is None else _layers(layers))
    trained = train_ruber(data, arguments.out, recipe, **_options(arguments))
    return _show(trained, arguments, "ruber_unreferenced")


def _layers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(piece) for piece in text.split(","))
    except ValueError:
        raise InputError(f"--layers: expected whole numbers, as 6,3, found {text!r}") from None


def _add_entailment(parser: argparse.ArgumentParser) -> None:
    _add_files(parser, "pairs", "pairs to learn from; gzip is fine")
    parser.add_argument("--test", metavar="FILE", action="append", default=[], help="pairs to test on; may be repeated")
    add_skip_invalid(parser)
    recipes = (
        "adapter (few weights added to the encoder, the default), transformer (all weights of the encoder) or esim"
    )
    _add_recipe(parser, "default: minilm; for esim also static:FILE, elmo:DIR", "adapter", recipes)
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
    _add_steps(parser)
    _add_output(parser)


def _train_entailment(arguments: argparse.Namespace) -> int:
    from dialogauge.learned.entailment.data import Files
    from dialogauge.learned.entailment.recipe import RECIPES
    from dialogauge.learned.entailment.train import train_entailment

    _check(arguments, "pairs")
    given = (arguments.files, arguments.validation, arguments.test, arguments.validation_share, arguments.skip_invalid)
    trained = train_entailment(Files(*given), arguments.out, _recipe(RECIPES, arguments), **_options(arguments))
    return _show(trained, arguments, "entailment")


def _add_gauge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="conversations; gzip is fine, - is stdin")
    parser.add_argument("--out", required=True, metavar="DIR", type=Path, help="where the model is written")
    parser.add_argument("--overwrite", action="store_true", help="replace the model that is there already")
    parser.add_argument(
        "--ratings", metavar="FILE", action="append", default=[], help="turns that people rated; may be repeated"
    )
    parser.add_argument("--dimension", metavar="NAME", help='what was rated (default: "overall" or what is called so)')
    parser.add_argument(
        "--replies",
        metavar="FILE",
        action="append",
        default=[],
        help="turns with replies that machines made up to contexts of the conversations; those of the system human are "
        "people's own",
    )
    parser.add_argument(
        "--teacher",
        metavar="DIR",
        action="append",
        default=[],
        help="a larger gauge, whose judgements of all replies are learned; may be repeated",
    )
    parser.add_argument(
        "--likelihood",
        metavar="X",
        type=number,
        help="beside teachers, the weight of what a language model says of --replies (default: 0.25)",
    )
    parser.add_argument(
        "--exchanges",
        metavar="N",
        type=whole,
        help="the most exchanges of the conversations to learn from (default: all)",
    )
    parser.add_argument(
        "--validation-share", metavar="S", type=number, help="the share of dialogues to validate with (default: 0.05)"
    )
    add_reading(parser)
    recipes = "adapter (few weights added to the encoder, the default) or transformer (all weights of the encoder)"
    _add_recipe(parser, "default: minilm", "adapter", recipes)
    parser.add_argument("--rank", metavar="N", type=whole, help="of the adapters (default: 16)")
    parser.add_argument("--pool", metavar="P", help="of the encoder's states: cls, mean or max (default: mean)")
    parser.add_argument("--dropout", metavar="P", type=number, help="before the last layer")
    parser.add_argument("--context", metavar="K", type=whole, help="utterances before the reply (default: 3)")
    parser.add_argument("--weight", metavar="X", type=number, help="of the likeness to references (default: 0.4)")
    _add_steps(parser)
    parser.add_argument("--rating-epochs", metavar="N", type=whole, help="rounds over the ratings (default: 3)")
    parser.add_argument("--rating-rate", metavar="X", type=number, help="the learning rate there")
    _add_output(parser)


def _train_gauge(arguments: argparse.Namespace) -> int:
    from dialogauge.learned.gauge.data import SHARE, GaugeFiles
    from dialogauge.learned.gauge.recipe import RECIPES
    from dialogauge.learned.gauge.train import train_gauge

    check_plot(arguments)
    share = SHARE if arguments.validation_share is None else arguments.validation_share
    given = (arguments.files, arguments.replies, arguments.ratings, arguments.dimension, share)
    files = GaugeFiles(*given, **reading(arguments))
    recipe = _recipe(RECIPES, arguments)
    trained = train_gauge(files, arguments.out, recipe, teacher=arguments.teacher, **_options(arguments))
    return _show(trained, arguments, "gauge")


MODELS = {
    "ruber": Command(
        help="how related a response is to what was said, from conversations (RUBER's unreferenced metric)",
        description=f"""\
Trains RUBER's unreferenced metric: how related a response is to what was said before it, learned by telling true
responses from others. Needs conversations, no ratings. The model is a directory, and a metric by its path.

{RESUMED}""",
        examples="""\
examples:
  dialogauge train ruber conversations.jsonl --out my-ruber
  dialogauge score responses.jsonl --metrics 'ruber[model=my-ruber],ruber_unreferenced[model=my-ruber]'
  dialogauge train ruber train.txt --validation valid.txt --recipe paper --sentence max --out bert-ruber
  dialogauge train ruber logs.jsonl --encoder static:glove.txt --recipe paper --sentence rnn --loss ranking --out m""",
        add_arguments=_add_ruber,
        run=_train_ruber,
    ),
    "entailment": Command(
        help="whether a response follows from what was said, ignores or contradicts it, from inference pairs",
        description=f"""\
Trains a model that says whether a response follows from what was said before it, ignores it or contradicts it, from
pairs of premise and hypothesis with their labels: those that `dialogauge synthesize entailment` makes from
conversations, or those of SNLI, MultiNLI or Dialogue NLI. The model is a directory, and a metric by its path.

Of files that say of each pair whether it is for training, validation or test, each part is used as such.
{RESUMED}""",
        examples="""\
examples:
  dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl
  dialogauge train entailment pairs.jsonl --out my-entailment
  dialogauge score responses.jsonl --metrics 'entailment[model=my-entailment]'
  dialogauge train entailment pairs.jsonl --recipe transformer --test snli_test.jsonl --out tuned
  dialogauge train entailment pairs.jsonl --recipe esim --encoder static:glove.txt --out esim""",
        add_arguments=_add_entailment,
        run=_train_entailment,
    ),
    "gauge": Command(
        help="how good a reply is: the default metric, from conversations and, where there are any, ratings",
        description=f"""\
Trains the model of `gauge`: an encoder that reads context and reply at once learns to tell people's replies from those
of elsewhere, from broken, generic and parroted ones, and from replies that machines made up (--replies). With ratings
of people (--ratings), it then learns to rank replies as they do. The model is a directory, and a metric by its path.

{RESUMED}""",
        examples="""\
examples:
  dialogauge train gauge conversations.jsonl --out my-gauge
  dialogauge train gauge conversations.jsonl --ratings conture.json --ratings fed_data.json --out my-gauge
  dialogauge score responses.jsonl --metrics 'gauge[model=my-gauge]'
  dialogauge train gauge conversations.jsonl --encoder mpnet --recipe transformer --ratings rated.jsonl --out large
  dialogauge train gauge conversations.jsonl --teacher large --out small""",
        add_arguments=_add_gauge,
        run=_train_gauge,
    ),
}
