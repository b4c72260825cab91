"""dialogauge reproduce: the papers' tables and figures beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dialogauge.cli.common.inputs import Joined, whole
from dialogauge.cli.common.output import add_format, add_plot, check_plot, deliver, table_width, warn
from dialogauge.errors import InputError, require_neural, unknown

if TYPE_CHECKING:
    from dialogauge.papers.entailment.inputs import EntailmentInputs

HELP = "set the papers' tables and figures beside ours"
DESCRIPTION = """\
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

Dziri et al. 2019, Evaluating Coherence in Dialogue Systems using Entailment; its judgements of Reddit and OpenSubtitles
are no longer to be had, and GRADE, FED and ConTurE stand in for them, as far as they are in the folder:

  entailment-table1   labels of an inference corpus made from conversations
  entailment-table2   how often a model's class is the one that people's ratings come to
  entailment-table3   agreement of distances from the context, of word vectors and of entailment
  entailment-figure1  people's scores by predicted class, with tests, and classes by system
  entailment-figure2  distances and Extrema against people's scores"""
EXAMPLES = """\
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
  dialogauge reproduce entailment-table1 --conversations valid_both_original_no_cands.txt.gz
  dialogauge reproduce entailment-table2 --corpora rated --entailment-models ESIM=models/esim --thresholds 0.4,0.6
  dialogauge reproduce entailment-table3 --corpora rated --vectors glove.txt --only ss_h1,extrema/word2vec,entailment
  dialogauge reproduce entailment-figure1 --corpora rated --only grade-convai2,fed --plot figure1.png

--corpora is the folder with the six files of github.com/yhlleo/frechet-bert-distance, datasets/. For ruber-table3 and
ruber-table4 it has Eng_Scores_queries_gen_gtruth_replies.csv of github.com/PlusLabNLP/PredictiveEngagement, data/.
For the entailment paper's it has GRADE's evaluation/ (github.com/li3cmz/GRADE), fed_data.json of FED
(shikib.com/fed_data.json) and data.json of ConTurE (github.com/alexa/conture), or folders with them; they are found by
their content."""


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
    parser.add_argument(
        "--elmo", metavar="DIR", help="for the entailment paper's table 3: ELMo's options.json and weights.hdf5"
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
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")
    parser.add_argument("--resamples", metavar="N", type=whole, default=1000, help="resamples (default: 1000)")
    parser.add_argument("--seed", metavar="N", type=whole, default=0, help="same seed, same numbers (default: 0)")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation.options import Settings

    _check(arguments)
    Settings(arguments.seed, arguments.resamples)
    check_plot(arguments)
    result = WHAT[arguments.what].make(arguments)
    warn(result.caveats, arguments)
    drawn = [lambda: _plot(arguments.what, result, arguments.plot)] if arguments.plot else []
    deliver(result.render(arguments.format, width=table_width(arguments)), *drawn)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuses options that what is asked for has no use for."""
    what = arguments.what
    if what not in WHAT:
        raise unknown("table or figure", what, WHAT)
    takes, parser = WHAT[what].takes, argparse.ArgumentParser()
    add_arguments(parser)
    for option, default in vars(parser.parse_args([what])).items():
        if option not in {*takes, "what", "format", "wide"} and getattr(arguments, option) != default:
            raise InputError(f"--{option.replace('_', '-')}: {what} has no use for it")
    if arguments.corpora is None and "corpora" in takes:
        raise InputError(f"--corpora: {what} needs the folder of rated files, found none")


def _plot(what: str, result: Any, path: Path) -> None:
    from dialogauge.figures import plot_class_boxes, plot_paper_bars, plot_similarity_scatter

    if what == "entailment-figure1":
        plot_class_boxes(result.panels, path)
    elif what == "entailment-figure2":
        plot_similarity_scatter(result.panels, path, result.seed)
    else:
        plot_paper_bars(result.panels, path)


def _listed(arguments: argparse.Namespace, option: str) -> list[str]:
    """The names of a list; none where it was not given, and at least one where it was."""
    text = getattr(arguments, option)
    names = [name for name in map(str.strip, (text or "").split(",")) if name]
    if text is not None and not names:
        raise InputError(f"--{option}: expected a name, found none")
    return names


def _models(arguments: argparse.Namespace) -> dict[str, str]:
    from dialogauge.papers.side_by_side import parse_models

    return parse_models(arguments.models)


def _running(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"cache": not arguments.no_cache, "progress": not arguments.quiet}


def _resampling(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"resamples": arguments.resamples, "seed": arguments.seed}


def _fbd_agreement(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.correlations import PaperRecipe, reproduce_table3, reproduce_table5
    from dialogauge.papers.fbd.figures import reproduce_figure1, reproduce_figure2

    rows = _listed(arguments, "metrics")
    recipe = PaperRecipe(_models(arguments), arguments.vectors, arguments.own_recipes, rows)
    reproduce = {
        "table3": reproduce_table3,
        "table5": reproduce_table5,
        "figure1": reproduce_figure1,
        "figure2": reproduce_figure2,
    }[arguments.what]
    return reproduce(arguments.corpora, recipe, **_running(arguments), **_resampling(arguments))


def _fbd_table4(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.table4 import reproduce_table4

    return reproduce_table4(arguments.corpora, _models(arguments), seed=arguments.seed, **_running(arguments))


def _fbd_faults(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.fbd.faults import faults

    conversations = arguments.conversations or ()
    return faults(arguments.corpora, arguments.only, grade=arguments.grade, conversations=conversations)


def _ruber(arguments: argparse.Namespace) -> Any:
    require_neural(f"dialogauge reproduce {arguments.what}")
    from dialogauge.papers.ruber.tables import RuberInputs, reproduce_ruber_table3, reproduce_ruber_table4

    for option, what in (("conversations", "training"), ("validation", "validation")):
        if not getattr(arguments, option):
            raise InputError(f"--{option}: {arguments.what} needs DailyDialog's {what} file, found none")
    given = {name: getattr(arguments, name) for name in ("conversations", "validation", "vectors", "seeds", "keep")}
    only = _listed(arguments, "only")
    inputs = RuberInputs(arguments.corpora, only=only, models=_models(arguments), **given)
    reproduce = reproduce_ruber_table3 if arguments.what == "ruber-table3" else reproduce_ruber_table4
    return reproduce(inputs, **_running(arguments))


def _entailment_table1(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.table1 import reproduce_entailment_table1

    return reproduce_entailment_table1(arguments.conversations or (), seed=arguments.seed, progress=not arguments.quiet)


def _entailment_classes(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.classes import parse_thresholds
    from dialogauge.papers.entailment.figure1 import reproduce_entailment_figure1
    from dialogauge.papers.entailment.table2 import reproduce_entailment_table2

    inputs = _entailment_inputs(arguments)
    given = (inputs.folder, inputs.entailment or {})
    if arguments.what == "entailment-figure1":
        return reproduce_entailment_figure1(*given, inputs.only, **_running(arguments))
    rule = parse_thresholds(arguments.thresholds)
    return reproduce_entailment_table2(*given, rule, inputs.only, **_running(arguments))


def _entailment_distances(arguments: argparse.Namespace) -> Any:
    from dialogauge.papers.entailment.figure2 import reproduce_entailment_figure2
    from dialogauge.papers.entailment.table3 import reproduce_entailment_table3

    is_figure = arguments.what == "entailment-figure2"
    reproduce = reproduce_entailment_figure2 if is_figure else reproduce_entailment_table3
    return reproduce(_entailment_inputs(arguments), **_running(arguments), **_resampling(arguments))


def _entailment_inputs(arguments: argparse.Namespace) -> EntailmentInputs:
    from dialogauge.papers.entailment.inputs import EntailmentInputs, parse_entailment_models
    from dialogauge.papers.side_by_side import check_bert_alone

    models = _models(arguments)
    check_bert_alone(models)
    only = _listed(arguments, "only")
    given = parse_entailment_models(arguments.entailment_models or ())
    return EntailmentInputs(arguments.corpora, arguments.vectors, models, given, only, arguments.elmo)


class Reproducible(NamedTuple):
    make: Callable[[argparse.Namespace], Any]
    takes: set[str]
    """The options that it has a use for."""


RESAMPLED = {"corpora", "models", "no_cache", "resamples", "seed"}
MEASURED = RESAMPLED | {"metrics", "own_recipes"}
TRAINED = {"corpora", "models", "vectors", "only", "conversations", "validation", "seeds", "keep", "no_cache"}
JUDGED = {"corpora", "entailment_models", "only", "no_cache"}
WHAT = {
    "table3": Reproducible(_fbd_agreement, MEASURED | {"vectors"}),
    "table4": Reproducible(_fbd_table4, {"corpora", "models", "no_cache", "seed"}),
    "table5": Reproducible(_fbd_agreement, MEASURED | {"vectors"}),
    "figure1": Reproducible(_fbd_agreement, MEASURED | {"plot"}),
    "figure2": Reproducible(_fbd_agreement, MEASURED | {"plot"}),
    "faults": Reproducible(_fbd_faults, {"corpora", "only", "grade", "conversations"}),
    "ruber-table3": Reproducible(_ruber, TRAINED),
    "ruber-table4": Reproducible(_ruber, TRAINED),
    "entailment-table1": Reproducible(_entailment_table1, {"conversations", "seed"}),
    "entailment-table2": Reproducible(_entailment_classes, JUDGED | {"thresholds"}),
    "entailment-table3": Reproducible(
        _entailment_distances, RESAMPLED | {"only", "entailment_models", "vectors", "elmo"}
    ),
    "entailment-figure1": Reproducible(_entailment_classes, JUDGED | {"plot"}),
    "entailment-figure2": Reproducible(_entailment_distances, RESAMPLED | {"only", "plot"}),
}
