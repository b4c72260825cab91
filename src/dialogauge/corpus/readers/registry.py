"""The readers there are, and which of them fits a file."""

from __future__ import annotations

from pathlib import Path

from dialogauge.corpus.columns import ColumnMap, refuse_names
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.quote import quote
from dialogauge.corpus.readers.bert_ruber import BERT_RUBER
from dialogauge.corpus.readers.conture import CONTURE
from dialogauge.corpus.readers.conversations import CONVERSATIONS
from dialogauge.corpus.readers.dailydialog import DAILYDIALOG
from dialogauge.corpus.readers.delimited import CSV, TSV, header_of
from dialogauge.corpus.readers.entailment import ENTAILMENT
from dialogauge.corpus.readers.fbd import FBD
from dialogauge.corpus.readers.fed import FED
from dialogauge.corpus.readers.grade import GRADE
from dialogauge.corpus.readers.json_turns import JSON
from dialogauge.corpus.readers.jsonl import JSONL
from dialogauge.corpus.readers.parallel import PARALLEL
from dialogauge.corpus.readers.parlai import PARLAI
from dialogauge.corpus.readers.parquet import PARQUET
from dialogauge.corpus.readers.text import TEXT
from dialogauge.corpus.readers.usr import USR
from dialogauge.corpus.reading import Reader
from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import InputError, unknown

READERS = {
    reader.name: reader
    # The first that fits reads the file, so the particular stand before the general.
    for reader in (
        *(GRADE, TEXT),
        *(PARQUET, FBD, CONVERSATIONS, JSONL),
        *(USR, FED, CONTURE, JSON),
        *(DAILYDIALOG, ENTAILMENT, PARLAI, TSV, BERT_RUBER, CSV, PARALLEL),
    )
}


def choose(path: Path, name: str | None = None, mapping: ColumnMap = NOTHING) -> Reader:
    """The reader of this name or, without one, the reader that recognises the file's content, given what the user said
    of its columns."""
    if name is not None:
        if name not in READERS:
            raise unknown("reader", name, READERS)
        return READERS[name]
    head = FileHead.read(path, mapping)
    if not head.lines and not head.is_directory:
        raise InputError("expected turns, found an empty file", path)
    for reader in READERS.values():
        if reader.sniff(head):
            return reader
    if head.holds("run.json"):
        raise InputError("is a run, which holds scores and no turns; `dialogauge compare` reads runs", path)
    if head.is_directory:
        wanted = "a file, or a directory that holds responses.txt or is laid out as GRADE's"
        raise InputError(f"is a directory; expected {wanted}", path)
    head.refuse_unless_text()
    line, text = head.lines[0]
    if names := list(head.item) or header_of(head):
        refuse_names(names, mapping, path, line)
    message = f"no reader recognises a file that begins {quote(text)}; name one with --reader: {', '.join(READERS)}"
    raise InputError(message, path, line)
