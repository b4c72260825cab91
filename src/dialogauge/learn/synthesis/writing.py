"""Pairs to files, each of which is whole or absent."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from dialogauge.corpus.inference import InferencePair
from dialogauge.corpus.inference_table import COLUMNS, table_row
from dialogauge.errors import InputError
from dialogauge.tables import printable

SPLIT = "{split}"
_TABLES = (".tsv", ".txt")


def files_of(out: Path, splits: Sequence[str]) -> dict[str, Path]:
    """The file of each split: one for all, unless `{split}` stands in the name."""
    for name in re.findall(r"\{.*?\}", out.name):
        if name != SPLIT:
            raise InputError(f"expected no braces in the name, but for {SPLIT}; found {name}", out)
    return {split: out.with_name(out.name.replace(SPLIT, split)) for split in splits}


def check_writable(path: Path, overwrite: bool) -> None:
    """Refuses a file that is there already, before any work is done."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise InputError("is there and is not a plain file; choose another name", path)
    if path.exists() and not overwrite:
        raise InputError("is there already and was left as it is; choose another name or pass --overwrite", path)
    if not next(parent for parent in path.absolute().parents if parent.exists()).is_dir():
        raise InputError("cannot be made: a part of its path is a file", path)


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
    """Writes beside the target under a temporary name, and moves into place when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        new, packed = partial / "new", path.suffix.lower() == ".gz"
        table = Path(path.name.lower().removesuffix(".gz")).suffix in _TABLES
        with new.open("wb") as file:
            if packed:
                # Neither name nor time: same pairs, same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as unpacked:
                    yield _Writer(cast(BinaryIO, unpacked), table)
            else:
                yield _Writer(file, table)
            file.flush()
            os.fsync(file.fileno())
        check_writable(path, overwrite)
        new.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
