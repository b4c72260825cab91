"""The readers there are, and which of them fits a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from dialogauge.corpus.readers.bert_ruber import BERT_RUBER
from dialogauge.corpus.readers.conture import CONTURE
from dialogauge.corpus.readers.conversations import CONVERSATIONS, DAILYDIALOG, PARLAI
from dialogauge.corpus.readers.entailment import ENTAILMENT
from dialogauge.corpus.readers.fbd import FBD
from dialogauge.corpus.readers.fed import FED
from dialogauge.corpus.readers.grade import GRADE
from dialogauge.corpus.readers.pairwise import PAIRWISE
from dialogauge.corpus.readers.parallel import PARALLEL, TEXT
from dialogauge.corpus.readers.turns import CSV, JSON, JSONL, PARQUET, TSV, header_of
from dialogauge.corpus.readers.usr import USR
from dialogauge.corpus.reading.columns import ColumnMap, refuse_names
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, quote, unknown
from dialogauge.plugins import PlugIns, foreign

READERS = {
    reader.name: reader
    # The first that fits reads the file, so the particular stand before the general.
    for reader in (
        *(GRADE, TEXT),
        *(PARQUET, FBD, CONVERSATIONS, PAIRWISE, JSONL),
        *(USR, FED, CONTURE, JSON),
        *(DAILYDIALOG, ENTAILMENT, PARLAI, TSV, BERT_RUBER, CSV, PARALLEL),
    )
}


def choose(path: Path, name: str | None = None, mapping: ColumnMap = NOTHING) -> tuple[Reader, list[Caveat]]:
    """The reader of this name or, without one, the reader that recognises the file's content, given what the user said
    of its columns. Readers of other packages are asked where none of ours does; the caveats name those that are
    broken."""
    if name is not None:
        return _named(name), [] if name in READERS else PLUG_INS.contested([name])
    head = FileHead.read(path, mapping)
    if not head.lines and not head.is_directory:
        raise InputError("expected turns, found an empty file", path)
    for reader in READERS.values():
        if reader.sniff(head):
            return reader, []
    added, caveats = PLUG_INS.load()
    for reader in added.values():
        try:
            with redirect_stdout(sys.stderr):
                fits = bool(reader.sniff(head))
        except (Exception, SystemExit) as error:  # code that is not ours: whatever it raises
            caveats.append(Caveat("broken_reader", f"{path}: {_failure(reader, error)}"))
        else:
            if fits:
                return _guarded(reader), caveats
    raise _unrecognised(head, mapping, [*READERS, *added], caveats)


def _named(name: str) -> Reader:
    if name in READERS:
        return READERS[name]
    added = PLUG_INS.get(name)
    if added is None:
        raise unknown("reader", name, [*READERS, *PLUG_INS.names()])
    return _guarded(added)


def _unrecognised(head: FileHead, mapping: ColumnMap, names: Sequence[str], caveats: Sequence[Caveat]) -> InputError:
    if head.holds("run.json"):
        return InputError("is a run, which holds scores and no turns; `dialogauge compare` reads runs", head.path)
    if head.is_directory:
        wanted = "a file, or a directory that holds responses.txt or is laid out as GRADE's"
        return InputError("; ".join([f"is a directory; expected {wanted}", *_messages(caveats)]), head.path)
    head.refuse_unless_text()
    line, text = head.lines[0]
    if columns := list(head.item) or header_of(head):
        refuse_names(columns, mapping, head.path, line)
    message = f"no reader recognises a file that begins {quote(text)}; name one with --reader: {', '.join(names)}"
    return InputError("; ".join([message, *_messages(caveats)]), head.path, line)


def _messages(caveats: Sequence[Caveat]) -> list[str]:
    return [caveat.message for caveat in caveats]


def _faults(name: str, reader: Any) -> list[str]:
    """Everything that keeps what another package gives from being the reader of this name."""
    if not isinstance(reader, Reader):
        return ["it is no dialogauge.corpus.Reader"]
    faults = [] if reader.name == name else [f"its name is {reader.name!r}, not {name!r}"]
    if not isinstance(reader.title, str) or not reader.title.strip():
        faults.append(f"title: expected a line on what it reads, found {reader.title!r}")
    methods = ("sniff", "read")
    return faults + [f"{each} is no function" for each in methods if not callable(getattr(reader, each))]


PLUG_INS: PlugIns[Reader] = PlugIns("reader", "dialogauge.readers", READERS, _faults)


def _guarded(reader: Reader) -> Reader:
    """The reader of another package, with whatever it raises or yields told as what went wrong in it."""

    def read(reading: Reading) -> Iterator[LocatedTurn]:
        what, end = f"the reader {reader.name!r} of another package", object()
        with foreign(what, reading.path):
            items: Iterator[Any] = iter(reader.read(reading))
        while True:
            with foreign(what, reading.path):
                item: Any = next(items, end)
                if item is not end and not _is_located_turn(item):
                    raise TypeError(f"expected it to yield (line, Turn), found {shortened(item)}")
            if item is end:
                return
            yield item

    return replace(reader, read=read)


def _is_located_turn(item: Any) -> bool:
    pair = isinstance(item, tuple) and len(item) == 2
    return pair and isinstance(item[0], int) and isinstance(item[1], Turn)


def _failure(reader: Reader, error: BaseException) -> str:
    return f"the reader {reader.name!r} of another package failed: {type(error).__name__}: {error}"
