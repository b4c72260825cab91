"""What is wrong with the published files of the FBD paper (Xiang et al. 2021), counted anew from the files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.known import corpora
from dialogauge.corpus.load import Loading, load, stream
from dialogauge.corpus.reading.json import parse_object
from dialogauge.corpus.reading.source import decode, raw_lines
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.papers.fbd.published import annotation_file
from dialogauge.papers.side_by_side import SideBySide, check_known, make_table
from dialogauge.tables import Header, Table

Systems = dict[str, list[Turn]]


class FaultFiles:
    """The published files, each read once, and only if a check asks for it."""

    def __init__(self, folder: Path, grade: Path | None, conversations: Sequence[Path]) -> None:
        self.grade, self.conversations = grade, conversations
        self.files: list[SourceFile] = []
        self.caveats: list[Caveat] = []
        self._folder = folder
        self._read: dict[Path, Systems] = {}

    def systems(self, name: str) -> Systems:
        """The turns of a corpus by the names that its systems are known under, which the file does not hold."""
        path = self.path(name)
        known = next(corpus for corpus in corpora() if corpus.name == name)
        found = self._load(path, "fbd")
        if len(found) != len(known.systems):
            raise InputError(f"expected {len(known.systems)} systems, as {name} has, found {len(found)}", path)
        return dict(zip(known.systems, found.values(), strict=True))

    def path(self, name: str) -> Path:
        return annotation_file(self._folder, name)

    def graded(self, corpus: str, systems: Sequence[str]) -> Systems | None:
        """What GRADE holds of these systems; None, and a caveat, where its directory is not given."""
        if self.grade is None:
            self._note(Caveat("missing_input", "without GRADE's directory, nothing is looked up in GRADE"))
            return None
        path = self.grade / "eval_data" / corpus
        if not path.is_dir():
            raise InputError(f"expected GRADE's directory, with eval_data/{corpus} in it", self.grade)
        found = self._load(path, "grade")
        if missing := [system for system in systems if system not in found]:
            raise InputError(f"expected a directory for each system, found none for {', '.join(missing)}", path)
        return {system: found[system] for system in systems}

    @cached_property
    def utterances(self) -> frozenset[str]:
        """The letters of whatever people said in the conversations; of none, and with a caveat, where none is given."""
        if not self.conversations:
            self._note(Caveat("missing_input", "without conversations, no response is looked up in what people said"))
            return frozenset()
        loading = stream(list(self.conversations))
        # Each utterance is a response, except the first of a conversation, which begins the context of all others.
        found = {letters(text) for turn in loading.turns() for text in (turn.response, *turn.context[:1])}
        self._keep(loading)
        return frozenset(found - {""})

    def _load(self, path: Path, reader: str) -> Systems:
        if path not in self._read:
            corpus = load(path, reader=reader)
            self._keep(corpus)
            self._read[path] = corpus.by_system
        return self._read[path]

    def _keep(self, corpus: Corpus | Loading) -> None:
        # GRADE's corpora share a file.
        self.files += [file for file in corpus.files if file not in self.files]
        for caveat in corpus.caveats:
            if caveat.code != "known_fault":
                self._note(caveat)

    def _note(self, caveat: Caveat) -> None:
        if caveat not in self.caveats:
            self.caveats.append(caveat)


def letters(text: str) -> str:
    """Letters and digits only: corpora differ in how they set punctuation and split words."""
    return "".join(character for character in text.lower() if character.isalnum())


RARE = 0.1
"""A word is rare if at most this share of the contexts has it. Punctuation and common words are not."""


@dataclass(frozen=True)
class Fault:
    """One count: `found` of `of` show the fault. `evidence` says what was counted, and what to hold it against where
    some would be found without the fault."""

    check: str
    corpus: str
    fault: str
    evidence: str
    found: int
    of: int


def _empathetic_is_dailyh(files: FaultFiles, check: str) -> Iterator[Fault]:
    corpus, same = "fbd-empathetic", "are those of fbd-dailyh"
    mine, theirs = files.systems(corpus), files.systems("fbd-dailyh")
    real, mixtures = list(mine)[:2], list(mine)[2:]
    names, turns = " and ".join(real), sum(len(mine[system]) for system in real)
    first, both, mixed = (_by_id(mine, theirs, systems) for systems in (real[:1], real, mixtures))

    evidence, items = "equal at the same place in both files", len(mine[real[0]])
    found = sum(a.context == b.context for a, b in first)
    yield Fault(check, corpus, f"contexts {same}", evidence, found, items)
    found = sum(a.references == b.references for a, b in first)
    yield Fault(check, corpus, f"references {same}", evidence, found, items)
    found, drawn = (sum(a.response == b.response for a, b in pairs) for pairs in (both, mixed))
    evidence = f"equal for {names}; of the mixtures' responses {drawn} of {len(mixed)} are equal"
    yield Fault(check, corpus, f"responses {same}", evidence, found, turns)
    found = sum(a.response == b.response and bool(a.ratings) and a.ratings == b.ratings for a, b in both)
    yield Fault(check, corpus, f"ratings {same}", "the equal responses have equal ratings", found, turns)

    empathetic, daily = files.graded("empatheticdialogues", real), files.graded("dailydialog", real)
    if empathetic and daily:
        there, elsewhere = (_answers_in(graded, mine) for graded in (empathetic, daily))
        fault = "responses are not GRADE's to EmpatheticDialogues"
        evidence = f"{there} are; {elsewhere} are GRADE's responses to DailyDialog"
        yield Fault(check, corpus, fault, evidence, turns - there, turns)


def _mixtures(files: FaultFiles, check: str) -> Iterator[Fault]:
    for corpus in ("fbd-dailyh", "fbd-empathetic"):
        (one, ones), (other, others), *mixtures = files.systems(corpus).items()
        copies, rated, parts = 0, 0, []
        for _, turns in mixtures:
            places = list(zip(turns, ones, others, strict=True))
            origins = [[real for real in (a, b) if real.response == turn.response] for turn, a, b in places]
            copies += sum(map(bool, origins))
            rated += sum(
                bool(turn.ratings) and any(real.ratings == turn.ratings for real in found)
                for turn, found in zip(turns, origins, strict=True)
            )
            parts.append(str(sum(turn.response == a.response for turn, a, _ in places)))
        evidence = f"equal to what {one} or {other} said there; {one}'s part of each mixture: {', '.join(parts)}"
        total = len(mixtures) * len(ones)
        yield Fault(check, corpus, "mixtures repeat real responses", evidence, copies, total)
        evidence = "the rating is that of the response that is repeated"
        yield Fault(check, corpus, "mixtures repeat their ratings", evidence, rated, total)


def _wrong_contexts(files: FaultFiles, check: str) -> Iterator[Fault]:
    """GRADE rated the systems on contexts of their own. It seems that each system's were sorted, then set side by
    side: the file shows the first system's contexts and references to all."""
    corpus = "fbd-convai2"
    systems = files.systems(corpus)
    own, *others = systems
    usual, _ = _unrelated(systems[own])
    for system in others:
        found, chance = _unrelated(systems[system])
        evidence = f"share no rare word with the context beside them; {chance:.1f} by chance; {usual} of {own}'s"
        yield Fault(check, corpus, f"{system} answered other contexts", evidence, found, len(systems[system]))
    for system, graded in (files.graded("convai2", list(systems)) or {}).items():
        turns = systems[system]
        answers = {(_as_in_fbd(turn.context), _squeezed(turn.response)) for turn in graded}
        beside = sum((_squeezed(" ".join(turn.context)), _squeezed(turn.response)) in answers for turn in turns)
        in_order = sorted(graded, key=lambda turn: "|||".join(turn.context))
        pairs = zip(turns, in_order, strict=False)
        moved = sum(_squeezed(a.response) == _squeezed(b.response) for a, b in pairs)
        evidence = (
            f"{beside} stand beside their own context; {moved} at its place among the system's own in GRADE, sorted"
        )
        fault = f"{system} answered other contexts in GRADE"
        yield Fault(check, corpus, fault, evidence, len(turns) - beside, len(turns))


