"""GRADE's evaluation data (Huang et al. 2020): a directory of parallel text files per corpus and system, with the
ratings in files of their own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dialogauge.corpus.aligned import aligned, utterances
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.readers.grade_ratings import DIMENSION, Judgements
from dialogauge.corpus.reading import LocatedTurn, Reader, Reading
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError

# Where responses and ratings stand, seen from the root, from eval_data and from one corpus in it.
_LAYOUTS = {
    "eval_data/*/*/human_hyp.txt": "human_score",
    "*/*/human_hyp.txt": "../human_score",
    "*/human_hyp.txt": "../../human_score",
}


class _System(NamedTuple):
    """One system on one corpus. References and mean ratings may be missing."""

    corpus: str
    name: str
    responses: Path
    contexts: Path
    references: Path | None
    means: Path | None

    @property
    def files(self) -> list[Path]:
        return [path for path in (self.responses, self.contexts, self.references, self.means) if path is not None]


def sniff(head: FileHead) -> bool:
    return any(head.holds(pattern) for pattern in _LAYOUTS)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Systems are `CORPUS/SYSTEM`, or `SYSTEM` where the directory of one corpus is given. Not all systems of a
    corpus were rated on the same contexts, or in the same order: ids number the contexts of a corpus as they
    first appear (one that a system answers twice counts twice), so that turns of different systems have the
    same id where they answer the same context, and only there."""
    pattern, scores = _layout(reading.path)
    systems = [_system(responses, scores) for responses in sorted(reading.path.glob(pattern))]
    judgements = Judgements(reading, scores / "human_judgement.json")
    reading.files = [path for system in systems for path in system.files] + judgements.files
    numbers: dict[tuple[str, tuple[str, ...], int], str] = {}
    corpora: Counter[str] = Counter()
    for system in systems:
        prefix = "" if pattern.startswith("*/human") else f"{system.corpus}/"
        answered: Counter[tuple[str, ...]] = Counter()
        for line, turn in _turns(reading, system, judgements):
            key = system.corpus, turn.context, answered[turn.context]
            answered[turn.context] += 1
            if key not in numbers:
                numbers[key] = f"{prefix}{corpora[system.corpus]}"
                corpora[system.corpus] += 1
            yield line, replace(turn, id=numbers[key], system=f"{prefix}{system.name}")
    judgements.remark_on_gaps(reading)


def _turns(reading: Reading, system: _System, judgements: Judgements) -> Iterator[LocatedTurn]:
    """The turns of a system, with provisional ids."""
    for line, texts in aligned(reading, system.files):
        with reading.record(line, system.responses):
            response, context = texts[:2]
            mean = texts[-1] if system.means else None
            with _at(system.means, line):
                ratings = judgements.ratings(system.corpus, system.name, context, response, mean)
            reference = texts[2].strip() if system.references else ""
            turn = Turn(
                id=str(line - 1),
                response=response.strip(),
                context=utterances(context),
                references=(reference,) if reference else (),
                system=system.name,
                ratings={DIMENSION: ratings} if ratings else NOTHING,
            )
            yield line, turn


@contextmanager
def _at(path: Path | None, line: int) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(error.message, path, line) from None


def _layout(root: Path) -> tuple[str, Path]:
    """The pattern of the response files, and the directory of the ratings."""
    for pattern, scores in _LAYOUTS.items():
        if any(root.glob(pattern)):
            return pattern, Path(os.path.normpath(root / scores))
    raise InputError("expected a directory laid out as GRADE's: eval_data/CORPUS/SYSTEM/human_hyp.txt", root)


def _system(responses: Path, scores: Path) -> _System:
    folder = responses.parent
    # Given as a relative path, the corpus' directory may have no name in it.
    corpus = folder.parent.resolve().name
    contexts, references = folder / "human_ctx.txt", folder / "human_ref.txt"
    means = scores / corpus / folder.name / "human_score.txt"
    return _System(
        corpus=corpus,
        name=folder.name,
        responses=responses,
        contexts=contexts,
        references=references if references.is_file() else None,
        means=means if means.is_file() else None,
    )


GRADE = Reader("grade", "a directory laid out as GRADE's evaluation data", sniff, read)
