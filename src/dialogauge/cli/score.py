"""dialogauge score: metrics of systems, with intervals."""

from __future__ import annotations

import argparse
from pathlib import Path

from dialogauge.cli.inputs import add_encoding, add_inputs, add_resampling, options
from dialogauge.cli.output import add_format, warn

HELP = "score systems under metrics, with intervals"
DESCRIPTION = """\
Scores every system in the files under every metric. Each score carries a 95 % interval from resampling
dialogues (where known, else contexts), with the same resamples for all systems."""
EXAMPLES = """\
examples:
  dialogauge score responses.jsonl --metrics bleu,rouge_l,meteor
  dialogauge score a.jsonl b.jsonl --metrics meteor,distinct.1 --systems a,b --format latex
  dialogauge score responses.csv --metrics 'bleu[lowercase=true]' --out runs/today --plot scores.png

One JSON object per line goes in; only `response` is required:
  {"id": "17", "context": ["hi", "how are you?"], "response": "fine", "references": ["great"], "system": "s0"}
CSV, TSV and Parquet with the same columns are read too, and whole conversations."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="responses or conversations; gzip is fine")
    parser.add_argument("--metrics", required=True, metavar="LIST", help="comma-separated; see `dialogauge metrics`")
    add_inputs(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="also write scores, per-turn values and how they were made"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the run that is in --out already")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="also draw the scores (.png, .svg or .pdf)")
    add_encoding(parser)
    add_resampling(parser)
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import stream
    from dialogauge.evaluation import evaluate
    from dialogauge.evaluation.save import check_writable
    from dialogauge.metrics.registry import parse_requests

    defaults = {"encoder": arguments.encoder, "dtype": arguments.dtype}
    requests = parse_requests(arguments.metrics, arguments.compat, defaults)
    if arguments.out:
        check_writable(arguments.out, arguments.overwrite)
    if arguments.plot:
        from dialogauge.report.figures import check_figure_path

        check_figure_path(arguments.plot)
    corpus = stream(arguments.files, reader=arguments.reader, skip_invalid=arguments.skip_invalid)
    result = evaluate(corpus, requests, **options(arguments))
    warn(result.caveats)
    print(result.render(arguments.format), flush=True)
    if arguments.out:
        result.save(arguments.out, overwrite=arguments.overwrite)
    if arguments.plot:
        from dialogauge.report import plot_scores

        plot_scores(result, arguments.plot)
    return 0
