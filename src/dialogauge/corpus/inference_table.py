"""Pairs in tables: MultiNLI's, SNLI's and GLUE's with tabs and a header, and how our own pairs stand in them.

Of ours, `genre` is the source, `promptID` the dialogue, and `pairID` is `SPLIT/NUMBER/LENGTHS`: the characters of each
utterance of the premise, which stand in `sentence1` with one space between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dialogauge.corpus.fields import refuse_many_names
from dialogauge.corpus.inference_pair import InferencePair, Unlabelled, make_pair
from dialogauge.corpus.quote import quote_all
from dialogauge.corpus.reading import Reading
from dialogauge.errors import InputError

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
                yield _of_row(dict(zip(columns, cells, strict=True)), names)


def _of_row(row: Mapping[str, str], names: tuple[str, str, str]) -> InferencePair | Unlabelled:
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


def _flat(text: str) -> str:
    return _BREAKS.sub(" ", text)
