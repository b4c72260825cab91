"""Files in, a corpus out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from dialogauge.corpus import known
from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.how import ROLES, HowToRead, Role
from dialogauge.corpus.readers.registry import choose
from dialogauge.corpus.reading.columns import ColumnMap, check_mapping
from dialogauge.corpus.reading.fields import refuse_huge_texts
from dialogauge.corpus.reading.reader import LocatedTurn, Reader, Reading, system_name
from dialogauge.corpus.reading.remote import RemotePath, input_path
from dialogauge.corpus.reading.seen import SeenIds
from dialogauge.corpus.reading.source import STDIN, content_sha256, refuse_missing, spooled_stdin
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import Caveat, InputError, quote, unknown
from dialogauge.progress import progress_bar

_LINES = 1 << 40


def load(
    paths: str | Path | Sequence[str | Path],
    *,
    reader: str | None = None,
    skip_invalid: bool = False,
    progress: bool = False,
    mapping: ColumnMap = NOTHING,
    role: Role | None = None,
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
        role: Whose messages in chat logs are turns, "assistant" or "user"; by default everybody's, of which those of
            users are scored only where `systems` names them.

    Examples:
        >>> import dialogauge
        >>> corpus = dialogauge.load("examples/everyday.jsonl")
        >>> corpus
        <Corpus: 3 systems, 192 turns>
        >>> corpus.turns[0].context[0]
        'Did you manage to finish the sales report before the meeting?'
    """
    loading = stream(paths, reader=reader, skip_invalid=skip_invalid, mapping=mapping, role=role)
    turns = list(watched(loading.turns()) if progress else loading.turns())
    return Corpus(turns, tuple(loading.files), tuple(loading.caveats), frozenset(loading.users))


def stream(
    paths: str | Path | Sequence[str | Path],
    *,
    reader: str | None = None,
    skip_invalid: bool = False,
    mapping: ColumnMap = NOTHING,
    role: Role | None = None,
) -> Loading:
    """Like `load`, but the turns are read only as they are asked for, once: for files that do not fit in memory.

    Examples:
        >>> import dialogauge
        >>> dialogauge.evaluate(dialogauge.stream("examples/everyday.jsonl"), "distinct.1").systems
        {'good': 64, 'dull': 64, 'offtopic': 64}
    """
    return Loading(_listed(paths), reader, skip_invalid, mapping, role)


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
        role: Role | None = None,
    ) -> None:
        if role not in (None, *ROLES):
            raise unknown("role", str(role), ROLES)
        check_mapping(mapping)
        self.files: list[SourceFile] = []
        self.caveats: list[Caveat] = []
        self._how = HowToRead(reader, skip_invalid, mapping, role)
        self._speakers: set[str] = set()
        self.users = self._how.left_as_users(self._speakers)
        """Systems that are the users of chat logs and not asked for, as far as turns were read."""
        self._paths = [input_path(path) for path in paths]
        self._begun = False
        self._positions: dict[str, int] = {}
        self._seen = SeenIds()
        self._first_in: dict[str, tuple[int, Reading]] = {}
        """For each system the input that had it first."""

    @property
    def files_at_rest(self) -> tuple[list[Path], HowToRead] | None:
        """The files, and how they are read, where they can be read again and in parts; None of what is piped in."""
        return (self._paths, self._how) if self._paths and STDIN not in self._paths else None

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
        reader, caveats = choose(path, self._how.reader, self._how.mapping)
        self.caveats += [caveat for caveat in caveats if caveat not in self.caveats]
        if self._how.mapping and not reader.has_columns:
            raise InputError(f"--map: files of the format {reader.name!r} have no columns to name", path)
        reading = Reading(path, self._how.skip_invalid, self._positions, self._how.mapping)
        yield from self._accepted(reader.read(reading), index, reading)
        self.files += [SourceFile(str(file), digest, reader.name) for file, digest in reading.hashes()]
        self.caveats += known_faults(reading, reader)

    def _accepted(self, located: Iterator[LocatedTurn], index: int, reading: Reading) -> Iterator[Turn]:
        """The turns, once what no reader can see by itself is looked at: ids that stand twice, an input without any."""
        reading.users = self._speakers
        empty = True
        for line, turn in located:
            self._refuse_merging(turn, index, reading)
            try:
                refuse_huge_texts((turn.response, *turn.context, *turn.references, *turn.facts))
                self._note_place(turn, index, line, reading)
            except InputError as error:
                reading.leave_out(error, line)
            else:
                if self._how.wants(turn.system, self._speakers):
                    empty = False
                    yield turn
        refuse_empty(reading, empty, self._how.role)
        self.caveats += reading.caveats()

    def _refuse_merging(self, turn: Turn, index: int, reading: Reading) -> None:
        first, first_reading = self._first_in.setdefault(turn.system, (index, reading))
        if first != index:
            merging_systems(turn.system, self._paths[first], first_reading, self._paths[index], reading)

    def _note_place(self, turn: Turn, index: int, line: int, reading: Reading) -> None:
        """Refuses a turn whose id and system were there before. A place is one int, file and line together,
        since a million tuples would be heavy."""
        before = self._seen.note(turn.system, turn.id, index * _LINES + line)
        if before is None:
            return
        file, first = divmod(before, _LINES)
        unused = [f"--map system={column}" for column in reading.columns.unused()]
        apart = f"; if a column tells systems apart, name it: {' or '.join(unused)}" if unused else ""
        place = f"row {first}"
        if self._paths:
            place = f"{'stdin' if self._paths[file] == STDIN else self._paths[file]}:{first}"
        advice = None if file == index else _advice_on_same_ids(self._paths[file], self._paths[index])
        raise refuse_twice(turn, place, advice, apart)


