"""The files that faults are looked for in: the FBD paper's, GRADE's, and what people said."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.known import corpora
from dialogauge.corpus.load import Loading, load, stream
from dialogauge.corpus.turn import Turn
from dialogauge.errors import Caveat, InputError
from dialogauge.reproduce.files import annotation_file

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
