"""Pairs of premise and hypothesis to learn from, to validate with and to test on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import SourceFile
from dialogauge.corpus.inference import LABELS, SPLITS, InferencePair, read_inference
from dialogauge.errors import Caveat, InputError, check_share
from dialogauge.learned.entailment.model import premise_of

Rows = NDArray[np.int64]
SHARE = 0.05
"""Of the dialogues (where there are none, of the premises), held back where no others are given to validate with."""
FEWEST_HELD = 100
READER = "inference pairs"


@dataclass(frozen=True)
class Labelled:
    """Entry i of each belongs to pair i."""

    premises: list[str]
    hypotheses: list[str]
    labels: Rows
    """Places in `LABELS`."""
    groups: Rows
    """A number for the dialogue that a pair comes from; for its premise, where it comes from none."""
    sources: list[str]
    """How each pair was made."""

    def __len__(self) -> int:
        return len(self.premises)

    def digest(self) -> str:
        found = hashlib.sha256()
        for texts in (self.premises, self.hypotheses):
            found.update("\0".join(texts).encode("utf-8", "surrogatepass"))
        for rows in (self.labels, self.groups):
            found.update(rows.tobytes())
        return found.hexdigest()


@dataclass(frozen=True)
class Files:
    """To learn from; to validate with (or the share of the former to validate with); to test on."""

    training: Sequence[str | Path]
    validation: Sequence[str | Path] = ()
    tests: Sequence[str | Path] = ()
    share: float | None = None
    skip_invalid: bool = False


@dataclass(frozen=True)
class EntailmentData:
    """All pairs, and which of them are for what."""

    pairs: Labelled
    train: Rows
    held: Rows
    tests: dict[str, Rows]
    sources: dict[str, tuple[SourceFile, ...]]
    """The files of "training", "validation" and "tests"."""
    share: float | None
    """Of the groups, drawn to validate with; None where pairs to validate with were given."""
    caveats: list[Caveat]

    def digest(self) -> str:
        found = hashlib.sha256(self.pairs.digest().encode())
        for rows in (self.train, self.held):
            found.update(rows.tobytes())
        return found.hexdigest()


def read_data(files: Files, seed: int) -> EntailmentData:
    """Of files that say of each pair for what it is (`split`), those for training are learned from, and those for
    validation and test are used as such."""
    share = SHARE if files.share is None else files.share
    check_share("the share to validate with", share)
    reading = _Reading(files.skip_invalid)
    for path in files.training:
        reading.add(path, "train")
    for path in files.validation:
        reading.add(path, "validation", always=True)
    for path in files.tests:
        reading.add(path, reading.new_name(path), always=True)
    pairs, uses = reading.pairs(), reading.uses
    train = _rows(uses, "train")
    if not len(train):
        raise InputError("nothing to learn from: all pairs are to be validated with or to be tested on")
    _refuse_one_class(pairs.labels[train])
    held = _rows(uses, "validation")
    drawn = not len(held)
    if drawn:
        train, held = _divide(train, pairs.groups, share, np.random.default_rng([seed, 1]))
        _refuse_one_class(pairs.labels[train])
    elif files.share is not None:
        raise InputError("the share to validate with: the files have pairs to validate with already; leave it out")
    tests = {name: _rows(uses, name) for name in dict.fromkeys(uses) if name not in ("train", "validation")}
    judged = {"validation": held, **tests}
    caveats = [*reading.caveats, *_label_caveats(pairs.labels[train], held), *_pair_caveats(pairs, train, judged)]
    return EntailmentData(pairs, train, held, tests, reading.sources(), share if drawn else None, caveats)


class _Reading:
    """Pairs as they come in."""

    def __init__(self, skip_invalid: bool) -> None:
        self.uses: list[str] = []
        """For what each pair is: train, validation or the name of a test."""
        self.caveats: list[Caveat] = []
        self._skip_invalid = skip_invalid
        self._premises: list[str] = []
        self._hypotheses: list[str] = []
        self._labels: list[int] = []
        self._sources: list[str] = []
        self._groups: dict[Any, int] = {}
        self._grouped: list[int] = []
        self._texts: dict[str, str] = {}
        self._files: dict[str, list[SourceFile]] = {"training": [], "validation": [], "tests": []}

    def new_name(self, path: str | Path) -> str:
        """By which a test is known: its file's, if it is not taken."""
        taken, name = {*SPLITS, *self.uses}, Path(path).name
        if name in taken:
            name = str(path)
        while name in taken:
            name += "'"
        return name

    def add(self, path: str | Path, use: str, always: bool = False) -> None:
        """Pairs are for `use`, unless the file says otherwise and `always` is not set."""
        before = len(self.uses)
        try:
            found = read_inference(path, self._skip_invalid)
            for pair in found:
                self._put(pair, use if always else pair.split or use)
        except InputError as error:
            if len(self.uses) > before or not error.message.startswith("expected"):
                raise
            hint = "if these are conversations, `dialogauge synthesize entailment` makes pairs of them"
            raise InputError(f"{error.message}; {hint}", error.path, error.line) from None
        self.caveats += found.caveats
        kind = {"train": "training", "validation": "validation"}.get(use, "tests")
        self._files[kind] += [SourceFile(str(file), digest, READER) for file, digest in found.hashes()]

    def _put(self, pair: InferencePair, use: str) -> None:
        premise = self._once(premise_of(pair.premise))
        group = pair.dialogue if pair.dialogue is not None else ("", premise)
        self._premises.append(premise)
        self._hypotheses.append(self._once(pair.hypothesis.strip()))
        self._labels.append(LABELS.index(pair.label))
        self._sources.append(self._once(pair.source))
        self._grouped.append(self._groups.setdefault(group, len(self._groups)))
        self.uses.append(self._once(use))

    def _once(self, text: str) -> str:
        """The same text is kept once."""
        return self._texts.setdefault(text, text)

    def pairs(self) -> Labelled:
        labels, groups = np.array(self._labels, np.int64), np.array(self._grouped, np.int64)
        return Labelled(self._premises, self._hypotheses, labels, groups, self._sources)

    def sources(self) -> dict[str, tuple[SourceFile, ...]]:
        return {kind: tuple(files) for kind, files in self._files.items()}


