"""dialogauge correlate: metrics against human ratings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
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
)
from dialogauge.cli.common.output import (
    add_cite,
    add_html,
    add_out,
    add_presentation,
    check_html,
    deliver,
    presentation,
    rendered,
    warn,
    write_html,
)
from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.agreement import Agreement
    from dialogauge.corpus import Corpus

HELP = "see how well metrics agree with people"
DESCRIPTION = """\
Correlates metrics with human ratings of turns, dialogues and systems, with intervals, p-values and what people agree
on among themselves. Every file is a corpus of its own; with several, the mean over them comes last. Correlations are
signed: below 0, a metric points the wrong way. Without --metrics, those that suit each corpus are taken."""
EXAMPLES = """\
examples:
  dialogauge correlate rated.jsonl                        the metrics that suit the file
  dialogauge correlate rated.jsonl --metrics overlap,bertscore,fbd
  dialogauge correlate rated.jsonl --html report.html
  dialogauge correlate a.json b.json c.json --metrics bleu,meteor --level system --figures figures/
  dialogauge correlate grade/ --metrics bertscore --level turn --per-system
  dialogauge correlate responses.jsonl --ratings ratings.csv --metrics rouge_l --dimension relevance
  dialogauge correlate rated.jsonl --trusted              what `dialogauge rate` exported, less what failed its checks
  dialogauge correlate rated.csv --metrics 'column[name=my_score],length' --format json --out runs/agreement

Ratings stand with the turn, one number per rater:
  {"id": "17", "context": ["hi"], "response": "hello", "system": "s0", "ratings": {"overall": [4, 5, null]}}
or in a file of their own with the columns id, system, rater, dimension, value."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="rated responses; gzip is fine, - is stdin")
    parser.add_argument("--metrics", metavar="LIST", action=Joined, help=METRICS_OR_DEFAULT)
    parser.add_argument(
        "--level",
        metavar="LIST",
        help="turn, dialogue, system, or several (default: turn and, with three systems or more, system)",
    )
    add_names(parser, "--dimension", "what was rated, or all (default: overall where there is one, else all)")
    parser.add_argument("--per-system", action="store_true", help="also each system's turns by themselves")
    parser.add_argument(
        "--ratings", metavar="FILE", action="append", help="ratings kept apart: id, system, rater, dimension, value"
    )
    parser.add_argument(
        "--trusted", action="store_true", help="without ratings that failed a study's checks; see `dialogauge rate`"
    )
    parser.add_argument("--together", action="store_true", help="all files are one corpus, as for `score`")
    parser.add_argument("--figures", metavar="DIR", type=Path, help="also draw forests, heat maps and scatter plots")
    parser.add_argument(
        "--figure-format", choices=("png", "svg", "pdf"), default="png", help="of --figures (default: png)"
    )
    add_real(parser)
    add_inputs(parser)
    add_out(parser, "the agreement, ratings and values of every rated turn, the turns themselves and how it was made")
    add_html(parser)
    add_run_options(parser)
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.agreement.correlate_corpora import check_levels, correlate
    from dialogauge.agreement.save import check_agreement_writable
    from dialogauge.evaluation.options import RunOptions

    how = presentation(arguments)
    check_levels(arguments.level)
    requests = RunOptions(**options(arguments)).requests(arguments.metrics)
    if arguments.out:
        check_agreement_writable(arguments.out, arguments.overwrite)
    check_html(arguments, arguments.files)
    if arguments.figures:
        from dialogauge.figures.agreement import check_figure_folder

        check_figure_folder(arguments.figures, arguments.figure_format)
    result = correlate(
        _corpora(arguments),
        requests,
        level=arguments.level,
        dimension=listed_names(arguments.dimension),
        per_system=arguments.per_system,
        **options(arguments),
    )
    warn(result.caveats, arguments)
    deliver(rendered(result, arguments), lambda: _write(result, arguments, how["names"]))
    return 0


def _write(result: Agreement, arguments: argparse.Namespace, names: Mapping[str, str]) -> None:
    """The files that were asked for."""
    if arguments.out:
        texts = not arguments.no_texts
        result.save(arguments.out, overwrite=arguments.overwrite, command=arguments.command, texts=texts)
    if arguments.figures:
        from dialogauge.figures.agreement import plot_agreement

        plot_agreement(result.renamed(names), arguments.figures, arguments.figure_format)
    write_html(result, arguments)


def _corpora(arguments: argparse.Namespace) -> dict[str, Corpus]:
    """Every file by the corpus's name, or all of them as one."""
    from dialogauge.agreement.correlate_corpora import corpus_name, free_name
    from dialogauge.corpus import load
    from dialogauge.corpus.load import corpora_in
    from dialogauge.corpus.ratings import join_ratings
    from dialogauge.corpus.reading.remote import input_path
    from dialogauge.corpus.trusted import trusted_only

    if arguments.together:
        groups = [[input_path(file) for file in arguments.files]]
    else:
        groups = [[path] for file in arguments.files for path in corpora_in(file)]
    if arguments.ratings and len(groups) > 1:
        raise InputError(f"--ratings: to which of the {len(groups)} corpora? Give one file, or --together")
    found: dict[str, Corpus] = {}
    for group in groups:
        corpus = load(group, **reading(arguments), progress=not arguments.quiet)
        name = corpus_name(corpus, group[0])
        if arguments.ratings:
            corpus = join_ratings(corpus, arguments.ratings)
        if arguments.trusted:
            corpus = trusted_only(corpus)
        found[free_name(name, found)] = corpus
    return found
