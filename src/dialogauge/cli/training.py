"""What the models of `dialogauge train` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from dialogauge.cli.common.inputs import whole
from dialogauge.cli.common.output import add_format, remark, table_width, warn
from dialogauge.errors import InputError, unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dialogauge.learned.training.card import TrainingResult


AnyRecipe = TypeVar("AnyRecipe", bound="DataclassInstance")


def add_last(parser: argparse.ArgumentParser) -> None:
    """The options that every model's help ends with."""
    parser.add_argument("--half", action="store_true", help="keep weights in 16 bits: half the size")
    parser.add_argument("--seed", metavar="N", type=whole, help="same seed, same weights (default: 0)")
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")
    parser.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw loss and accuracy by epoch (.png, .svg or .pdf)"
    )
    add_format(parser)


def check(arguments: argparse.Namespace, what: str) -> None:
    """Refuses options that do not go together, before any work is done."""
    if arguments.validation and arguments.validation_share is not None:
        raise InputError(f"--validation-share: --validation names {what} to validate with already")
    if arguments.plot:
        from dialogauge.figures.drawing import check_figure_path

        check_figure_path(arguments.plot)


def named_recipe(recipes: Mapping[str, AnyRecipe], arguments: argparse.Namespace, **read: Any) -> AnyRecipe:
    """The recipe named, but for the options that were given; `read` has those that are not as argparse left them."""
    if arguments.recipe not in recipes:
        raise unknown("recipe", arguments.recipe, recipes)
    base = recipes[arguments.recipe]
    given = {field.name: getattr(arguments, field.name, None) for field in fields(base)} | read
    return replace(base, **{name: value for name, value in given.items() if value is not None})


def show(trained: TrainingResult, arguments: argparse.Namespace, metric: str) -> None:
    """Prints what came of training, draws it where asked to, and says how the model is used."""
    warn(trained.caveats, arguments)
    print(trained.render(arguments.format, width=table_width(arguments)), flush=True)
    if arguments.plot:
        from dialogauge.figures import plot_training

        plot_training(trained.card, arguments.plot)
    call = f"dialogauge score FILE --metrics {quote(f'{metric}[model={arguments.out}]')}"
    remark(f"use it: {call}", arguments)
