"""Files in, a corpus out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from dialogauge.corpus import known
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.readers.registry import choose
from dialogauge.corpus.reading.columns import ColumnMap, check_mapping
from dialogauge.corpus.reading.fields import refuse_huge_texts
from dialogauge.corpus.reading.reader import LocatedTurn, Reader, Reading, system_name
from dialogauge.corpus.reading.source import STDIN, content_sha256, refuse_missing, sha256, spooled_stdin
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, quote
from dialogauge.progress import progress_bar

_LINES = 1 << 40


def load(
    paths: str | Path | Sequence[str | Path],
    *,
    reader: str | None = None,
    skip_invalid: bool = False,
    progress: bool = False,
    mapping: ColumnMap = NOTHING,
) -> Corpus:
    """The turns of all files, in order.

    Args:
        paths: A file, a directory that is a corpus, or several; "-" stands for stdin. docs/formats.md has the formats.
        reader: The format, where it is not to be recognised by content.
        skip_invalid: Whether a line that cannot be read, or a second turn with the same id and system, is left out and
            counted in a caveat. Else it raises an `InputError`.
        progress: Whether stderr shows a bar.
        mapping: The column that holds a field, `{"system": "variant"}`, where it goes by another name than the field's
            and than those that are understood; None is no column at all.

    Examples:
        >>> import dialogauge
        >>> corpus = dialogauge.load("examples/everyday.jsonl")
        >>> corpus
        <Corpus: 3 systems, 192 turns>
        >>> corpus.turns[0].context[0]
        'Did you manage to finish the sales report before the meeting?'
    """
    loading = stream(paths, reader=reader, skip_invalid=skip_invalid, mapping=mapping)
    turns = list(watched(loading.turns()) if progress else loading.turns())
    return Corpus(turns, tuple(loading.files), tuple(loading.caveats), frozenset(loading.users))


def stream(
    paths: str | Path | Sequence[str | Path],
    *,
    reader: str | None = None,
    skip_invalid: bool = False,
    mapping: ColumnMap = NOTHING,
) -> Loading:
    """Like `load`, but the turns are read only as they are asked for, once: for files that do not fit in memory.

    Examples:
        >>> import dialogauge
        >>> dialogauge.evaluate(dialogauge.stream("examples/everyday.jsonl"), "distinct.1").systems
        {'good': 64, 'dull': 64, 'offtopic': 64}
    """
    return Loading(_listed(paths), reader, skip_invalid, mapping)


def _listed(paths: Any) -> list[str | Path]:
    several = isinstance(paths, Iterable) and not isinstance(paths, str) and not hasattr(paths, "columns")
    found = list(paths) if several else [paths]
    if wrong := [each for each in found if not isinstance(each, str | PathLike)]:
        what = type(wrong[0]).__name__
        hint = "Corpus.from_records and Corpus.from_frame take what is in memory"
        raise InputError(f"expected a path or several, found {what}; {hint}")
    if not found:
        raise InputError("expected at least one file, found none")
    return found


class Loading:
    """Files being read: `turns()` streams, `files` and `caveats` are complete when it has ended."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        reader: str | None = None,
        skip_invalid: bool = False,
        mapping: ColumnMap = NOTHING,
    ) -> None:
        self.files: list[SourceFile] = []
        self.caveats: list[Caveat] = []
        self.users: set[str] = set()
        """Systems that are the users of chat logs, as far as turns were read."""
        self._paths = [Path(path) for path in paths]
        self._reader = reader
        self._skip_invalid = skip_invalid
        self._mapping = mapping
        check_mapping(mapping)
        self._begun = False
        self._positions: dict[str, int] = {}
        self._places: dict[str, dict[str, int]] = {}
        self._first_in: dict[str, tuple[int, Reading]] = {}
        """For each system the input that had it first."""

    def turns(self) -> Iterator[Turn]:
        self._begin()
        for path in self._paths:
            refuse_missing(path)
        if self._paths.count(STDIN) > 1:
            raise InputError("expected - once, found it twice: what is piped in can be read once")
        for index, path in enumerate(self._paths):
            yield from self._read_stdin(index) if path == STDIN else self._read(index, path)

    def _begin(self) -> None:
        if self._begun:
            raise InputError("this stream was read already, and is read once; open another, or load the turns")
        self._begun = True

    def _read_stdin(self, index: int) -> Iterator[Turn]:
        """What is piped in; it goes by the name of `stdin`, never by that of the file in which it lies for now."""
        with spooled_stdin() as path:
            try:
                yield from self._read(index, path)
            except InputError as error:
                place = "stdin" if error.path == path else error.path
                raise InputError(error.message, place, error.line) from None
            self.files = [replace(file, path=str(STDIN)) if file.path == str(path) else file for file in self.files]
            self.caveats = [Caveat(each.code, each.message.replace(str(path), "stdin")) for each in self.caveats]

    def _read(self, index: int, path: Path) -> Iterator[Turn]:
        reader, caveats = choose(path, self._reader, self._mapping)
        self.caveats += [caveat for caveat in caveats if caveat not in self.caveats]
        if self._mapping and not reader.has_columns:
            raise InputError(f"--map: files of the format {reader.name!r} have no columns to name", path)
        reading = Reading(path, self._skip_invalid, self._positions, self._mapping)
        yield from self._accepted(reader.read(reading), index, reading)
        self.files += [SourceFile(str(file), sha256(file), reader.name) for file in reading.files]
        self.caveats += _known_faults(reading, reader)

    def _accepted(self, located: Iterator[LocatedTurn], index: int, reading: Reading) -> Iterator[Turn]:
        """The turns, once what no reader can see by itself is looked at: ids that stand twice, an input without any."""
        reading.users = self.users
        empty = True
        for line, turn in located:
            self._refuse_merging(turn, index, reading)
            try:
                refuse_huge_texts((turn.response, *turn.context, *turn.references, *turn.facts))
                self._note_place(turn, index, line, reading)
            except InputError as error:
                reading.leave_out(error, line)
            else:
                empty = False
                yield turn
        if empty:
            left_out = f": {reading.left_out_message()}" if reading.left_out else ""
            raise InputError(f"expected turns, found none{left_out}", reading.place)
        for field, column in reading.columns.unmet.items():
            raise InputError(f"--map {field}={column}: expected such a field, found it in no record", reading.place)
        self.caveats += reading.caveats()

    def _refuse_merging(self, turn: Turn, index: int, reading: Reading) -> None:
        """Two files may be two systems whatever model they name, or one system in two parts: the user must say."""
        first, first_reading = self._first_in.setdefault(turn.system, (index, reading))
        if first == index:
            return
        for column in (each.columns.understood.get("system") for each in (first_reading, reading)):
            if column is not None:
                files = f"{self._paths[first]} and {self._paths[index]}"
                ask = f"--map system={column} if it is one system, --map system= to name systems after the files"
                raise InputError(f"both {files} have {quote(turn.system)} in {quote(column)}: say {ask}")

    def _note_place(self, turn: Turn, index: int, line: int, reading: Reading) -> None:
        """Refuses a turn whose id and system were there before. A place is one int, file and line together,
        since a million tuples would be heavy."""
        places = self._places.setdefault(turn.system, {})
        if turn.id in places:
            file, first = divmod(places[turn.id], _LINES)
            taken = f"id {quote(turn.id)} of system {quote(turn.system)}"
            unused = [f"--map system={column}" for column in reading.columns.unused()]
            hint = _advice_on_same_ids(self._paths[file], self._paths[index]) if file != index else "ids must differ"
            apart = f"; if a column tells systems apart, name it: {' or '.join(unused)}" if unused else ""
            place = f"{self._paths[file]}:{first}" if self._paths else f"row {first}"
            raise InputError(f"{taken} stands already at {place}; {hint}{apart}")
        places[turn.id] = index * _LINES + line


