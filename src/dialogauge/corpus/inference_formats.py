"""The formats in which premises and hypotheses come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from dialogauge.corpus import fields
from dialogauge.corpus.aligned import aligned
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.inference_pair import SPLITS, InferencePair, Unlabelled, make_pair
from dialogauge.corpus.inference_table import read_table, table_columns
from dialogauge.corpus.json_array import items, parse_item
from dialogauge.corpus.quote import describe, quote
from dialogauge.corpus.reading import Reading
from dialogauge.corpus.strict_json import parse_object
from dialogauge.errors import InputError

PairFormat: TypeAlias = Callable[[Reading], Iterator[InferencePair | Unlabelled]]

_SEPARATOR = "</s>"
_PART = re.compile(r"(?<![A-Za-z0-9])(s1|s2|labels)(?![A-Za-z0-9])")
_KNOWN = (
    "JSON lines with premise, hypothesis and label or with sentence1, sentence2 and gold_label; a table with tabs and "
    "a header of these names; lines `premise</s>hypothesis</s>label`; or s1.* with s2.* and labels.* beside it"
)


def choose_format(head: FileHead) -> PairFormat:
    """The format that fits the beginning of the file; an `InputError` where none does."""
    if head.is_directory:
        raise InputError("is a directory; expected a file", head.path)
    if head.first_line.lstrip().startswith("{"):
        return read_json
    if head.item:
        return read_array
    if table_columns(head.first_line):
        return read_table
    if any(line.count(_SEPARATOR) == 2 for _, line in head.lines):
        return read_separated
    if _PART.search(head.path.name) and head.lines:
        return read_parallel
    what = quote(head.first_line) if head.lines else "nothing"
    raise InputError(f"expected pairs of premise and hypothesis ({_KNOWN}), found {what}", head.path)


def read_json(reading: Reading) -> Iterator[InferencePair | Unlabelled]:
    """Ours, and those of SNLI and MultiNLI."""
    for line, text in reading.lines():
        with reading.record(line):
            yield _of_record(parse_object(text))


def read_array(reading: Reading) -> Iterator[InferencePair | Unlabelled]:
    """The same in one JSON array, as Dialogue NLI is published; read whole."""
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            yield _of_record(parse_item(item.text))


def _of_record(record: Mapping[str, Any]) -> InferencePair | Unlabelled:
    if "sentence1" in record:
        label = "gold_label" if "gold_label" in record else "label"
        return make_pair(*_texts(record, "sentence1", "sentence2", label))
    split = fields.name(record, "split")
    if split is not None and split not in SPLITS:
        raise InputError(f"split: expected {', '.join(SPLITS)} or none, found {quote(split)}")
    source, dialogue = fields.name(record, "source") or "nli", fields.name(record, "dialogue")
    return make_pair(*_texts(record, "premise", "hypothesis", "label"), source, split, dialogue)


def _texts(record: Mapping[str, Any], premise: str, hypothesis: str, label: str) -> tuple[tuple[str, ...], str, str]:
    if any(name not in record for name in (premise, hypothesis, label)):
        raise InputError(f"expected the fields {premise}, {hypothesis} and {label}, found {describe(dict(record))}")
    return fields.texts(record, premise), fields.text(record, hypothesis), fields.text(record, label)


def read_separated(reading: Reading) -> Iterator[InferencePair | Unlabelled]:
    """Dialogue NLI: positive is entailment, negative is contradiction."""
    for line, text in reading.lines():
        with reading.record(line):
            parts = text.split(_SEPARATOR)
            if len(parts) != 3:
                raise InputError(f"expected premise, hypothesis and label between {_SEPARATOR}, found {quote(text)}")
            yield make_pair(parts[:1], parts[1], parts[2])


def read_parallel(reading: Reading) -> Iterator[InferencePair | Unlabelled]:
    """e-SNLI: line i of each file belongs together."""
    reading.files = _parallel_files(reading.path)
    for line, (premise, hypothesis, label) in aligned(reading, reading.files):
        with reading.record(line):
            yield make_pair([premise], hypothesis, label)


def _parallel_files(path: Path) -> list[Path]:
    if _part(path) != "s1":
        first = _sibling(path, "s1")
        hint = f": {quote(first.name)}" if first else ", named s1.*"
        raise InputError(f"expected the file of premises{hint}; the others are found from it", path)
    files = [path]
    for part in ("s2", "labels"):
        other = _sibling(path, part)
        if other is None:
            name = quote(_PART.sub(part, path.name, count=1))
            raise InputError(f"expected the file {name} beside this one, found none", path)
        files.append(other)
    return files


def _part(path: Path) -> str | None:
    match = _PART.search(path.name)
    return match[1] if match else None


def _sibling(path: Path, part: str) -> Path | None:
    """The file with the same name but for the part; it may be compressed where this one is not."""
    name = _PART.sub(part, path.name, count=1)
    candidates = (path.with_name(each) for each in (name, f"{name}.gz", name.removesuffix(".gz")))
    return next((each for each in candidates if each.is_file()), None)
