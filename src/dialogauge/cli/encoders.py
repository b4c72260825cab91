"""dialogauge encoders: the ways from text to vectors, and which of them are at hand."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from dialogauge.cli.common.output import add_format, print_table, warn
from dialogauge.tables import Cell, Header, Table
from dialogauge.text.languages import ENGLISH

HELP = "list the encoders"
DESCRIPTION = """\
Lists the encoders that are known by name, whether they are at hand, and how to get them. Any other encoder of the
Hugging Face hub is given by its name or directory, word vectors by their file."""
EXAMPLES = """\
examples:
  dialogauge encoders
  dialogauge score responses.jsonl --metrics bertscore --encoder roberta-large
  dialogauge score responses.jsonl --metrics embedding_average --encoder static:glove.6B.100d.txt"""

ELMO_INSTALL = "pip install 'dialogauge[elmo]'"


class EncoderRow(NamedTuple):
    """One encoder. `found` says where its weights are, or "missing"."""

    name: str
    what: str
    made_for: str
    """Languages, where they are known."""
    found: str
    get: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.encode.encoders import plug_ins

    added, caveats = plug_ins().load()
    warn(caveats, arguments)
    plugged = [EncoderRow(name, cls.title, "", cls.__module__, "") for name, cls in added.items()]
    rows = [*_transformers(), _universal(), *plugged, *OTHERS, _smollm2()]
    records = [row._asdict() for row in rows]
    document = {"schema": "dialogauge.encoders/1", "encoders": records}
    print_table(arguments, _table(rows), records, document)
    return 0


OTHERS = [
    EncoderRow(
        "NAME or DIRECTORY", "any encoder in the Hugging Face layout, safetensors only", "", "", "hf download NAME"
    ),
    EncoderRow("static:FILE", "word vectors: GloVe or word2vec, text or binary, also gzip", "the words in it", "", ""),
    EncoderRow("elmo:DIRECTORY", "ELMo: options.json and weights.hdf5 in AllenNLP's layout", "", "", ELMO_INSTALL),
]


def _transformers() -> list[EncoderRow]:
    from dialogauge.encode.find import KNOWN, at_hand

    rows = []
    for name, known in KNOWN.items():
        found = at_hand(name)
        get = "" if found else known.command
        rows.append(EncoderRow(name, known.about, ENGLISH, str(found or "missing"), get))
        rows.append(EncoderRow(f"static:{name}", "its input embeddings as word vectors", ENGLISH, rows[-1].found, get))
    return rows


def _universal() -> EncoderRow:
    from dialogauge.encode.model_files import packaged_file
    from dialogauge.encode.universal import FILE, INSTALL, PACKAGE

    found = packaged_file(PACKAGE, FILE)
    about = "Universal Sentence Encoder (multilingual, quantised), 512-d, whole texts only; or use:FILE"
    return EncoderRow("use", about, "16 languages", str(found or "missing"), "" if found else INSTALL)


def _smollm2() -> EncoderRow:
    """The language model stands with the encoders, since it is looked for and kept as they are."""
    from dialogauge.encode.causal.find import ABOUT, INSTALL, SMOLLM2, smollm2_at_hand

    found = smollm2_at_hand()
    about = f"no encoder, but the language model of likelihood[model={SMOLLM2}]: {ABOUT}"
    return EncoderRow(SMOLLM2, about, ENGLISH, str(found or "missing"), "" if found else INSTALL)


def _table(rows: list[EncoderRow]) -> Table:
    headers = [Header(name, align="left") for name in ("name", "what it is", "made for", "at hand", "to get it")]
    at_hand = {"": "", "missing": "no"}
    cells = [
        [Cell(row.name), Cell(row.what), Cell(row.made_for), Cell(at_hand.get(row.found, "yes")), Cell(row.get)]
        for row in rows
    ]
    notes = [
        "the default is minilm; another: --encoder NAME, or in brackets: bertscore[encoder=mpnet]",
        "--format json shows where each was found",
    ]
    return Table(headers, cells, notes)
