"""dialogauge perturb: responses made worse on purpose."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dialogauge.cli.common.inputs import add_inputs, listed_names, number, reading, whole
from dialogauge.cli.common.output import remark, warn
from dialogauge.cli.common.turns import write_turns
from dialogauge.files import check_writable_file, whole_file

HELP = "make a share of the responses worse on purpose"
DESCRIPTION = """\
Writes the turns with a share of each system's responses changed, to see which metrics notice. Kinds:
  noise      inserts random words, a quarter to a half as many as there are
  mismatch   the chosen turns exchange their responses
  permute    shuffles the words
  repeat     says a generic sentence instead
  truncate   keeps the first half of the words
  parrot     says the last utterance of the context back
With one seed, what is changed at a small ratio is changed at every larger one too."""
EXAMPLES = """\
examples:
  dialogauge perturb responses.jsonl --kind noise --ratio 0.3 --out noisy.jsonl
  dialogauge perturb responses.jsonl --kind permute --ratio 0.5 --systems a --out shuffled.jsonl.gz
  dialogauge perturb annotation.json --kind mismatch --ratio 1 --of references --out - | head

JSON lines come out, which every other command reads. Changed turns lose their ratings."""
STDOUT = Path("-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="responses or conversations; gzip is fine, - is stdin")
    parser.add_argument("--kind", required=True, metavar="KIND", help="what to do to a response; see above")
    parser.add_argument("--ratio", required=True, metavar="R", type=number, help="the share to change, from 0 to 1")
    parser.add_argument(
        "--out", required=True, metavar="FILE", type=Path, help="where to write; gzip if it ends in .gz; - is stdout"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the file that is there already")
    parser.add_argument(
        "--of",
        choices=("responses", "references"),
        default="responses",
        help='what to change; references become a system "reference" (default: responses)',
    )
    add_inputs(parser)
    parser.add_argument("--seed", metavar="N", type=whole, default=0, help="same seed, same changes (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus import load
    from dialogauge.studies.perturb import check_call, perturb, references_as_system

    check_call(arguments.kind, arguments.ratio, arguments.seed)
    if arguments.out != STDOUT:
        check_writable_file(arguments.out, arguments.overwrite)
    corpus = load(arguments.files, **reading(arguments), progress=not arguments.quiet)
    corpus = corpus.select(listed_names(arguments.systems))
    if arguments.of == "references":
        corpus = references_as_system(corpus)
    perturbed = perturb(corpus, arguments.kind, arguments.ratio, arguments.seed)
    if arguments.out == STDOUT:
        # As bytes: a stdout that is not UTF-8 would replace characters, and what comes out is data.
        write_turns(perturbed, sys.stdout.buffer)
    else:
        with whole_file(arguments.out, arguments.overwrite) as file:
            write_turns(perturbed, file)
    warn(perturbed.caveats, arguments)
    changed = sum(new is not old for new, old in zip(perturbed, corpus, strict=True))
    remark(f"{changed} of {len(corpus)} turns changed, {len(corpus) - changed} left as they were", arguments)
    return 0