def merging_systems(system: str, first: Path, first_reading: Reading, second: Path, second_reading: Reading) -> None:
    """Two files may be two systems whatever model they name, or one system in two parts: the user must say."""
    for column in (each.columns.understood.get("system") for each in (first_reading, second_reading)):
        if column is not None:
            ask = f"--map system={column} if it is one system, --map system= to name systems after the files"
            raise InputError(f"both {first} and {second} have {quote(system)} in {quote(column)}: say {ask}")


def refuse_twice(turn: Turn, place: str, advice: str | None = None, apart: str = "") -> InputError:
    """Of a turn whose id and system stand already there: in the same input, unless there is advice on two."""
    system = quote(turn.system)
    if turn.numbered and advice is None:
        found = f"has no id, and the one made of its position, {quote(turn.id)}, stands already at {place}"
        return InputError(f"{found}; give all turns of system {system} an id, or none{apart}")
    if advice is None:
        advice = "ids must differ"
        if turn.id.isdecimal() and not apart:
            advice += ", and a turn without one goes by its position, from 0"
    return InputError(f"id {quote(turn.id)} of system {system} stands already at {place}; {advice}{apart}")


def twice_in(
    first: tuple[Path, int], second: tuple[Path, int], same_file: bool, skip_invalid: bool = False
) -> InputError:
    """Of a turn in two parts of an input, where the parts were read by themselves: both were measured when it shows."""
    hint = "ids must differ" if same_file else _advice_on_same_ids(first[0], second[0])
    if skip_invalid:
        hint += "; of so many turns, --skip-invalid leaves out only those that stand twice within a chunk of 64 MiB"
    return InputError(f"this turn's id and system stand already at {first[0]}:{first[1]}; {hint}", *second)


def refuse_empty(reading: Reading, empty: bool, role: Role | None = None) -> None:
    """Refuses an input without a turn, or without a column that was asked for."""
    if empty:
        if role is not None:
            found = "messages of the other role alone" if reading.users else "no turn that a role is told of"
            raise InputError(f"--role {role}: expected chat messages of this role, found {found}", reading.place)
        reasons = "; ".join(reading.all_left_out())
        left_out = f": {reasons}" if reasons else ""
        raise InputError(f"expected turns, found none{left_out}", reading.place)
    for field, column in reading.columns.unmet.items():
        raise InputError(f"--map {field}={column}: expected such a field, found it in no record", reading.place)


def refuse_contested(reading: Reading) -> None:
    """Refuses an input in parts that were read in different ways: the first record of each part decides what a column
    is, and of the whole input only the first one would have."""
    for field, column in reading.columns.contested.items():
        found = f"found that {quote(column)} may hold it in some parts of the file and cannot in others"
        raise InputError(f"{field}: {found}; say --map {field}={column}, or --map {field}=", reading.place)


def corpora_in(given: str | PathLike[str]) -> list[Path]:
    """The corpora that a path holds: GRADE's root has one in each folder of `eval_data`. Else the path itself, which it
    always is in a store: its files alone are read."""
    path = input_path(given)
    if isinstance(path, RemotePath):
        return [path]
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


def known_faults(reading: Reading, reader: Reader) -> list[Caveat]:
    """What is known to be wrong with the files, where they are published ones."""
    if not any(corpus.reader == reader.name for corpus in known.corpora()):
        return []
    hashes = {content_sha256(file) for file in reading.files}
    return [
        Caveat("known_fault", f"{reading.path} is {corpus.name}: {fault}")
        for corpus in known.with_contents(hashes)
        for fault in corpus.faults
    ]