def corpora_in(path: Path) -> list[Path]:
    """The corpora that a path holds: GRADE's root has one in each folder of `eval_data`. Else the path itself."""
    folder = path / "eval_data"
    return sorted({file.parent.parent for file in folder.glob("*/*/human_hyp.txt")}) or [path]


def watched(turns: Iterator[Turn]) -> Iterator[Turn]:
    """The turns, with a bar on stderr that counts them."""
    with progress_bar(turns, "reading", shown=True, unit="turn") as bar:
        yield from bar


def _advice_on_same_ids(first: Path, second: Path) -> str:
    """What to do where two files have turns of one system with the same ids."""
    if first.resolve() == second.resolve():
        return "the file is given twice"
    apart = "rename one of the files" if system_name(first) == system_name(second) else "give one another `system`"
    return (
        f"are these two systems? Then {apart}; for two versions of one system, `dialogauge score` each file with --out"
        " and `dialogauge compare` the two runs"
    )


def _known_faults(reading: Reading, reader: Reader) -> list[Caveat]:
    """What is known to be wrong with the files, where they are published ones."""
    if not any(corpus.reader == reader.name for corpus in known.corpora()):
        return []
    hashes = {content_sha256(file) for file in reading.files}
    return [
        Caveat("known_fault", f"{reading.path} is {corpus.name}: {fault}")
        for corpus in known.with_contents(hashes)
        for fault in corpus.faults
    ]
