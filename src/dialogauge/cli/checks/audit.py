"""dialogauge audit: what a metric rewards, and what it notices."""

from __future__ import annotations

import argparse

from dialogauge.cli.common.inputs import (
    METRICS,
    Joined,
    add_inputs,
    add_real,
    add_run_options,
    listed_ratios,
    options,
    reading,
)
from dialogauge.cli.common.output import add_presentation, presentation, warn

HELP = "see what a judge or another metric rewards, and what it notices"
DESCRIPTION = """\
Asks of each metric, turn by turn:
  length      does it reward length by itself, among replies that people rate the same?
  damage      does it score replies lower once they are damaged, in every way that `dialogauge perturb` knows?
  curve       how far does its mean fall as more and more replies are damaged (--ratios)?
  position    does a pairwise judge prefer the reply that is shown first?
  repeats     how far do a judge's repeated answers about one reply differ?
  flips       how often do two answers of a judge about one reply differ?
  family      does a judge prefer systems that are called like its model, among replies that people rate the same?
  agreement   how well does it agree with people, and how well could it?
Every number has an interval, what to hold it against, and a verdict; what cannot be asked is named, with the reason.
Of a judge, each kind of damage takes as many requests as scoring does; --kinds and --questions ask for less."""
EXAMPLES = """\
examples:
  dialogauge audit rated.jsonl --metrics bertscore,gauge
  dialogauge audit rated.jsonl --metrics 'judge[prompt=coherence,model=smollm2,url=http://localhost:8000/v1]'
  dialogauge audit responses.jsonl --metrics rouge_l --questions damage --kinds mismatch,parrot --of references
  dialogauge audit rated.jsonl --metrics gauge --format markdown"""

RATIOS = "0.25,0.5,1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="responses, best with ratings; gzip is fine, - is stdin"
    )
    parser.add_argument("--metrics", required=True, metavar="LIST", action=Joined, help=METRICS)
    parser.add_argument("--questions", metavar="LIST", help="some of those above (default: all)")
    parser.add_argument("--kinds", metavar="LIST", help="what to do to responses; see `perturb --help` (default: all)")
    parser.add_argument(
        "--ratios",
        metavar="LIST",
        default=RATIOS,
        help=f"shares of replies that are damaged for the curve (default: {RATIOS})",
    )
    parser.add_argument(
        "--of",
        choices=("responses", "references"),
        default="responses",
        help='what to damage; references become a system "reference" (default: responses)',
    )
    parser.add_argument("--dimension", metavar="NAME", help="what was rated (default: overall, else all there are)")
    add_real(parser)
    add_inputs(parser)
    add_run_options(parser)
    add_presentation(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load
    from dialogauge.studies.audit import audit
    from dialogauge.studies.audit_result import QUESTIONS
    from dialogauge.studies.perturb import KINDS

    how = presentation(arguments)
    corpus = load(arguments.files, **reading(arguments), progress=not arguments.quiet)
    found = audit(
        corpus,
        arguments.metrics,
        questions=arguments.questions or list(QUESTIONS),
        kinds=arguments.kinds or list(KINDS),
        ratios=listed_ratios(arguments.ratios),
        of="reference" if arguments.of == "references" else "response",
        dimension=arguments.dimension,
        **options(arguments),
    )
    warn(found.caveats, arguments)
    print(found.render(arguments.format, **how), flush=True)
    return 0