def _random_responses(files: FaultFiles, check: str) -> Iterator[Fault]:
    for corpus, system in (("fbd-dailyz", "s07"), ("fbd-personaz", "s04")):
        systems = files.systems(corpus)
        turns = systems.pop(system)
        found, chance = _unrelated(turns)
        others = _span([str(_unrelated(others)[0]) for others in systems.values()])
        ratings = f"mean rating {_rating(turns)}, others {_span([_rating(others) for others in systems.values()])}"
        evidence = (
            f"share no rare word with their context; {chance:.1f} by chance; other systems {others}; {ratings};"
            " Zhao et al. call it negative-sample"
        )
        yield Fault(check, corpus, f"{system} gives random responses", evidence, found, len(turns))
        if files.utterances:
            found = _said(turns, files.utterances)
            others = _span([str(_said(others, files.utterances)) for others in systems.values()])
            evidence = f"were said in the conversations given, letter for letter; other systems {others}"
            yield Fault(check, corpus, f"{system} repeats what people said", evidence, found, len(turns))


def _stray_spaces(files: FaultFiles, check: str) -> Iterator[Fault]:
    """Counted in the file itself, whatever our reader makes of it."""
    for corpus, fields in (("fbd-dailyz", ["src"]), ("fbd-personam", ["src"]), ("fbd-personaz", list(_FIELDS))):
        systems, path = files.systems(corpus), files.path(corpus)
        lines = [decode(raw, path, line) for line, raw in raw_lines(path)]
        records = [parse_object(line) for line in lines if line.strip()]
        for field in fields:
            given = [record.get(field) or [] for record in records]
            rows = [[texts] if isinstance(texts, str) else texts for texts in given]
            texts = [text for row in rows for text in row]
            begin, end = (sum(edge(text, " ") for text in texts) for edge in (str.startswith, str.endswith))
            evidence = f"{begin} begin and {end} end in a space"
            if field == "hyps":
                stray = [sum(text != text.strip(" ") for text in column) for column in zip(*rows, strict=True)]
                evidence += f"; {', '.join(f'{name} {n}' for name, n in zip(systems, stray, strict=True))}"
            found = sum(text != text.strip(" ") for text in texts)
            yield Fault(check, corpus, f"{_FIELDS[field]} have stray spaces", evidence, found, len(texts))


