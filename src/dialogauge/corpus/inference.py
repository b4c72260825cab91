"""Premises, hypotheses, and the files they come in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.fields import refuse_huge_texts, refuse_many_names
from dialogauge.corpus.reading.json import items, parse_item, parse_object
from dialogauge.corpus.reading.reader import FileHead, Reading, aligned, part_of, sibling
from dialogauge.corpus.reading.source import refuse_missing
from dialogauge.errors import Caveat, InputError, describe, quote, quote_all
from dialogauge.tables import counted

__all__ = ["LABELS", "SPLITS", "InferenceFile", "InferencePair", "Label", "read_inference"]

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = get_args(Label)
SPLITS = ("train", "validation", "test")

NO_LABEL = "-"
_SPELLINGS: dict[str, Label] = {
    **{label: label for label in LABELS},
    "positive": "entailment",
    "negative": "contradiction",
}

COLUMNS = (
    "index",
    "promptID",
    "pairID",
    "genre",
    "sentence1_binary_parse",
    "sentence2_binary_parse",
    "sentence1_parse",
    "sentence2_parse",
    "sentence1",
    "sentence2",
    "label1",
    "gold_label",
)
_NAMES = (
    ("sentence1", "sentence2", "gold_label"),
    ("sentence1", "sentence2", "label"),
    ("premise", "hypothesis", "label"),
)
_OURS = re.compile(r"(train|validation|test)/[0-9]+/([0-9]{1,9}(?:\+[0-9]{1,9})*)")
_BREAKS = re.compile("[\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_SEPARATOR = "</s>"
_PART = re.compile(r"(?<![A-Za-z0-9])(s1|s2|labels)(?![A-Za-z0-9])")
_KNOWN = (
    "JSON lines with premise, hypothesis and label or with sentence1, sentence2 and gold_label; a table with tabs and "
    "a header of these names; lines `premise</s>hypothesis</s>label`; or s1.* with s2.* and labels.* beside it"
)


@dataclass(frozen=True, slots=True)
class InferencePair:
    """`premise` holds utterances, oldest first; of an NLI file it is one sentence."""

    premise: tuple[str, ...]
    hypothesis: str
    label: Label
    source: str = "nli"
    """How it was made: next, random, generic, salad, nli, facts, negation, restated."""
    split: str | None = None
    """One of `SPLITS`; None where a file does not say."""
    dialogue: str | None = None


class Unlabelled:
    """Stands for a pair on whose label the annotators did not agree."""


PairFormat: TypeAlias = Callable[[Reading], Iterator[InferencePair | Unlabelled]]


def read_inference(path: str | Path, skip_invalid: bool = False) -> InferenceFile:
    """The pairs of a file, one at a time. The format is recognised by content: our own JSON lines, SNLI and MultiNLI
    as JSON lines or tables, tables with the columns premise, hypothesis and label, Dialogue NLI, and the parallel
    files of e-SNLI (`s1.dev`, with `s2.dev` and `labels.dev` beside it). Gzip is fine.

    A line that cannot be read raises an `InputError`; with `skip_invalid` it is left out. What comes back is an
    iterator; its `caveats` say, when it has ended, how many were left out.
    """
    return InferenceFile(path, skip_invalid)


class InferenceFile(Iterator[InferencePair]):
    """A file being read. Pairs whose annotators did not agree (gold label "-") are left out and counted."""

    def __init__(self, path: str | Path, skip_invalid: bool = False) -> None:
        self.path = Path(path)
        self.caveats: list[Caveat] = []
        self._reading = Reading(self.path, skip_invalid)
        refuse_missing(self.path)
        self._format = choose_format(FileHead.read(self.path))
        self._pairs = self._read()

    def hashes(self) -> list[tuple[Path, str]]:
        """The files that were read, those beside a parallel one too, with their SHA-256."""
        return self._reading.hashes()

    def __next__(self) -> InferencePair:
        return next(self._pairs)

    def _read(self) -> Iterator[InferencePair]:
        found = unlabelled = 0
        for pair in self._format(self._reading):
            if isinstance(pair, Unlabelled):
                unlabelled += 1
            else:
                found += 1
                yield pair
        if unlabelled:
            self._reading.remark(
                "unlabelled_pairs", f'{counted(unlabelled, "pair")} without a gold label ("-") left out'
            )
        self.caveats += self._reading.caveats()
        if not found:
            why = "".join(f"; {caveat.message.removeprefix(f'{self.path}: ')}" for caveat in self.caveats)
            raise InputError(f"expected pairs of premise and hypothesis, found none{why}", self.path)


def make_pair(
    premise: Sequence[str],
    hypothesis: str,
    label: str,
    source: str = "nli",
    split: str | None = None,
    dialogue: str | None = None,
) -> InferencePair | Unlabelled:
    """Spaces around texts are left out, and so are blank utterances of the premise."""
    name = label.strip()
    if name == NO_LABEL:
        return Unlabelled()
    if name not in _SPELLINGS:
        raise InputError(f"label: expected one of {', '.join(_SPELLINGS)}, found {quote(name)}")
    said = tuple(text for utterance in premise if (text := utterance.strip()))
    if not said or not hypothesis.strip():
        raise InputError(f"{'hypothesis' if said else 'premise'}: expected text, found none")
    refuse_huge_texts((hypothesis, *said))
    return InferencePair(said, hypothesis.strip(), _SPELLINGS[name], source, split, dialogue)


def table_columns(header: str) -> tuple[str, str, str] | None:
    """The columns of premise, hypothesis and label; None where the line is no such header."""
    columns = header.split("\t")
    return next((names for names in _NAMES if set(names) <= set(columns)), None)


def read_table(reading: Reading) -> Iterator[InferencePair | Unlabelled]:
    """Quotation marks are characters like any other."""
    columns: list[str] = []
    names: tuple[str, str, str] | None = None
    for line, text in reading.lines():
        cells = text.split("\t")
        if names is None:
            refuse_many_names(cells, "columns")
            columns, names = cells, table_columns(text)
            if names is None or len(set(columns)) < len(columns):
                raise InputError(f"expected columns of different names, found {quote_all(columns)}", reading.path, line)
        else:
            with reading.record(line):
                if len(cells) != len(columns):
                    raise InputError(f"expected {len(columns)} columns, found {len(cells)}")
                yield _pair_of_row(dict(zip(columns, cells, strict=True)), names)


def table_row(pair: InferencePair, number: int) -> str:
    """One line, without its end. Tabs and line breaks in texts become spaces."""
    premise = [_flat(utterance) for utterance in pair.premise]
    cells: Mapping[str, str] = {
        "index": str(number),
        "promptID": _flat(pair.dialogue or ""),
        "pairID": f"{pair.split}/{number}/{'+'.join(str(len(utterance)) for utterance in premise)}",
        "genre": pair.source,
        "sentence1": " ".join(premise),
        "sentence2": _flat(pair.hypothesis),
        "label1": pair.label,
        "gold_label": pair.label,
    }
    return "\t".join(cells.get(column, "") for column in COLUMNS)


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
            yield _pair_of_record(parse_object(text))


def read_array(reading: Reading) -> Iterator[InferencePair | Unlabelled]:
    """The same in one JSON array, as Dialogue NLI is published; read whole."""
    for item in items(reading.path):
        with reading.record(item.line, item=item.number):
            yield _pair_of_record(parse_item(item.text))


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


def _pair_of_row(row: Mapping[str, str], names: tuple[str, str, str]) -> InferencePair | Unlabelled:
    premise, hypothesis, label = (row[name] for name in names)
    ours = _OURS.fullmatch(row.get("pairID", ""))
    utterances = _utterances(premise, ours[2]) if ours else None
    if ours is None or utterances is None:
        return make_pair([premise], hypothesis, label)
    return make_pair(utterances, hypothesis, label, row.get("genre") or "nli", ours[1], row.get("promptID") or None)


def _utterances(premise: str, lengths: str) -> list[str] | None:
    """The utterances of a premise; None where the lengths are not of this one."""
    found, start = [], 0
    for length in map(int, lengths.split("+")):
        found.append(premise[start : start + length])
        start += length + 1
    return found if start == len(premise) + 1 else None


def _flat(text: str) -> str:
    return _BREAKS.sub(" ", text)


def _pair_of_record(record: Mapping[str, Any]) -> InferencePair | Unlabelled:
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


def _parallel_files(path: Path) -> list[Path]:
    if part_of(path, _PART) != "s1":
        first = sibling(path, _PART, "s1")
        hint = f": {quote(first.name)}" if first else ", named s1.*"
        raise InputError(f"expected the file of premises{hint}; the others are found from it", path)
    files = [path]
    for part in ("s2", "labels"):
        other = sibling(path, _PART, part)
        if other is None:
            name = quote(_PART.sub(part, path.name, count=1))
            raise InputError(f"expected the file {name} beside this one, found none", path)
        files.append(other)
    return files
