"""dialogauge score: metrics of systems, with intervals."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialogauge.cli.common.gates import BELOW, add_fail_below, exit_status, gates_given
from dialogauge.cli.common.inputs import (
    METRICS_OR_DEFAULT,
    Joined,
    add_dry_run,
    add_inputs,
    add_real,
    add_run_options,
    add_shard,
    add_workers,
    options,
    print_plan,
    reading,
    whole,
)
from dialogauge.cli.common.output import (
    add_cite,
    add_html,
    add_out,
    add_plot,
    add_presentation,
    check_html,
    check_plot,
    deliver,
    presentation,
    remark,
    rendered,
    warn,
    write_html,
)
from dialogauge.errors import InputError
from dialogauge.tables import printable

if TYPE_CHECKING:
    from dialogauge.corpus import Corpus
    from dialogauge.corpus.load import Loading
    from dialogauge.evaluation import Result
    from dialogauge.evaluation.replies import ListedReplies, Order, RankedReplies
    from dialogauge.metrics.registry import Request

ORDERS: tuple[Order, ...] = ("worst", "best")
OF_MERGED = ("plot", "html", "cite")
ALL_TURNS = (*OF_MERGED, "worst", "best", "explain", "fail_below", "dry_run")
"""Options that make no sense of one shard; those that `dialogauge merge` has, too, come first."""
HELP = "score systems under metrics, with intervals"
DESCRIPTION = """\
Scores every system in the files under every metric; without --metrics, under those that suit the files, and says
which system is ahead, by how much and how sure that is. Each score carries an interval from resampling dialogues
(where known, else contexts), with the same resamples for all systems."""
EXAMPLES = """\
examples:
  dialogauge score responses.jsonl
  dialogauge score responses.jsonl --metrics bleu,rouge_l,meteor
  dialogauge score responses.jsonl --metrics overlap,bertscore       a group of metrics, and one more
  dialogauge score a.jsonl b.jsonl --metrics meteor,distinct.1 --systems a,b --format latex
  dialogauge score responses.jsonl --metrics meteor --worst 5
  dialogauge score responses.jsonl --explain gauge         the worst replies, and what is wrong with them
  dialogauge score responses.jsonl --html report.html      a page to look at, with the replies behind each number
  dialogauge score responses.jsonl --explain fbd           the responses that are least like real ones
  dialogauge score bot-logs.jsonl --real human-logs.jsonl --metrics fbd,prd,mmd
  dialogauge score responses.csv --metrics 'bleu[lowercase=true]' --out runs/today --plot scores.png
  dialogauge score logs-*.jsonl --metrics length,distinct --workers 8    millions of turns, on all cores
  dialogauge score logs.jsonl --metrics bleu --shard 2/7 --out shards/2    one of seven jobs; then dialogauge merge
  dialogauge score responses.jsonl --metrics 'judge[model=NAME,url=http://localhost:8000/v1]' --dry-run

One JSON object per line goes in; only `response` is required:
  {"id": "17", "context": ["hi", "how are you?"], "response": "fine", "references": ["great"], "system": "s0"}
