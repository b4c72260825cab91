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
from dialogauge.corpus.readers.chat.convokit import CONVOKIT
from dialogauge.corpus.readers.chat.dstc import DSTC
from dialogauge.corpus.readers.chat.prompts import CHOSEN_REJECTED, PROMPT_COMPLETION
from dialogauge.corpus.readers.chat.sharegpt import SHAREGPT
from dialogauge.corpus.readers.conture import CONTURE
from dialogauge.corpus.readers.conversations import CONVERSATIONS, DAILYDIALOG, PARLAI
from dialogauge.corpus.readers.entailment import ENTAILMENT
from dialogauge.corpus.readers.fbd import FBD
from dialogauge.corpus.readers.fed import FED
from dialogauge.corpus.readers.grade import GRADE
from dialogauge.corpus.readers.pairwise import PAIRWISE
from dialogauge.corpus.readers.parallel import PARALLEL, TEXT
from dialogauge.corpus.readers.rated.arena import ARENA
from dialogauge.corpus.readers.rated.label_studio import LABEL_STUDIO
from dialogauge.corpus.readers.rated.label_studio_min import LABEL_STUDIO_MIN
from dialogauge.corpus.readers.rated.tables import RATER_COLUMNS, RATING_ROWS
from dialogauge.corpus.readers.rated.xdial import XDIAL
from dialogauge.corpus.readers.runs.deepeval import DEEPEVAL
from dialogauge.corpus.readers.runs.inspect import INSPECT
from dialogauge.corpus.readers.runs.langfuse import LANGFUSE
from dialogauge.corpus.readers.runs.lm_eval import LM_EVAL
from dialogauge.corpus.readers.runs.open_telemetry import OPEN_TELEMETRY
from dialogauge.corpus.readers.runs.promptfoo import PROMPTFOO
from dialogauge.corpus.readers.turns import CSV, DATASET, JSON, JSONL, OLD_MAC, PARQUET, TSV, header_of
from dialogauge.corpus.readers.usr import USR
from dialogauge.corpus.reading.columns import ColumnMap, refuse_names
from dialogauge.corpus.reading.messages import is_message
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, quote, quote_all, unknown
from dialogauge.plugins import PlugIns, foreign

READERS = {
    reader.name: reader
    # The first that fits reads the file, so the particular stand before the general.
    for reader in (
        *(GRADE, TEXT),
        *(INSPECT, LM_EVAL, PROMPTFOO, DEEPEVAL, OPEN_TELEMETRY, LANGFUSE, LABEL_STUDIO, LABEL_STUDIO_MIN),
        *(CONVOKIT, DSTC, XDIAL, RATER_COLUMNS, RATING_ROWS),
        *(ARENA, CHOSEN_REJECTED, PROMPT_COMPLETION, SHAREGPT),
        *(FBD, CONVERSATIONS, DATASET, PARQUET, PAIRWISE, JSONL),
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
    if head.holds("shard.json"):
        return InputError("is a shard of a run; `dialogauge merge DIR… --out RUN` puts all shards together", head.path)
    if head.is_directory:
        if head.first:
            refuse_names(head.first, mapping, head.path)
        wanted = "a file, or a directory that holds responses.txt or is laid out as GRADE's"
        return InputError("; ".join([f"is a directory; expected {wanted}", *_messages(caveats)]), head.path)
    head.refuse_unless_text()
    line, text = head.lines[0]
    if head.document:
        _refuse_document(head, line)
    if is_message(head.item):
        alone = "jq -c '{messages: .}' FILE | dialogauge score -"
        found = "one conversation, a list of chat messages"
        raise InputError(f"expected records, found {found}; {alone}", head.path, line)
    if columns := head.item or header_of(head):
        refuse_names(columns, mapping, head.path, line)
    hint = OLD_MAC if "\r" in text else f"name one with --reader: {', '.join(names)}"
    message = f"no reader recognises a file that begins {quote(text)}; {hint}"
    return InputError("; ".join([message, *_messages(caveats)]), head.path, line)


def _refuse_document(head: FileHead, line: int) -> None:
    """One JSON object over several lines that no reader knows: what is in it, and how to get at its records."""
    lists = [name for name, value in head.document.items() if value is None or isinstance(value, list)]
    hint = "write one JSON object per line"
    if lists and lists[0].isidentifier():
        alone = f"jq -c '.{lists[0]}[]' FILE | dialogauge score -"
        hint = f"if {quote(lists[0])} holds the records, give them alone: {alone}"
    known = "JSON lines, an array of records, or a document of a known tool"
    found = f"one JSON object with the keys {quote_all(head.document)}"
    raise InputError(f"expected {known}, found {found}; {hint}", head.path, line)


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
