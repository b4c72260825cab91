"""dialogauge synthesize: corpora for training, made from conversations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import add_reading, number, reading, whole
from dialogauge.cli.common.output import add_format, table_width, warn
from dialogauge.errors import InputError, unknown

if TYPE_CHECKING:
    from dialogauge.learned.synthesis import Options

HELP = "make an inference corpus from conversations"
DESCRIPTION = """\
Makes pairs of premise and hypothesis from conversations, after Dziri et al. 2019 (InferConvAI):
  entailment      the true next utterance
  neutral         utterances of other dialogues, and generic replies
  contradiction   word salad; contradictions of NLI files; sentences against the speaker's facts
Dialogues are divided into train, validation and test; every utterance of a pair comes from a dialogue of its split."""
EXAMPLES = """\
examples:
  dialogauge synthesize entailment conversations.jsonl --out pairs.jsonl.gz
  dialogauge synthesize entailment train.txt --nli multinli_train.txt --out pairs.{split}.tsv
  dialogauge synthesize entailment chats.jsonl --history 1,2,3 --pairs 1000000 --seed 7 --out million.jsonl
  dialogauge synthesize entailment train.txt --dialogue-nli dnli_train.txt --negation-share 0.1 --out pairs.jsonl

JSON lines come out, or MultiNLI's table where the name ends in .tsv or .txt; gzip where it ends in .gz."""
KINDS = ("entailment",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="CORPUS", help="entailment")
    parser.add_argument("files", nargs="+", metavar="FILE", help="conversations; gzip is fine, - is stdin")
    parser.add_argument(
        "--out", required=True, metavar="FILE", type=Path, help="where to write; with {split} in it, a file per split"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace what is there already")
    parser.add_argument("--pairs", metavar="N", type=whole, help="make so many pairs, of turns drawn at random")
    parser.add_argument("--history", metavar="LIST", help="utterances of the premise (default: 2); several: 1,2,3")
    parser.add_argument(
        "--splits", metavar="LIST", help="shares of train, validation and test (default: 0.9,0.05,0.05)"
    )
    parser.add_argument(
        "--neutral", metavar="X", type=number, help="neutral pairs for each of entailment (default: 2.656)"
    )
    parser.add_argument(
        "--contradiction", metavar="X", type=number, help="contradictions for each of entailment (default: 1.2003)"
    )
    parser.add_argument("--generic", metavar="FILE", help="generic replies, one per line (default: 70 of ours)")
    parser.add_argument("--nli", metavar="FILE", action="append", help="contradictions as they stand: MultiNLI, SNLI")
    parser.add_argument(
        "--dialogue-nli", metavar="FILE", action="append", help="sentences that contradict facts: Dialogue NLI"
    )
    for name, pairs, default in (
        ("generic", "neutral pairs: generic replies", "0.1"),
        ("nli", "contradictions: from --nli", "0.5"),
        ("facts", "contradictions: against facts, from --dialogue-nli", "0.2"),
        ("negation", "contradictions: statements with a negation put in or taken out", "0"),
        ("restated", "entailments: statements of the premise said again", "0"),
    ):
        parser.add_argument(
            f"--{name}-share", metavar="S", type=number, help=f"the share of {pairs} (default: {default})"
        )
    parser.add_argument(
        "--contrast",
        metavar="LIST",
        help="pairs that differ in one word, as numbers=0.05,places=0.05: the share of contradictions of each kind, "
        "with as many of every other label; kinds: numbers, places, people, colours, calendar, family, antonyms, "
        "auxiliary, yes_no, swapped; all=S for S of each (default: none)",
    )
    parser.add_argument(
        "--with-facts",
        metavar="P",
        type=number,
        help="how likely the facts stand before the history, where there are any (default: 0.5)",
    )
    parser.add_argument(
        "--salad-words", metavar="LIST", help="weights of response, premise and dialogue in salad (default: 1,1,1)"
    )
    parser.add_argument(
        "--salad-length", metavar="S", type=number, help="how far its length is off the response's (default: 0.25)"
    )
    add_reading(parser)
    parser.add_argument("--seed", metavar="N", type=whole, help="same seed, same pairs (default: 0)")
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.what not in KINDS:
        raise unknown("corpus to synthesize", arguments.what, KINDS)
    from dialogauge.learned.synthesis import synthesize_entailment

    found = synthesize_entailment(
        arguments.files,
        arguments.out,
        make_options(arguments),
        nli=arguments.nli or (),
        dialogue_nli=arguments.dialogue_nli or (),
        generic=arguments.generic,
        **reading(arguments),
        overwrite=arguments.overwrite,
        progress=not arguments.quiet,
    )
    warn(found.caveats, arguments)
    print(found.render(arguments.format, width=table_width(arguments)))
    return 0


def make_options(arguments: argparse.Namespace) -> Options:
    from dialogauge.learned.synthesis import Options

    for share, files in (("nli", arguments.nli), ("facts", arguments.dialogue_nli)):
        if getattr(arguments, f"{share}_share") and not files:
            option = "--nli" if share == "nli" else "--dialogue-nli"
            raise InputError(f"--{share}-share: no files to take them from; name some with {option}")
    given = {name: getattr(arguments, name) for name in ("neutral", "contradiction", "with_facts", "salad_length")}
    given |= {name: getattr(arguments, f"{name}_share") for name in ("generic", "nli", "facts", "negation", "restated")}
    given |= {"pairs": arguments.pairs, "seed": arguments.seed}
    given |= {name: _numbers(name, getattr(arguments, name)) for name in ("splits", "salad_words")}
    given["contrast"] = _contrasts(arguments.contrast)
    if (history := _numbers("history", arguments.history)) is not None:
        if not all(length.is_integer() for length in history):
            raise InputError(f"--history: expected whole numbers, as 1,2,3, found {arguments.history!r}")
        given["history"] = tuple(int(length) for length in history)
    return Options(**{name: value for name, value in given.items() if value is not None})


def _numbers(name: str, text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(piece) for piece in text.split(","))
    except ValueError:
        raise InputError(f"--{name.replace('_', '-')}: expected numbers, as 1,2,3, found {text!r}") from None


def _contrasts(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    from dialogauge.learned.synthesis.contrast.kinds import KINDS as CONTRASTS

    found: dict[str, float] = {}
    for piece in text.split(","):
        kind, _, share = piece.partition("=")
        try:
            value = float(share)
        except ValueError:
            raise InputError(f"--contrast: expected kinds and shares, as numbers=0.05, found {piece!r}") from None
        found |= dict.fromkeys(CONTRASTS, value) if kind.strip() == "all" else {kind.strip(): value}
    return found