def _rows(uses: Sequence[str], use: str) -> Rows:
    return np.array([row for row, found in enumerate(uses) if found == use], np.int64)


def _divide(rows: Rows, groups: Rows, share: float, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """The pairs of a share of the groups, drawn at random, apart from the others."""
    named = np.unique(groups[rows])
    if len(named) < 2:
        raise InputError("expected pairs of at least 2 dialogues or premises, one to validate with; found 1")
    drawn = rng.permutation(named)[: min(max(round(share * len(named)), 1), len(named) - 1)]
    apart = np.isin(groups[rows], drawn)
    return rows[~apart], rows[apart]


def _refuse_one_class(labels: Rows) -> None:
    if len(found := np.unique(labels)) < 2:
        raise InputError(
            f"all pairs to learn from have the label {LABELS[found[0]]}: expected {', '.join(LABELS)}; "
            "`dialogauge synthesize entailment` makes such pairs from conversations"
        )


def _label_caveats(labels: Rows, held: Rows) -> Iterable[Caveat]:
    missing = [name for place, name in enumerate(LABELS) if place not in labels]
    if missing:
        yield Caveat("missing_class", f"no pair to learn from has the label {missing[0]}: it will never be predicted")
    if len(held) < FEWEST_HELD:
        message = (
            f"only {len(held)} pairs to validate with: when to stop, and the accuracy, are little more than chance"
        )
        yield Caveat("few_held", message)


def _pair_caveats(pairs: Labelled, train: Rows, judged: Mapping[str, Rows]) -> Iterable[Caveat]:
    texts = list(zip(pairs.premises, pairs.hypotheses, strict=True))
    known = {texts[row] for row in train.tolist()}
    for name, rows in judged.items():
        if seen := sum(texts[row] in known for row in rows.tolist()):
            message = f"{name}: {seen} of {len(rows)} pairs are also learned from: its accuracy is too high"
            yield Caveat("seen_pairs", message)
