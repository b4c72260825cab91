"""dialogauge sensitivity: which metrics notice when responses get worse."""

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
from dialogauge.cli.common.output import add_plot, add_presentation, check_plot, deliver, presentation, warn

HELP = "see which metrics notice when responses get worse"
DESCRIPTION = """\
Makes more and more of each system's responses worse, in every way that `dialogauge perturb` knows, and scores
each time. A metric should get worse, too; one that does not is named in a warning. For every kind of
perturbation the table has the values by the share that was changed, and Spearman's correlation between the two."""
EXAMPLES = """\
examples:
  dialogauge sensitivity responses.jsonl --metrics bleu,meteor,distinct --of references
  dialogauge sensitivity responses.jsonl --metrics bertscore --kinds noise,permute --plot bertscore.png
  dialogauge sensitivity responses.jsonl --metrics rouge_l --ratios 0.2,0.4,0.6 --systems a --format csv

--of references starts from people's replies, the best there are; a system's bad responses cannot get much worse."""
RATIOS = "0,0.1,0.25,0.5,0.75,1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="responses or conversations; gzip is fine, - is stdin")
    parser.add_argument("--metrics", required=True, metavar="LIST", action=Joined, help=METRICS)
    parser.add_argument("--kinds", metavar="LIST", help="what to do to responses; see `perturb --help` (default: all)")
    parser.add_argument(
        "--ratios", metavar="LIST", default=RATIOS, help=f"the shares to change; 0 is always there (default: {RATIOS})"
    )
    parser.add_argument(
        "--of",
        choices=("responses", "references"),
        default="responses",
        help='what to change; references become a system "reference" (default: responses)',
    )
    add_plot(parser, "also draw the values")
    add_real(parser)
    add_inputs(parser)
    add_run_options(parser)
    add_presentation(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load
    from dialogauge.evaluation.options import RunOptions
    from dialogauge.studies.perturb import KINDS
    from dialogauge.studies.sensitivity import check_plan, sensitivity

    how = presentation(arguments)
    kinds = KINDS if arguments.kinds is None else arguments.kinds
    kinds, ratios = check_plan(kinds, listed_ratios(arguments.ratios))
    requests = RunOptions(**options(arguments)).requests(arguments.metrics)
    check_plot(arguments)
    corpus = load(arguments.files, **reading(arguments), progress=not arguments.quiet)
    result = sensitivity(
        corpus,
        requests,
        kinds=kinds,
        ratios=ratios,
        of="reference" if arguments.of == "references" else "response",
        **options(arguments),
    )
    warn(result.caveats, arguments)

    def draw() -> None:
        if arguments.plot:
            from dialogauge.figures.studies import plot_sensitivity

            plot_sensitivity(result.renamed(how["names"]), arguments.plot)

    deliver(result.render(arguments.format, **how), draw)
    return 0
