"""What verbs that read files have in common."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dialogauge.cli.output import on_terminal

if TYPE_CHECKING:
    from dialogauge.corpus.load import Loading


def add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--systems", metavar="LIST", help="only these systems, comma-separated, in this order")
    parser.add_argument("--reader", metavar="NAME", help="the file format, where detection by content gets it wrong")
    parser.add_argument(
        "--skip-invalid", action="store_true", help="leave out lines that cannot be read, and count them"
    )


def add_real(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--real",
        metavar="FILE",
        action="append",
        help="real conversations that distances (fbd, prd, mmd, prdc) hold the systems against, in place of references",
    )


def real_conversations(arguments: argparse.Namespace) -> Loading | None:
    """Those that --real names, by the readers that fit their contents."""
    from dialogauge.corpus import stream

    return stream(arguments.real, skip_invalid=arguments.skip_invalid) if arguments.real else None


def add_encoding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoder", metavar="NAME", help="for metrics that need one (default: minilm); see `dialogauge encoders`"
    )
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help="the encoder's numbers (default: float32)")
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")


def add_resampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--compat", metavar="NAME", help="a paper's own recipes instead of ours: fbd-paper")
    parser.add_argument("--resamples", metavar="N", type=int, default=1000, help="resamples (default: 1000)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="same seed, same numbers (default: 0)")


def options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `evaluate` and `compare` that come from the command line."""
    return {
        "systems": chosen_systems(arguments),
        "compat": arguments.compat,
        "encoder": arguments.encoder,
        "dtype": arguments.dtype,
        "cache": not arguments.no_cache,
        "seed": arguments.seed,
        "resamples": arguments.resamples,
        "progress": on_terminal(),
    }


def chosen_systems(arguments: argparse.Namespace) -> list[str] | None:
    if not arguments.systems:
        return None
    return list(dict.fromkeys(name.strip() for name in arguments.systems.split(",")))