_FIELDS = {"src": "contexts", "refs": "references", "hyps": "responses"}

CHECKS: dict[str, Callable[[FaultFiles, str], Iterator[Fault]]] = {
    "empathetic-is-dailyh": _empathetic_is_dailyh,
    "mixtures": _mixtures,
    "wrong-contexts": _wrong_contexts,
    "random-responses": _random_responses,
    "stray-spaces": _stray_spaces,
}
"""What `only` can name."""


def _by_id(mine: Systems, theirs: Systems, systems: Sequence[str]) -> list[tuple[Turn, Turn]]:
    """Turns of the same id and system in two corpora; those that only one has are left out."""
    ids = {system: {turn.id: turn for turn in theirs[system]} for system in systems}
    return [(turn, ids[system][turn.id]) for system in systems for turn in mine[system] if turn.id in ids[system]]


def _answers_in(graded: Systems, systems: Systems) -> int:
    """How many responses are the same system's in GRADE, whatever the context."""
    answers = {(system, _squeezed(turn.response)) for system, turns in graded.items() for turn in turns}
    return sum((system, _squeezed(turn.response)) in answers for system in graded for turn in systems[system])


def _unrelated(turns: Sequence[Turn]) -> tuple[int, float]:
    """How many responses share no rare word with their context, and how many would beside the other contexts."""
    contexts = [set(_squeezed(" ".join(turn.context)).split()) for turn in turns]
    having = Counter(word for context in contexts for word in context)
    most = max(1, RARE * len(contexts))
    own, other = 0, 0
    for place, turn in enumerate(turns):
        rare = {word for word in _squeezed(turn.response).split() if 0 < having[word] <= most}
        alone = [rare.isdisjoint(context) for context in contexts]
        own, other = own + alone[place], other + sum(alone) - alone[place]
    return own, other / max(1, len(turns) - 1)


def _said(turns: Sequence[Turn], utterances: frozenset[str]) -> int:
    return sum(letters(turn.response) in utterances for turn in turns)


def _rating(turns: Sequence[Turn]) -> str:
    """The mean of the last dimension, which is the overall one in all six files; nan where nobody rated."""
    numbers = [number for turn in turns for given in list(turn.ratings.values())[-1:] for number in given]
    given = [number for number in numbers if number is not None]
    return f"{fmean(given) if given else math.nan:.2f}"


def _span(numbers: Sequence[str]) -> str:
    ordered = sorted(numbers, key=float)
    return f"{ordered[0]} to {ordered[-1]}"


def _squeezed(text: str) -> str:
    """The text without its case and the number of its spaces."""
    return " ".join(text.lower().split())


def _as_in_fbd(context: Sequence[str]) -> str:
    """GRADE's utterances as the FBD files join them: a full stop between them unless one is there, even after "?"."""
    joined = ""
    for utterance in context:
        joined += (" " if joined.endswith(".") else " . " if joined else "") + _squeezed(utterance)
    return joined


@dataclass(frozen=True, repr=False)
class Faults(SideBySide):
    """What `faults` gives."""

    schema = "dialogauge.faults/1"
    listed = "rows"

    rows: list[Fault]

    def head(self) -> dict[str, Any]:
        return {}

    def to_table(self) -> Table:
        """The evidence stands last, since its length varies most."""
        rows = [(row.corpus, row.fault, str(row.found), str(row.of), row.evidence) for row in self.rows]
        right = ("found", "of", Header("evidence", align="left"))
        return make_table(("corpus", "fault"), right, rows, self.notes())

    def notes(self) -> list[str]:
        if not any("by chance" in row.evidence for row in self.rows):
            return []
        return [
            f"rare word: one that at most {RARE:.0%} of the corpus' contexts have",
            "by chance: how many there would be beside any other context of the corpus, on average",
        ]


def faults(
    folder: Path, only: str | None = None, *, grade: Path | None = None, conversations: Sequence[Path] = ()
) -> Faults:
    """Counts the faults of the six annotation files in `folder`; `only` names one check of `CHECKS`.

    `grade` is GRADE's directory, which holds `eval_data`: with it, responses are looked up beside the contexts that
    they were rated with. `conversations` are files of conversations between people (DailyDialog and ConvAI2 are to
    the point), in which responses that may be random are looked up. Each adds rows; a caveat says which are missing.
    """
    check_known("fault", [] if only is None else [only], CHECKS)
    files = FaultFiles(folder, grade, conversations)
    rows = [row for name, check in CHECKS.items() if only in (None, name) for row in check(files, name)]
    return Faults(rows, files=tuple(files.files), caveats=files.caveats)
