"""dialogauge reproduce: the papers' tables and figures beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.cli import reproduce_entailment
from dialogauge.cli.common.inputs import Joined, whole
from dialogauge.cli.common.output import add_format, add_plot, check_plot, table_width, warn
from dialogauge.errors import InputError, require_neural, unknown

if TYPE_CHECKING:
    from dialogauge.papers.fbd.correlations import PaperRecipe
    from dialogauge.papers.ruber.tables import RuberInputs

HELP = "set the papers' tables and figures beside ours"
DESCRIPTION = f"""\
Computes tables and figures of papers anew, and shows the published numbers beside ours.

Xiang et al. 2021, Assessing Dialogue Systems with Distribution Distances; ours by its recipes, signed, with intervals:

  table3        agreement with the overall ratings of six corpora
  table4        whether the vectors are Gaussian
  table5        agreement with four ratings of Daily(Z)
  figure1       BERTScore, FBD and PRD by corpus
  figure2       BERTScore, FBD and PRD by language model
  faults        what is wrong with the paper's files, counted

Ghazarian et al. 2019, Better Automatic Evaluation of Open-Domain Dialogue Systems with Contextualized Embeddings; with
networks trained anew on DailyDialog, several for each row:

  ruber-table3  agreement of RUBER's unreferenced metric by embedding, sentence representation and loss
  ruber-table4  agreement of its blends with the referenced metric

Networks are kept. A run that was broken off goes on where it stopped when the same command is given again, and runs
with different --only and the same --keep add up to one table.

{reproduce_entailment.DESCRIPTION}"""
EXAMPLES = f"""\
examples:
  dialogauge reproduce table3 --corpora frechet-bert-distance/datasets
  dialogauge reproduce table3 --corpora datasets --metrics bleu,meteor,rouge_l --format markdown
  dialogauge reproduce table5 --corpora datasets --models roberta-base=roberta-base --vectors glove.txt
  dialogauge reproduce figure2 --corpora datasets --plot figure2.png
  dialogauge reproduce faults --corpora datasets --grade GRADE/evaluation --only mixtures
  dialogauge reproduce ruber-table3 --corpora PredictiveEngagement/data --vectors glove.txt --keep networks \\
      --conversations dialogues_train.txt --validation dialogues_validation.txt
  dialogauge reproduce ruber-table4 --corpora PredictiveEngagement/data --only bert/max/cross_entropy --seeds 1 \\
      --conversations dialogues_train.txt --validation dialogues_validation.txt
{reproduce_entailment.EXAMPLES}

--corpora is the folder with the six files of github.com/yhlleo/frechet-bert-distance, datasets/. For ruber-table3 and
ruber-table4 it has Eng_Scores_queries_gen_gtruth_replies.csv of github.com/PlusLabNLP/PredictiveEngagement, data/.
{reproduce_entailment.FOLDER}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="WHAT", help=f"{', '.join(list(WHAT)[:-1])} or {list(WHAT)[-1]}")
    parser.add_argument("--corpora", metavar="DIR", type=Path, help="the folder of rated files")
    parser.add_argument(
        "--metrics", metavar="LIST", action=Joined, help="only these rows, by our names: bleu,meteor,rouge_l"
    )
    parser.add_argument(
        "--models",
        metavar="LIST",
        help="encoders for the paper's models, as roberta-base=NAME"
        " (default: the models themselves where they are found, else minilm and mpnet)",
    )
    parser.add_argument(
        "--vectors",
        metavar="FILE",
        help="word vectors, as GloVe's: for Greedy, Average and Extrema, and for RUBER's rows with static vectors",
    )
    parser.add_argument("--own-recipes", action="store_true", help="our metrics in place of the paper's recipes")
    add_plot(parser, "draw the figure")
    parser.add_argument(
        "--only",
        metavar="LIST",
        help="for faults: one check; for RUBER's tables: networks, as word2vec/rnn/ranking,bert/max/cross_entropy; for"
        " the entailment paper's: rows of its table 3, as ss_h1/use,extrema; elsewhere corpora, as grade-convai2,fed",
    )
    parser.add_argument("--grade", metavar="DIR", type=Path, help="for faults: GRADE's directory, with eval_data in it")
    parser.add_argument(
        "--conversations",
        metavar="FILE",
        type=Path,
        action="append",
        help="for faults: what people said, in which random responses are looked up; for RUBER's tables: DailyDialog's"
        " training file; for entailment-table1: what pairs are made from",
    )
    parser.add_argument(
        "--validation", metavar="FILE", type=Path, action="append", help="for RUBER's tables: its validation file"
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=whole,
        default=5,
        help="for RUBER's tables: networks for each row (default: 5)",
    )
    parser.add_argument(
        "--keep",
        metavar="DIR",
        type=Path,
        help="for RUBER's tables: where trained networks are kept and looked for (default: in the cache)",
    )
    reproduce_entailment.add_arguments(parser)
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")
    parser.add_argument("--resamples", metavar="N", type=whole, default=1000, help="resamples (default: 1000)")
    parser.add_argument("--seed", metavar="N", type=whole, default=0, help="same seed, same numbers (default: 0)")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation.options import Settings

    if arguments.what not in WHAT:
        raise unknown("table or figure", arguments.what, WHAT)
    for option in OPTIONS.keys() - TAKES[arguments.what]:
        if getattr(arguments, option) != OPTIONS[option]:
            raise InputError(f"--{option.replace('_', '-')}: {arguments.what} has no use for it")
    if arguments.corpora is None and "corpora" in TAKES[arguments.what]:
        raise InputError(f"--corpora: {arguments.what} needs the folder of rated files, found none")
    Settings(arguments.seed, arguments.resamples)
    check_plot(arguments)
    result = WHAT[arguments.what](arguments)
    warn(result.caveats, arguments)
    print(result.render(arguments.format, width=table_width(arguments)), flush=True)
    if arguments.plot and arguments.what in reproduce_entailment.WHAT:
        reproduce_entailment.plot(arguments.what, result, arguments.plot)
    elif arguments.plot:
        from dialogauge.figures import plot_paper_bars

        plot_paper_bars(result.panels, arguments.plot)
    return 0


