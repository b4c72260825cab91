"""dialogauge demo: the main job on the examples that come with the package, and what its output means."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.output import add_format, add_plot, check_plot, table_width, warn

if TYPE_CHECKING:
    from dialogauge.evaluation import Result, Score

HELP = "compare three small example systems"
DESCRIPTION = """\
Scores three systems on 64 everyday conversations written for this project: one that answers well, one that
answers anything with a commonplace, and one that talks about something else."""
EXAMPLES = """\
examples:
  dialogauge demo
  dialogauge demo --plot demo.png"""
METRICS = "bleu,rouge_l,meteor,distinct"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_plot(parser, "also draw the scores")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load
    from dialogauge.evaluation import evaluate

    path = example_file()
    check_plot(arguments)
    result = evaluate(load(path), METRICS, progress=not arguments.quiet)
    warn(result.caveats, arguments)
    print(result.render(arguments.format, width=table_width(arguments)))
    if arguments.format == "table":
        print(
            f"\n{explanation(result)}\nYour own file, in the form of {path}: dialogauge score FILE --metrics {METRICS}"
        )
    if arguments.plot:
        from dialogauge.figures import plot_scores

        plot_scores(result, arguments.plot)
    return 0


def example_file() -> Path:
    """In an installed package the examples lie inside it, in a checkout beside src."""
    package = Path(__file__).resolve().parent.parent
    homes = [package / "examples", package.parent.parent / "examples"]
    return next(home / "everyday.jsonl" for home in homes if home.is_dir())


def explanation(result: Result) -> str:
    """In a sentence or two, which system each metric prefers and how surely."""
    preferred: dict[str, list[str]] = {}
    for metric in result.columns:
        preferred.setdefault(_preference(result, metric), []).append(metric)
    sentences = [f"{', '.join(metrics)}: {who}" for who, metrics in preferred.items()]
    return (
        f"Which system is best? {'; '.join(sentences)}.\n"
        "Overlap with what people said finds the system that answers. Variety alone (distinct) is high for one that\n"
        "talks past the question, too: no single number is enough."
    )


def _preference(result: Result, metric: str) -> str:
    """The best system, and whether its interval is clear of all the others'."""
    best, *others = sorted((score for score in result.scores if score.metric == metric), key=_oriented)
    clear = all(best.low > other.high or best.high < other.low for other in others)  # type: ignore[operator]
    return f"`{best.system}`, {'clearly' if clear else 'but intervals overlap'}"


def _oriented(score: Score) -> float:
    value = score.value or 0.0
    return -value if score.higher_is_better else value
