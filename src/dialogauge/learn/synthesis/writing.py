"""Pairs to files, each of which is whole or absent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from dialogauge.corpus.inference import InferencePair
from dialogauge.corpus.inference_table import COLUMNS, table_row
from dialogauge.errors import InputError
from dialogauge.files import whole_file
from dialogauge.tables import printable

SPLIT = "{split}"
_TABLES = (".tsv", ".txt")


def files_of(out: Path, splits: Sequence[str]) -> dict[str, Path]:
    """The file of each split: one for all, unless `{split}` stands in the path."""
    if str(out) == "-":
        raise InputError("expected the name of a file: pairs are not written to stdout", out)
    for name in re.findall(r"\{.*?\}", out.name):
        if name != SPLIT:
            raise InputError(f"expected no braces in the name, but for {SPLIT}; found {name}", out)
    return {split: Path(str(out).replace(SPLIT, split)) for split in splits}


def write_pairs(pairs: Iterable[InferencePair], files: dict[str, Path], overwrite: bool = False) -> None:
    """Tables where a name ends in .tsv or .txt, JSON lines else; gzip where it ends in .gz."""
    with ExitStack() as stack:
        writers = {path: stack.enter_context(_writer(path, overwrite)) for path in dict.fromkeys(files.values())}
        for pair in pairs:
            writers[files[pair.split or ""]].write(pair)


class _Writer:
    def __init__(self, file: BinaryIO, table: bool) -> None:
        self._file, self._table, self._number = file, table, 0
        if table:
            file.write("\t".join(COLUMNS).encode() + b"\n")

    def write(self, pair: InferencePair) -> None:
        line = table_row(pair, self._number) if self._table else json_line(pair)
        self._file.write(line.encode() + b"\n")
        self._number += 1


@contextmanager
def _writer(path: Path, overwrite: bool) -> Iterator[_Writer]:
    with whole_file(path, overwrite) as file:
        yield _Writer(file, Path(path.name.lower().removesuffix(".gz")).suffix in _TABLES)


def json_line(pair: InferencePair) -> str:
    """The pair as `read_inference` reads it back. What could harm a terminal is spelled as an escape."""
    fields = {
        "premise": pair.premise,
        "hypothesis": pair.hypothesis,
        "label": pair.label,
        "source": pair.source,
        "split": pair.split,
        "dialogue": pair.dialogue,
    }
    kept = {name: value for name, value in fields.items() if value is not None}
    return printable(json.dumps(kept, ensure_ascii=False))