def _recipe(arguments: argparse.Namespace) -> PaperRecipe:
    from dialogauge.papers.fbd.correlations import PaperRecipe
    from dialogauge.papers.models import parse_models

    rows = _listed(arguments.metrics, "--metrics")
    return PaperRecipe(parse_models(arguments.models), arguments.vectors, arguments.own_recipes, rows)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "cache": not arguments.no_cache,
        "resamples": arguments.resamples,
        "seed": arguments.seed,
        "progress": not arguments.quiet,
    }


def _table3(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.correlations import reproduce_table3

    return reproduce_table3(arguments.corpora, _recipe(arguments), **_options(arguments))


def _table4(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.table4 import reproduce_table4
    from dialogauge.papers.models import parse_models

    options = _options(arguments)
    del options["resamples"]
    return reproduce_table4(arguments.corpora, parse_models(arguments.models), **options)


def _table5(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.correlations import reproduce_table5

    return reproduce_table5(arguments.corpora, _recipe(arguments), **_options(arguments))


def _figure1(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.figures import reproduce_figure1

    return reproduce_figure1(arguments.corpora, _recipe(arguments), **_options(arguments))


def _figure2(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.figures import reproduce_figure2

    return reproduce_figure2(arguments.corpora, _recipe(arguments), **_options(arguments))


def _faults(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.faults import faults

    conversations = arguments.conversations or ()
    return faults(arguments.corpora, arguments.only, grade=arguments.grade, conversations=conversations)


def _ruber_table(arguments: argparse.Namespace) -> Any:
    require_neural(f"dialogauge reproduce {arguments.what}")
    from dialogauge.papers.ruber.tables import reproduce_ruber_table3, reproduce_ruber_table4

    reproduce = reproduce_ruber_table3 if arguments.what == "ruber-table3" else reproduce_ruber_table4
    return reproduce(_ruber_inputs(arguments), cache=not arguments.no_cache, progress=not arguments.quiet)


def _ruber_inputs(arguments: argparse.Namespace) -> RuberInputs:
    from dialogauge.papers.models import parse_models
    from dialogauge.papers.ruber.tables import RuberInputs

    for option, what in (("conversations", "training"), ("validation", "validation")):
        if not getattr(arguments, option):
            raise InputError(f"--{option}: {arguments.what} needs DailyDialog's {what} file, found none")
    given = {name: getattr(arguments, name) for name in ("conversations", "validation", "vectors", "seeds", "keep")}
    only = _listed(arguments.only, "--only")
    return RuberInputs(arguments.corpora, only=only, models=parse_models(arguments.models), **given)


def _listed(text: str | None, option: str) -> list[str]:
    """The names of a list; none where it was not given, and at least one where it was."""
    names = [name for name in map(str.strip, (text or "").split(",")) if name]
    if text is not None and not names:
        raise InputError(f"{option}: expected a name, found none")
    return names


OPTIONS: dict[str, Any] = {
    "corpora": None,
    "metrics": None,
    "models": None,
    "vectors": None,
    "own_recipes": False,
    "plot": None,
    "only": None,
    "grade": None,
    "conversations": None,
    "validation": None,
    "seeds": 5,
    "keep": None,
    "no_cache": False,
    "resamples": 1000,
    "seed": 0,
    **reproduce_entailment.OPTIONS,
}
"""Options by their defaults."""
TRAINING = {"corpora", "models", "vectors", "only", "conversations", "validation", "seeds", "keep", "no_cache"}
MAKING = {"corpora", "metrics", "models", "vectors", "own_recipes", "no_cache", "resamples", "seed"}
TAKES = {
    "table3": MAKING,
    "table4": {"corpora", "models", "no_cache", "seed"},
    "table5": MAKING,
    "figure1": (MAKING - {"vectors"}) | {"plot"},
    "figure2": (MAKING - {"vectors"}) | {"plot"},
    "faults": {"corpora", "only", "grade", "conversations"},
    "ruber-table3": TRAINING,
    "ruber-table4": TRAINING,
    **reproduce_entailment.TAKES,
}
"""The options that each has a use for."""
WHAT: dict[str, Callable[[argparse.Namespace], Any]] = {
    "table3": _table3,
    "table4": _table4,
    "table5": _table5,
    "figure1": _figure1,
    "figure2": _figure2,
    "faults": _faults,
    "ruber-table3": _ruber_table,
    "ruber-table4": _ruber_table,
    **reproduce_entailment.WHAT,
}
