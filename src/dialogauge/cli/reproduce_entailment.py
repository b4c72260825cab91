"""dialogauge reproduce entailment-table1 and so on: the tables and figures of Dziri et al. 2019."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.papers.entailment.table3 import EntailmentInputs

DESCRIPTION = """\
Dziri et al. 2019, Evaluating Coherence in Dialogue Systems using Entailment; its judgements of Reddit and OpenSubtitles
are no longer to be had, and GRADE, FED and ConTurE stand in for them, as far as they are in the folder:

  entailment-table1   labels of an inference corpus made from conversations
  entailment-table2   how often a model's class is the one that people's ratings come to
  entailment-table3   agreement of distances from the context, of word vectors and of entailment
  entailment-figure1  people's scores by predicted class, with tests, and classes by system
  entailment-figure2  distances and Extrema against people's scores"""
EXAMPLES = """\
  dialogauge reproduce entailment-table1 --conversations valid_both_original_no_cands.txt.gz
  dialogauge reproduce entailment-table2 --corpora rated --entailment-models ESIM=models/esim --thresholds 0.4,0.6
  dialogauge reproduce entailment-table3 --corpora rated --vectors glove.txt --only ss_h1,extrema/word2vec,entailment
  dialogauge reproduce entailment-figure1 --corpora rated --only grade-convai2,fed --plot figure1.png"""
FOLDER = """\
For the entailment paper's it has GRADE's evaluation/ (github.com/li3cmz/GRADE), fed_data.json of FED
(shikib.com/fed_data.json) and data.json of ConTurE (github.com/alexa/conture), or folders with them; they are found by
their content."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--entailment-models",
        metavar="LIST",
        action="append",
        help="for the entailment paper's: models of `dialogauge train entailment`, as ESIM=DIR, beside the one that"
        " comes with dialogauge; can be given again",
    )
    parser.add_argument(
        "--thresholds",
        metavar="LOW,HIGH",
        help="for entailment-table2: mean ratings, from 0 to 1, below which a response counts as contradiction and"
        " above which as entailment (default: 1/3 and 2/3)",
    )


def _table1(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.table1 import reproduce_entailment_table1

    return reproduce_entailment_table1(arguments.conversations or (), seed=arguments.seed, progress=not arguments.quiet)


def _table2(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.classes import parse_thresholds
    from dialogauge.papers.entailment.table2 import reproduce_entailment_table2

    inputs, rule = _inputs(arguments), parse_thresholds(arguments.thresholds)
    return reproduce_entailment_table2(inputs.folder, inputs.entailment or {}, rule, inputs.only, **_running(arguments))


def _table3(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.table3 import reproduce_entailment_table3

    return reproduce_entailment_table3(_inputs(arguments), **_running(arguments), **_resampling(arguments))


def _figure1(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.figure1 import reproduce_entailment_figure1

    inputs = _inputs(arguments)
    return reproduce_entailment_figure1(inputs.folder, inputs.entailment or {}, inputs.only, **_running(arguments))


def _figure2(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.figure2 import reproduce_entailment_figure2

    return reproduce_entailment_figure2(_inputs(arguments), **_running(arguments), **_resampling(arguments))


def _inputs(arguments: argparse.Namespace) -> EntailmentInputs:
    from dialogauge.papers.entailment.published import parse_entailment_models
    from dialogauge.papers.entailment.rows import BERT_BASE
    from dialogauge.papers.entailment.table3 import EntailmentInputs
    from dialogauge.papers.models import parse_models

    models = parse_models(arguments.models)
    if others := models.keys() - {BERT_BASE}:
        raise InputError(f"--models: this paper has {BERT_BASE} alone, found {', '.join(sorted(others))}")
    only = [name for name in map(str.strip, (arguments.only or "").split(",")) if name]
    if arguments.only is not None and not only:
        raise InputError("--only: expected a name, found none")
    given = parse_entailment_models(arguments.entailment_models or ())
    return EntailmentInputs(arguments.corpora, arguments.vectors, models, given, only)


def _running(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"cache": not arguments.no_cache, "progress": not arguments.quiet}


def _resampling(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"resamples": arguments.resamples, "seed": arguments.seed}


def plot(what: str, result: Any, path: Path) -> None:
    """Draws what was computed."""
    if what == "entailment-figure1":
        from dialogauge.figures import plot_class_boxes

        plot_class_boxes(result.panels, path)
    else:
        from dialogauge.figures import plot_similarity_scatter

        plot_similarity_scatter(result.panels, path, result.seed)


OPTIONS: dict[str, Any] = {"entailment_models": None, "thresholds": None}
"""Those of this paper alone, by their defaults."""
JUDGING = {"corpora", "entailment_models", "only", "no_cache"}
COMPARING = {"corpora", "only", "models", "no_cache", "resamples", "seed"}
TAKES = {
    "entailment-table1": {"conversations", "seed"},
    "entailment-table2": JUDGING | {"thresholds"},
    "entailment-table3": COMPARING | {"entailment_models", "vectors"},
    "entailment-figure1": JUDGING | {"plot"},
    "entailment-figure2": COMPARING | {"plot"},
}
WHAT: dict[str, Callable[[argparse.Namespace], Any]] = {
    "entailment-table1": _table1,
    "entailment-table2": _table2,
    "entailment-table3": _table3,
    "entailment-figure1": _figure1,
    "entailment-figure2": _figure2,
}
