"""The command line: finds the verb, runs it, turns errors into messages and exit codes."""

from __future__ import annotations

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from dialogauge import __version__
from dialogauge.cli import (
    answer,
    cache,
    compare,
    corpora,
    correlate,
    demo,
    doctor,
    encoders,
    metrics,
    normality,
    perturb,
    report,
    reproduce,
    score,
    sensitivity,
    synthesize,
    train,
)
from dialogauge.cli.checks import audit, verify
from dialogauge.cli.common.output import add_quiet
from dialogauge.cli.common.parser import Command, Parser, add_subcommands
from dialogauge.cli.people import estimate, plan, rate
from dialogauge.errors import DialogaugeError, InputError, unknown
from dialogauge.tables import printable

VERBS = {
    "score": score,
    "compare": compare,
    "correlate": correlate,
    "report": report,
    "answer": answer,
    "estimate": estimate,
    "plan": plan,
    "rate": rate,
    "reproduce": reproduce,
    "train": train,
    "synthesize": synthesize,
    "perturb": perturb,
    "sensitivity": sensitivity,
    "normality": normality,
    "audit": audit,
    "verify": verify,
    "metrics": metrics,
    "encoders": encoders,
    "corpora": corpora,
    "demo": demo,
    "cache": cache,
    "doctor": doctor,
}

PROGRAM = "dialogauge"
DONE, FAILED, WRONG_CALL = 0, 1, 2

EXAMPLES = """\
examples:
  dialogauge demo                                        three small systems compared, with an explanation
  dialogauge score responses.jsonl --metrics bleu,meteor
  dialogauge metrics                                     what there is to choose from

`dialogauge help VERB` explains each verb.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line. 0: done. 1: the work failed. 2: the input or the call was wrong."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    gc.set_threshold(100_000, 20, 20)  # turns and rows are many, live long, and never form cycles
    for out in (sys.stdout, sys.stderr):
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="replace")  # a terminal that cannot show a character shows another
    try:
        if not arguments:
            build_parser().print_help(sys.stderr)
            return WRONG_CALL
        if arguments[0] == "help":
            arguments = [*arguments[1:], "--help"]
        if not arguments[0].startswith("-") and arguments[0] not in VERBS:
            raise _unknown_verb(arguments[0])
        parsed = build_parser().parse_args(arguments)
        parsed.command = [PROGRAM, *arguments]
        code: int = VERBS[parsed.verb].run(parsed)
        sys.stdout.flush()
        return code
    except InputError as error:
        return _fail(str(error), WRONG_CALL)
    except DialogaugeError as error:
        return _fail(str(error), FAILED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _fail(f"{error.filename or 'dialogauge'}: {error.strerror or error}", FAILED)
    except KeyboardInterrupt:
        return _fail("stopped", 130)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="dialogauge",
        description="Measures how good a dialogue system's responses are, and how far each measure can be trusted.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"dialogauge {__version__}")
    add_quiet(parser)
    commands = {name: Command.from_module(module) for name, module in VERBS.items()}
    add_subcommands(parser, commands, dest="verb", metavar="VERB")
    return parser


def _unknown_verb(text: str) -> InputError:
    if Path(text).exists():
        return InputError(f"{text!r} is no command; did you mean `dialogauge score {text}`?")
    return unknown("command", text, [*VERBS, "help"])


def _fail(message: str, code: int) -> int:
    print(printable(message), file=sys.stderr)
    return code
