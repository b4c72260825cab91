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
    completion,
    corpora,
    correlate,
    demo,
    doctor,
    encoders,
    merge,
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
from dialogauge.files import NO_ROOM
from dialogauge.tables import printable

VERBS = {
    "score": score,
    "compare": compare,
    "correlate": correlate,
    "merge": merge,
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
    "completion": completion,
}

PROGRAM = "dialogauge"
DONE, FAILED, WRONG_CALL = 0, 1, 2
PANIC = "PanicException"
"""What libraries written in Rust raise where they meet what they did not expect; it is no `Exception`."""

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
    if sys.stdout is None:
        return _fail("stdout: is closed, and results go there; > /dev/null throws them away", FAILED)
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
        if getattr(parsed, "any_size", False):
            os.environ["DIALOGAUGE_ANY_SIZE"] = "1"
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
        return _fail(f"{_place(error)}: {error.strerror or error}", FAILED)
    except MemoryError:
        return _fail(f"`{' '.join([PROGRAM, *arguments])}` needs more memory than there is", FAILED)
    except KeyboardInterrupt:
        return _fail("stopped", 130)
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        return _fail(f"a library that is written in Rust gave up: {' '.join(str(error).split())}", FAILED)


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


def _place(error: OSError) -> str:
    """The file that it is about. What is written to files says so (`files.unfinished`); what is left is printed."""
    if error.filename is not None:
        return os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    return "stdout" if error.errno in NO_ROOM else PROGRAM


def _unknown_verb(text: str) -> InputError:
    if Path(text).exists():
        return InputError(f"{text!r} is no command; did you mean `dialogauge score {text}`?")
    return unknown("command", text, [*VERBS, "help"])


def _fail(message: str, code: int) -> int:
    print(printable(message), file=sys.stderr)
    return code
