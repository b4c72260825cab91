"""dialogauge train: learned metrics from data of one's own."""

from __future__ import annotations

import argparse

from dialogauge.cli import train_entailment, train_ruber
from dialogauge.cli.common.parser import add_subcommands
from dialogauge.errors import require_neural

HELP = "train a learned metric on data of your own"
DESCRIPTION = """\
Trains a learned metric. The model is a directory, and a metric by its path.

A run that was broken off goes on where it stopped when the same command is given again."""
EXAMPLES = """\
examples:
  dialogauge train ruber conversations.jsonl --out my-ruber
  dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl
  dialogauge train entailment pairs.jsonl --out my-entailment

`dialogauge train MODEL --help` explains each model."""
MODELS = {"ruber": train_ruber, "entailment": train_entailment}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_subcommands(parser, MODELS, dest="what", metavar="MODEL")


def run(arguments: argparse.Namespace) -> int:
    require_neural(f"dialogauge train {arguments.what}")
    code: int = MODELS[arguments.what].run(arguments)
    return code
