"""The rated pairs of the BERT-RUBER paper (Ghazarian et al. 2019), as published with Predictive Engagement: a CSV
with one row per rating, and the authors' own scores."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dialogauge.corpus.readers.turns import number, rows
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe, quote, quote_all
from dialogauge.tables import counted

_TEXTS = ("query", "response", "human_score")
_TELLING = {*_TEXTS, "Ruber_Unref_Score", "CTX_Unref_Score"}
_DIMENSION = "appropriateness"
_RATERS = 3


def sniff(head: FileHead) -> bool:
    try:
        columns = next(csv.reader([head.first_line]))
    except (csv.Error, StopIteration):
        return False
    return set(columns) >= _TELLING


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """The first half of the rows is of the system `generated`, the second of `true`. Equal pairs within a half are
    one turn with a rating per row. Ids count queries from 0 (of a query that comes twice the first stays
    with the first); the true reply to the same query is the reference of the generated one. The authors'
    scores are numbers in `extra`."""
    table = list(rows(reading, ","))
    columns = _header(reading, table)
    body = table[1:]
    if len(body) % 2:
        raise InputError(f"expected as many rows of generated as of true replies, found {len(body)} rows", reading.path)
    half = len(body) // 2
    ids: dict[tuple[str, int], str] = {}
    generated = _pairs(reading, columns, body[:half], ids)
    true = _pairs(reading, columns, body[half:], ids)
    truths = {pair.id: pair.response for pair in true if pair.response}
    for pair in generated:
        yield pair.line, _turn(pair, "generated", (truths[pair.id],) if pair.id in truths else ())
    for pair in true:
        yield pair.line, _turn(pair, "true", ())
    if odd := sum(len(pair.ratings) != _RATERS for pair in (*generated, *true)):
        reading.remark("uneven_ratings", f"{counted(odd, 'pair')} rated more or less often than three times")


@dataclass
class _Pair:
    """A query with a response to it. `id` is shared with the other system's response to the same query."""

    line: int
    id: str
    query: str
    response: str
    scores: dict[str, float]
    ratings: list[float | None] = field(default_factory=list)


def _header(reading: Reading, table: Sequence[tuple[int, list[str]]]) -> list[str]:
    line, columns = table[0] if table else (1, [])
    if reading.problems:
        raise reading.problems[0]
    if not set(columns) >= set(_TEXTS) or len(set(columns)) < len(columns):
        wanted = ", ".join(_TEXTS)
        raise InputError(f"expected the columns {wanted}, each once, found {quote_all(columns)}", reading.path, line)
    return columns


def _pairs(
    reading: Reading, columns: Sequence[str], body: Sequence[tuple[int, list[str]]], ids: dict[tuple[str, int], str]
) -> list[_Pair]:
    """The pairs of one half, in order of appearance. `ids` holds the id of the nth response to a query."""
    pairs: dict[tuple[str, str], _Pair] = {}
    asked: dict[str, int] = {}
    for line, row in body:
        with reading.record(line):
            if len(row) != len(columns):
                raise InputError(f"expected {len(columns)} columns, found {len(row)}")
            cells = {column: cell.strip() for column, cell in zip(columns, row, strict=True)}
            key = cells["query"], cells["response"]
            rating = fields.rating(number(cells["human_score"]) if cells["human_score"] else None, "human_score")
            scores = _scores(cells)
            if key not in pairs:
                asked[key[0]] = asked.get(key[0], 0) + 1
                id = ids.setdefault((key[0], asked[key[0]]), str(len(ids)))
                pairs[key] = _Pair(line, id, *key, scores)
            if scores != pairs[key].scores:
                raise InputError(f"expected the scores that this pair has in line {pairs[key].line}, found others")
            pairs[key].ratings.append(rating)
    return list(pairs.values())


def _scores(cells: dict[str, str]) -> dict[str, float]:
    scores = {}
    for column, cell in cells.items():
        if column and cell and column not in _TEXTS:
            value = number(cell)
            if isinstance(value, str):
                raise InputError(f"{quote(column)}: expected a number, found {describe(value)}")
            scores[column] = float(value)
    return scores


def _turn(pair: _Pair, system: str, references: tuple[str, ...]) -> Turn:
    return Turn(
        id=pair.id,
        response=pair.response,
        context=(pair.query,) if pair.query else (),
        references=references,
        system=system,
        ratings=fields.ratings({_DIMENSION: list(pair.ratings)}),
        extra=pair.scores or NOTHING,
    )


BERT_RUBER = Reader("bert_ruber", "the rated pairs of the BERT-RUBER paper, a CSV", sniff, read)
