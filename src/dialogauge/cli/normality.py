"""dialogauge normality: whether the vectors that FBD takes for Gaussian are."""

from __future__ import annotations

import argparse

from dialogauge.cli.common.inputs import add_encoding, add_inputs, listed_names, reading, real_conversations, whole
from dialogauge.cli.common.output import add_plot, add_presentation, check_plot, deliver, presentation, warn

HELP = "test whether the vectors that FBD takes for Gaussian are"
DESCRIPTION = """\
FBD takes the vectors of (context, response) pairs for Gaussian. This tests it, for references and for every
system: each dimension by itself (Shapiro-Wilk), and all together along random directions. A small p says that
vectors are not Gaussian."""
EXAMPLES = """\
examples:
  dialogauge normality responses.jsonl
  dialogauge normality responses.jsonl --encoder roberta-base --pool mean --plot normality.png
  dialogauge normality bot-logs.jsonl --real human-logs.jsonl --context all --format csv"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="responses or conversations; gzip is fine, - is stdin")
    parser.add_argument(
        "--real", metavar="FILE", action="append", help="real conversations, whose responses are tested as well"
    )
    parser.add_argument(
        "--pool", choices=("cls", "mean", "max"), default="cls", help="how tokens become one vector (default: cls)"
    )
    parser.add_argument("--layer", metavar="N", type=whole, help="the encoder's layer (default: its last)")
    parser.add_argument(
        "--context",
        metavar="N",
        type=_utterances,
        default=1,
        help="utterances before the response that count: the last N, 0 or all (default: 1)",
    )
    add_plot(parser, "also draw histograms")
    add_inputs(parser)
    add_encoding(parser)
    parser.add_argument("--seed", metavar="N", type=whole, default=0, help="same seed, same numbers (default: 0)")
    add_presentation(parser)


def _utterances(text: str) -> int | None:
    return None if text == "all" else whole(text)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load
    from dialogauge.studies.normality import check_plan, normality

    how = presentation(arguments)
    making = {name: getattr(arguments, name) for name in ("encoder", "dtype", "pool", "layer", "context", "seed")}
    check_plan(**making)
    check_plot(arguments)
    progress = not arguments.quiet
    corpus = load(arguments.files, **reading(arguments), progress=progress)
    result = normality(
        corpus,
        systems=listed_names(arguments.systems),
        cache=not arguments.no_cache,
        progress=progress,
        real=real_conversations(arguments),
        **making,
    )
    warn(result.caveats, arguments)

    def draw() -> None:
        if arguments.plot:
            from dialogauge.figures.studies import plot_normality

            plot_normality(result.renamed(how["names"]), arguments.plot)

    deliver(result.render(arguments.format, **how), draw)
    return 0
