"""Ratings kept apart from the responses: a file with one record per rating, joined to the turns by id and system."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.readers.rated.tables import rater_columns
from dialogauge.corpus.readers.turns import number, rows, sniff_lines, sniff_parquet
from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.columns import RATINGS
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.parquet import batches, column_names, parquet_file
from dialogauge.corpus.reading.reader import FileHead, Reading
from dialogauge.corpus.reading.source import refuse_missing, sha256_since, state_of
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError, quote, quote_all
from dialogauge.tables import counted

COLUMNS = ("id", "system", "rater", "dimension", "value")
DIMENSION = "overall"
"""What is rated where the file does not say."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater gave one turn. `value` is None where the rater gave none; a `rater` of None is a rater of this
    record alone; a `system` of None is whichever has the id. `line` is, in Parquet, the row from 1."""

    id: str
    system: str | None
    rater: str | None
    dimension: str
    value: float | None
    line: int


def read_ratings(path: str | Path) -> list[Rating]:
    """The ratings of a CSV, TSV, JSON lines or Parquet file, in order. The format is recognised by content.

    `id` is required, and `value` or a column per rater or dimension; columns that are not ours are left out. The same
    rater twice on the same turn and dimension is an error, also where the values are equal."""
    reading = Reading(Path(path))
    ratings: list[Rating] = []
    lines: dict[tuple[str, str | None, str, str], int] = {}
    for line, record in _one_each(_records(reading)):
        with reading.record(line):
            rating = _rating(record, line)
            if rating.rater is not None:
                key = rating.id, rating.system, rating.rater, rating.dimension
                if key in lines:
                    raise InputError(f"{_twice(rating)} stands already in line {lines[key]}")
                lines[key] = line
            ratings.append(rating)
    if not ratings:
        raise InputError("expected ratings, found none", reading.path)
    return ratings


def join_ratings(corpus: Corpus, paths: Sequence[str | Path]) -> Corpus:
    """The corpus with the files' ratings on its turns.

    A turn's ratings of a dimension are those of the raters who rated it, in the order in which raters of that dimension
    first appear; the same name in two files is one rater. As in every reader, a dimension without any number is
    absent. Ratings that match no turn are counted in a caveat; where none matches, or a turn has the dimension already,
    an `InputError` is raised."""
    if not paths:
        return corpus
    files: dict[str, SourceFile] = {}
    joining = _Joining(corpus)
    for path in map(Path, paths):
        state = state_of(path)
        ratings = read_ratings(path)
        file = SourceFile(str(path), sha256_since(path, state), "ratings")
        if file.sha256 in files:
            # Raters without a name could not be told apart, and would seem to agree with themselves.
            other = files[file.sha256].path
            raise InputError(f"expected different files of ratings, found the content of {other} again", path)
        files[file.sha256] = file
        joining.add(path, ratings)
    if not joining.matched:
        raise joining.nothing_matches()
    return replace(
        corpus,
        turns=joining.turns(),
        files=(*corpus.files, *files.values()),
        caveats=(*corpus.caveats, *joining.caveats),
    )


class _Joining:
    """Ratings on their way to turns."""

    def __init__(self, corpus: Corpus) -> None:
        self.caveats: list[Caveat] = []
        self.matched = 0
        self._turns = corpus.turns
        self._places: dict[str, list[int]] = {}
        for place, turn in enumerate(corpus.turns):
            self._places.setdefault(turn.id, []).append(place)
        self._ranks: dict[str, dict[str | int, int]] = {}
        """For each dimension the raters in order of appearance; one without a name is a number."""
        self._given: dict[tuple[int, str], dict[int, tuple[Rating, Path]]] = {}
        """For each turn and dimension what each rater, by rank, gave, and in which file."""
        self._unmatched: list[tuple[Rating, Path]] = []

    def add(self, path: Path, ratings: Sequence[Rating]) -> None:
        lost = 0
        for rating in ratings:
            ranks = self._ranks.setdefault(rating.dimension, {})
            rank = ranks.setdefault(len(ranks) if rating.rater is None else rating.rater, len(ranks))
            place = self._match(rating)
            if place is None:
                lost += 1
                self._unmatched.append((rating, path))
            else:
                self._put(place, rank, rating, path)
        self.matched += len(ratings) - lost
        if lost:
            first, _ = self._unmatched[-lost]
            message = f"{lost} of {counted(len(ratings), 'rating')} match no turn; the first, in line {first.line}, has"
            self.caveats.append(Caveat("unmatched_ratings", f"{path}: {message} {_whose(first)}{self._hint(first)}"))

    def _match(self, rating: Rating) -> int | None:
        """The place of the one turn that is meant; None where there is none, or more than one."""
        places = self._places.get(rating.id, [])
        if rating.system is not None:
            places = [place for place in places if self._turns[place].system == rating.system]
        return places[0] if len(places) == 1 else None

    def _put(self, place: int, rank: int, rating: Rating, path: Path) -> None:
        if rating.dimension in self._turns[place].ratings:
            whose = f"the turn with {_whose(self._turns[place])}"
            own = f"has ratings of {quote(rating.dimension)} of its own; take them out of one of the files"
            raise InputError(f"{whose} {own}", path, rating.line)
        given = self._given.setdefault((place, rating.dimension), {})
        if rank in given:
            before, file = given[rank]
            raise InputError(f"{_twice(rating)} stands already at {file}:{before.line}", path, rating.line)
        given[rank] = rating, path

    def turns(self) -> list[Turn]:
        turns = list(self._turns)
        for (place, dimension), given in self._given.items():
            values = tuple(given[rank][0].value for rank in sorted(given))
            if any(value is not None for value in values):
                turns[place] = replace(turns[place], ratings={**turns[place].ratings, dimension: values})
        return turns

    def nothing_matches(self) -> InputError:
        rating, path = self._unmatched[0]
        turn = f"the first turn has {_whose(self._turns[0])}" if self._turns else "the corpus has no turns"
        message = f"expected ratings of the corpus's turns, found none: the first rating has {_whose(rating)}, {turn}"
        return InputError(message + self._hint(rating), path, rating.line)

    def _hint(self, rating: Rating) -> str:
        places = self._places.get(rating.id, [])
        if rating.system is not None or len(places) < 2:
            return ""
        return f" (this id stands {len(places)} times in the corpus: the rating must name its system)"


def _records(reading: Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    path = reading.path
    refuse_missing(path)
    head = FileHead.read(path)
    if head.is_directory:
        raise InputError("is a directory; expected a file of ratings", path)
    if sniff_parquet(head):
        return _parquet(reading)
    if sniff_lines(head):
        return _json_lines(reading)
    return _table(reading, head.delimiter)


def _one_each(records: Iterator[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """A record per rating, also where a record has a column per rater (`rater_1`, `fluent_rater_1`) or per dimension
    (`ratings.fluent`)."""
    for line, record in records:
        if "value" in record:
            yield line, record
            continue
        for column, dimension, rater in _rated_columns(record):
            given = {"dimension": dimension, "value": _number(record[column])}
            yield line, {**record, **given, **({"rater": rater} if rater else {})}


def _rated_columns(names: Sequence[str] | Mapping[str, Any]) -> list[tuple[str, str, str | None]]:
    """Columns that hold ratings themselves: each with its dimension and, where it has a column, the rater."""
    of_raters = [
        (column, dimension, str(rater))
        for dimension, columns in rater_columns(names).items()
        for rater, column in enumerate(columns, start=1)
    ]
    known = {column for column, _, _ in of_raters} | {RATINGS}
    others = [name for name in names if name.startswith(RATINGS) and name not in known]
    return [*of_raters, *((name, name.removeprefix(RATINGS), None) for name in others)]


def _number(value: Any) -> Any:
    return number(value) if isinstance(value, str) else value


def _json_lines(reading: Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, text in reading.lines():
        with reading.record(line):
            record = parse_object(text)
            _check(record, "field")
            yield line, record


def _table(reading: Reading, delimiter: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    columns: list[str] | None = None
    for line, row in rows(reading, delimiter):
        with reading.record(line):
            if columns is None:
                # A column without a name is such as pandas writes for its index.
                _check([column for column in row if column], "column")
                columns = row
                continue
            if len(row) != len(columns):
                raise InputError(f"expected {len(columns)} columns, found {len(row)}")
            cells: dict[str, Any] = {column: text or None for column, text in zip(columns, row, strict=True)}
            if cells.get("value") is not None:
                cells["value"] = number(cells["value"])
            yield line, cells


def _parquet(reading: Reading) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with parquet_file(reading.path) as file:
        names = column_names(file, reading.path)
        try:
            _check(names, "column")
        except InputError as error:
            raise InputError(error.message, reading.path) from None
        rated = {column for column, _, _ in _rated_columns(names)}
        wanted = [name for name in names if name in COLUMNS or name in rated]
        records = [row for rows in batches(file, reading.path, columns=wanted) for row in rows]
    for place, row in enumerate(records, start=1):
        yield place, {name: float(value) if isinstance(value, Decimal) else value for name, value in row.items()}


def _check(names: Sequence[str] | Mapping[str, Any], kind: str) -> None:
    """Refuses a name that comes twice or resembles one of ours, and names without those that are required."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"expected {kind}s of different names, found {quote(name)} twice")
        seen.add(name)
    rated = {column for column, _, _ in _rated_columns(names)} if "value" not in seen else set()
    fields.refuse_near_misses(seen - rated, COLUMNS)
    for needed in ("id",) if rated else ("id", "value"):
        if needed not in seen:
            raise InputError(f"expected a {kind} {needed!r}, found {quote_all(names) or 'none'}")


def _rating(record: Mapping[str, Any], line: int) -> Rating:
    id, system, rater, dimension = (fields.name(record, column) for column in COLUMNS[:-1])
    if id is None:
        raise InputError("id: expected text or a whole number, found none")
    dimension = sys.intern(dimension or DIMENSION)
    return Rating(
        id=id,
        system=system and sys.intern(system),
        rater=rater and sys.intern(rater),
        dimension=dimension,
        value=fields.rating(record["value"], dimension),
        line=line,
    )


def _whose(rated: Rating | Turn) -> str:
    return f"id {quote(rated.id)} and {'no system' if rated.system is None else f'system {quote(rated.system)}'}"


def _twice(rating: Rating) -> str:
    return f"the rating {quote(rating.dimension)} of {_whose(rating)} by rater {quote(str(rating.rater))}"
