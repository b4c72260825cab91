"""dialogauge score: metrics of systems, with intervals."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.cli.gates import BELOW, add_fail_below, below, exit_status, parse_gates
from dialogauge.cli.inputs import (
    METRICS,
    Joined,
    add_encoding,
    add_inputs,
    add_real,
    add_resampling,
    options,
    reading,
    real_conversations,
)
from dialogauge.cli.output import add_cite, add_presentation, presentation, rendered, warn
from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.evaluation import Result
    from dialogauge.evaluation.explain import Explanation
    from dialogauge.metrics.registry import Request

HELP = "score systems under metrics, with intervals"
DESCRIPTION = """\
Scores every system in the files under every metric. Each score carries an interval from resampling
dialogues (where known, else contexts), with the same resamples for all systems."""
EXAMPLES = """\
examples:
  dialogauge score responses.jsonl --metrics bleu,rouge_l,meteor
  dialogauge score a.jsonl b.jsonl --metrics meteor,distinct.1 --systems a,b --format latex
  dialogauge score responses.jsonl --explain fbd           the responses that are least like real ones
  dialogauge score bot-logs.jsonl --real human-logs.jsonl --metrics fbd,prd,mmd
  dialogauge score responses.csv --metrics 'bleu[lowercase=true]' --out runs/today --plot scores.png

One JSON object per line goes in; only `response` is required:
  {"id": "17", "context": ["hi", "how are you?"], "response": "fine", "references": ["great"], "system": "s0"}
CSV, TSV and Parquet with the same columns are read too, and whole conversations."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="responses or conversations; gzip is fine, - is stdin")
    parser.add_argument("--metrics", metavar="LIST", action=Joined, help=METRICS)
    parser.add_argument(
        "--explain", metavar="METRIC", help="also list the ten responses that push this distance most (fbd)"
    )
    add_real(parser)
    add_inputs(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="also write scores, per-turn values and how they were made"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the run that is in --out already")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="also draw the scores (.png, .svg or .pdf)")
    add_fail_below(parser)
    add_encoding(parser)
    add_resampling(parser)
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load, stream
    from dialogauge.evaluation import evaluate
    from dialogauge.evaluation.save import check_run_writable
    from dialogauge.metrics.registry import parse_requests

    how = presentation(arguments)
    limits = parse_gates(BELOW, arguments)
    wanted = [*filter(None, (arguments.metrics, arguments.explain)), *(limit.request for limit in limits)]
    if not wanted:
        raise InputError("--metrics is needed, as in --metrics bleu,meteor; `dialogauge metrics` lists them")
    defaults = {"encoder": arguments.encoder, "dtype": arguments.dtype}
    requests = parse_requests(wanted, arguments.compat, defaults)
    explained = parse_requests(arguments.explain, arguments.compat, defaults) if arguments.explain else []
    _check_explained(explained, arguments.format)
    if arguments.out:
        check_run_writable(arguments.out, arguments.overwrite)
    if arguments.plot:
        from dialogauge.report.drawing import check_figure_path

        check_figure_path(arguments.plot)
    read = load if explained else stream
    corpus = read(arguments.files, **reading(arguments))
    result = evaluate(corpus, requests, real=real_conversations(arguments), **options(arguments))
    warn(result.caveats, arguments)
    explanations = _explanations(result, corpus, explained)
    print(rendered(result, arguments, {"explanations": explanations}), flush=True)
    if arguments.out:
        result.save(arguments.out, overwrite=arguments.overwrite)
    if arguments.plot:
        from dialogauge.report import plot_scores

        plot_scores(result.renamed(how["names"]), arguments.plot)
    return exit_status(below(result.scores, limits))


def _check_explained(explained: Sequence[Request], form: str) -> None:
    from dialogauge.evaluation.explain import check_explained

    for request in explained:
        check_explained(request)
    if explained and form == "csv":
        raise InputError("--explain: CSV has one line per score and no room for texts; choose --format json")


def _explanations(result: Result, corpus: Any, explained: Sequence[Request]) -> list[Explanation]:
    from dialogauge.evaluation.explain import explain

    return [explain(result, corpus, request.label) for request in explained]