CSV, TSV and Parquet with the same columns are read too, and whole conversations. Columns may have other names, as
prompt, answer and model; --map system=variant names any."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="responses or conversations; gzip is fine, - is stdin")
    parser.add_argument("--metrics", metavar="LIST", action=Joined, help=METRICS_OR_DEFAULT)
    parser.add_argument(
        "--explain",
        metavar="METRIC",
        help="also list the ten responses of each system that push this distance most (fbd), or that score worst, with "
        "the parts of their scores (gauge)",
    )
    for order in ORDERS:
        parser.add_argument(
            f"--{order}", metavar="N", type=whole, help=f"also list the N {order} replies of each system by each metric"
        )
    add_real(parser)
    add_inputs(parser)
    add_out(parser, "scores, per-turn values, the turns themselves and how it was made")
    add_plot(parser, "also draw the scores")
    add_html(parser)
    add_fail_below(parser)
    add_run_options(parser)
    add_workers(parser)
    add_shard(parser)
    add_dry_run(parser)
    add_presentation(parser)
    add_cite(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.evaluation import evaluate
    from dialogauge.evaluation.gates import below_limits
    from dialogauge.evaluation.replies import rank_replies, rankable
    from dialogauge.studies.explain import explain

    how = presentation(arguments)
    if arguments.shard is not None:
        return _measure_shard(arguments)
    limits = gates_given(BELOW, arguments)
    requests, explained = _requests(arguments, [limit.request for limit in limits])
    counts = {order: count for order in ORDERS if (count := getattr(arguments, order)) is not None}
    if counts:
        rankable(requests, counts)  # refuses what no metric can rank, before any work is done
    _check(arguments, listed=[*(["explain"] if explained else []), *counts])
    corpus = _corpus(arguments)
    if arguments.dry_run:
        return print_plan(corpus, requests, arguments)
    texts = bool(arguments.out) and not arguments.no_texts
    values = bool(arguments.out or counts or arguments.html)
    result = evaluate(corpus, requests, keep_texts=texts, keep_values=values, **options(arguments))
    ranked_by, unranked = rankable(_measured(requests, result), counts) if counts else ([], [])
    result.caveats.extend(unranked)
    warn(result.caveats, arguments)
    explanations = [explain(result, _again(corpus, arguments), request.label) for request in explained]
    ranked = rank_replies(result, _again(corpus, arguments), ranked_by, counts) if counts else {}
    beside: dict[str, Sequence[ListedReplies]] = {"explanations": explanations}
    beside |= {order: found for order, found in ranked.items()}
    deliver(rendered(result, arguments, beside), lambda: _write(result, arguments, ranked, how["names"]))
    return exit_status(below_limits(result.scores, limits))


def _measure_shard(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import stream
    from dialogauge.evaluation.options import RunOptions
    from dialogauge.scale.shard import ShardNumber, measure_shard

    shard = ShardNumber.parse(arguments.shard)
    if not arguments.out:
        raise InputError(f"--shard {shard} needs --out DIR, where it is kept until all are there")
    for name in ALL_TURNS:
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            instead = "give it to `dialogauge merge`, or leave" if name in OF_MERGED else "leave"
            raise InputError(f"{option} needs all turns: {instead} out --shard")
    turns = measure_shard(
        stream(arguments.files, **reading(arguments)),
        arguments.metrics,
        shard,
        arguments.out,
        RunOptions(**options(arguments)),
        keep_texts=not arguments.no_texts,
        overwrite=arguments.overwrite,
        command=arguments.command,
    )
    counts = ", ".join(f"{count:,} turns of {system}" for system, count in turns.items()) or "no turns"
    print(printable(f"{arguments.out}: shard {shard}, {counts}"))
    remark(f"once all {shard.count} are there: dialogauge merge DIR… --out RUN", arguments)
    return 0


def _write(
    result: Result,
    arguments: argparse.Namespace,
    ranked: Mapping[Order, Sequence[RankedReplies]],
    names: Mapping[str, str],
) -> None:
    """The files that were asked for."""
    if arguments.out:
        texts = not arguments.no_texts
        how_made = arguments.command
        result.save(arguments.out, overwrite=arguments.overwrite, command=how_made, ranked=ranked, texts=texts)
    if arguments.plot:
        from dialogauge.figures import plot_scores

        plot_scores(result.renamed(names), arguments.plot)
    write_html(result, arguments)


def _requests(arguments: argparse.Namespace, limited: Sequence[Request]) -> tuple[list[Request], list[Request]]:
    """What is to be scored, `limited` or not, and which of it explained."""
    from dialogauge.evaluation.options import RunOptions
    from dialogauge.studies.explain import check_explained

    named = [text for text in (arguments.metrics, arguments.explain) if text is not None]
    asked = RunOptions(**options(arguments))
    explained = asked.requests(arguments.explain) if arguments.explain else []
    for request in explained:
        check_explained(request)
    return asked.requests([*named, *limited] or None), explained


def _measured(requests: Sequence[Request], result: Result) -> list[Request]:
    """What was measured of what was asked for, or in its place."""
    from dialogauge.metrics.registry import Request

    asked = {request.name: request for request in requests}
    metrics = {sample.label: sample.metric for sample in result.samples}
    return [asked.get(name) or Request(metrics[name]) for name in result.columns]


def _check(arguments: argparse.Namespace, listed: Sequence[str]) -> None:
    """Refuses what cannot be printed or written, before any work is done. `listed`: the options that list replies."""
    from dialogauge.evaluation.kept.save import check_run_writable

    if listed and arguments.format == "csv":
        raise InputError(f"--{listed[0]}: CSV has one line per score and no room for texts; choose --format json")
    if arguments.out:
        check_run_writable(arguments.out, arguments.overwrite)
    check_plot(arguments)
    check_html(arguments, arguments.files)


def _corpus(arguments: argparse.Namespace) -> Corpus | Loading:
    """A stream, unless it must be gone through again and cannot be."""
    from dialogauge.corpus import load, stream
    from dialogauge.corpus.reading.source import STDIN

    again = arguments.explain or arguments.worst or arguments.best
    return (load if again and str(STDIN) in arguments.files else stream)(arguments.files, **reading(arguments))


def _again(corpus: Corpus | Loading, arguments: argparse.Namespace) -> Corpus | Loading:
    """For the texts of what is listed: a stream is gone through once."""
    from dialogauge.corpus import Corpus

    return corpus if isinstance(corpus, Corpus) else _corpus(arguments)
