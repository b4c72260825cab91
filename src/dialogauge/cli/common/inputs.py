"""What verbs that read files have in common."""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentTypeError
from collections.abc import Sequence
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any

from dialogauge.errors import InputError

if TYPE_CHECKING:
    from dialogauge.corpus import Corpus
    from dialogauge.corpus.load import Loading
    from dialogauge.evaluation.options import RunKeywords
    from dialogauge.metrics.registry import Request


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, found {shortened(text)}") from None


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a number, found {shortened(text)}") from None


# A comma that begins another FIELD=; names of columns may hold commas.
_ANOTHER_FIELD = re.compile(r",(?=(?:id|context|response|references|system|dialogue|facts|ratings(?:\.[^=,]+)?)=)")


class Joined(argparse.Action):
    """An option whose lists add up where it is repeated."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, values if before is None else f"{before},{values}")


METRICS = (
    "comma-separated or repeated; see `dialogauge metrics`, also for groups, such as overlap or all. FILE.py:FUNCTION"
    " scores by a function of your own: the file is run"
)
METRICS_OR_DEFAULT = f"{METRICS} (default: those that suit the files)"


def add_names(parser: argparse.ArgumentParser, option: str, what: str) -> None:
    """An option that lists names from the user's files, which may hold commas."""
    explained = f"{what}; comma-separated or repeated, \\, for a comma in a name"
    parser.add_argument(option, metavar="LIST", action="append", help=explained)


def listed_names(lists: Sequence[str] | None) -> list[str] | None:
    """The names in all lists that an option of `add_names` was given, each once."""
    if not lists:
        return None
    pieces = (piece for text in lists for piece in re.split(r"(?<!\\),", text))
    return list(dict.fromkeys(piece.replace(r"\,", ",").strip() for piece in pieces))


def listed_ratios(text: str) -> list[float]:
    """The numbers of `--ratios`."""
    found = []
    for piece in filter(None, map(str.strip, text.split(","))):
        try:
            found.append(float(piece))
        except ValueError:
            raise InputError(f"--ratios: expected numbers between 0 and 1, found {piece!r}") from None
    return found


def add_inputs(parser: argparse.ArgumentParser) -> None:
    add_names(parser, "--systems", "only these systems, in this order")
    parser.add_argument(
        "--role",
        choices=("assistant", "user"),
        help="whose messages in chat logs are replies, in the files and in --real (default: the assistant's)",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reader", metavar="NAME", help="the file format, where detection by content gets it wrong")
    parser.add_argument(
        "--map",
        metavar="FIELD=COLUMN",
        action="append",
        help="columns that hold fields of ours, as system=variant,ratings.overall=stars; may be repeated",
    )
    parser.add_argument(
        "--any-size",
        action="store_true",
        help="read gzip and Parquet files that unpack to far more than they are, and any line",
    )
    add_skip_invalid(parser)


def add_skip_invalid(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--skip-invalid", action="store_true", help="leave out lines that cannot be read, and count them"
    )


def reading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `load` and `stream` that come from the command line."""
    mapping: dict[str, str | None] = {}
    for given in (piece for text in arguments.map or () for piece in _ANOTHER_FIELD.split(text)):
        field, equals, column = given.partition("=")
        if not equals or not field:
            raise InputError(f"--map: expected FIELD=COLUMN, as system=model, found {given!r}")
        if field in mapping:
            raise InputError(f"--map: expected each field once, found {field!r} twice")
        mapping[field] = column or None
    how = {"reader": arguments.reader, "skip_invalid": arguments.skip_invalid, "mapping": mapping}
    return how | ({"role": arguments.role} if getattr(arguments, "role", None) else {})


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

    role = getattr(arguments, "role", None)
    return stream(arguments.real, skip_invalid=arguments.skip_invalid, role=role) if arguments.real else None


def add_encoding(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoder", metavar="NAME", help="for metrics that need one (default: minilm); see `dialogauge encoders`"
    )
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), help="the encoder's numbers (default: float32)")
    parser.add_argument("--no-cache", action="store_true", help="keep no vectors on disk; see `dialogauge cache`")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """How metrics encode and resample."""
    add_encoding(parser)
    parser.add_argument(
        "--language",
        metavar="NAME",
        help="that of the texts, as zh or Thai: how they are split into words, and which metrics know it (default: the"
        " letters tell)",
    )
    add_asking(parser)
    parser.add_argument("--compat", metavar="NAME", help="a paper's own recipes instead of ours: fbd-paper")
    parser.add_argument("--resamples", metavar="N", type=whole, default=1000, help="resamples (default: 1000)")
    parser.add_argument("--seed", metavar="N", type=whole, default=0, help="same seed, same numbers (default: 0)")
    parser.add_argument(
        "--confidence", metavar="LEVEL", type=number, default=0.95, help="of intervals, below 1 (default: 0.95)"
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Who measures what is too large for one process."""
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole,
        help="processes for files of more than 200,000 turns, with the same numbers (default: one for each core)",
    )
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help="who measures such files: here, processes (default), ray (the cluster of RAY_ADDRESS, else one of its"
        " own on this machine), ray://HOST:PORT (a cluster that runs); see docs/scale.md",
    )


def add_shard(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shard",
        metavar="i/n",
        help="measure the i-th of n parts of the files alone and keep it in --out, for `dialogauge merge`",
    )


def add_asking(parser: argparse.ArgumentParser) -> None:
    """How language models behind endpoints are asked."""
    parser.add_argument(
        "--offline", action="store_true", help="ask no endpoint (judge): take kept answers alone, or say how many lack"
    )
    parser.add_argument(
        "--max-requests", metavar="N", type=whole, help="send no more than N requests to endpoints, then stop"
    )
    parser.add_argument(
        "--concurrency", metavar="N", type=whole, default=16, help="requests under way at once, at most (default: 16)"
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=number, default=120.0, help="for one answer of an endpoint (default: 120)"
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be asked of endpoints (judge), and ask nothing"
    )
    parser.add_argument("--price", metavar="IN,OUT", help="of a million tokens each, for --dry-run: 0.15,0.60")


def print_plan(corpus: Corpus | Loading, requests: Sequence[Request], arguments: argparse.Namespace) -> int:
    """What --dry-run prints."""
    from dialogauge.endpoint.plan import Price
    from dialogauge.evaluation.measuring.plan_asking import plan_asking
    from dialogauge.evaluation.options import RunOptions

    price = Price.parse(arguments.price) if arguments.price else None
    print("\n".join(plan_asking(corpus, requests, RunOptions(**options(arguments))).sentences(price)))
    return 0


def options(arguments: argparse.Namespace) -> RunKeywords:
    """The run's options that come from the command line."""
    return {
        "systems": listed_names(arguments.systems),
        "real": real_conversations(arguments),
        "compat": arguments.compat,
        "encoder": arguments.encoder,
        "dtype": arguments.dtype,
        "language": getattr(arguments, "language", None),
        "cache": not arguments.no_cache,
        "seed": arguments.seed,
        "resamples": arguments.resamples,
        "confidence": arguments.confidence,
        "progress": not arguments.quiet,
        "offline": arguments.offline,
        "max_requests": arguments.max_requests,
        "concurrency": arguments.concurrency,
        "timeout": arguments.timeout,
        "workers": getattr(arguments, "workers", None),
        "engine": getattr(arguments, "engine", None),
    }
