"""GRADE's evaluation data (Huang et al. 2020): a directory of parallel text files per corpus and system, with the
ratings in files of their own."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from dialogauge.corpus.reading import fields
from dialogauge.corpus.reading.json import items, parse, parse_item
from dialogauge.corpus.reading.reader import FileHead, LocatedTurn, Reader, Reading, aligned, utterances
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError, describe, quote
from dialogauge.tables import counted

DIMENSION = "coherence"
Ratings: TypeAlias = tuple[float | None, ...]
_Key: TypeAlias = tuple[str, str, str, str]
_MEAN = re.compile(r"[0-9]{1,9}(?:\.([0-9]{1,15}))?")

# Where responses and ratings stand, seen from the root, from eval_data and from one corpus in it.
_LAYOUTS = {
    "eval_data/*/*/human_hyp.txt": "human_score",
    "*/*/human_hyp.txt": "../human_score",
    "*/human_hyp.txt": "../../human_score",
}


class Judgements:
    """Finds the ratings of a response by its corpus, system, context and text. Where the same response to the same
    context was rated twice, the first rating goes to the one that stands first."""

    def __init__(self, reading: Reading, path: Path) -> None:
        self._rated: dict[_Key, list[Ratings]] = {}
        self._asked: set[tuple[str, str]] = set()
        self._means_only = 0
        self._unrated = 0
        for item in items(path) if path.is_file() else ():
            with reading.record(item.line, path, item.number):
                self._add(parse_item(item.text))
        for waiting in self._rated.values():
            waiting.reverse()

    def ratings(self, corpus: str, system: str, context: str, response: str, mean: str | None) -> Ratings:
        """The ratings, which must have the mean that is printed. Without them it is the mean alone."""
        key = _key(corpus, system, context, response)
        self._asked.add(key[:2])
        waiting = self._rated.get(key)
        printed = _number(mean) if mean else None
        if not waiting:
            self._means_only += printed is not None
            self._unrated += printed is None
            return () if printed is None else (printed[0],)
        ratings = waiting.pop()
        if printed is not None:
            _refuse_another_mean(ratings, *printed)
        return ratings

    def remark_on_gaps(self, reading: Reading) -> None:
        """Says what could not be joined."""
        left = sum(len(waiting) for key, waiting in self._rated.items() if key[:2] in self._asked)
        if self._means_only:
            reading.remark("mean_ratings", f"{counted(self._means_only, 'turn')} with the raters' mean only")
        if self._unrated:
            reading.remark("unrated_turns", f"{counted(self._unrated, 'turn')} without ratings")
        if left:
            reading.remark(
                "ratings_left_out", f"{counted(left, 'judgement')} of responses that are not there, left out"
            )

    def _add(self, record: Mapping[str, Any]) -> None:
        names = [fields.name(record, field) or "" for field in ("Dataset", "DialogModel")]
        texts = [fields.text(record, field) for field in ("Context", "Response")]
        scores = record.get("HumanScores")
        # The list is written as text.
        values = parse(scores) if isinstance(scores, str) else scores
        if not isinstance(values, list):
            raise InputError(f"HumanScores: expected a list of numbers, found {describe(scores)}")
        ratings = tuple(fields.rating(value, DIMENSION) for value in values)
        if any(rating is not None for rating in ratings):
            self._rated.setdefault(_key(*names, *texts), []).append(ratings)


def sniff(head: FileHead) -> bool:
    return any(head.holds(pattern) for pattern in _LAYOUTS)


def read(reading: Reading) -> Iterator[LocatedTurn]:
    """Systems are `CORPUS/SYSTEM`, or `SYSTEM` where the directory of one corpus is given. Not all systems of a
    corpus were rated on the same contexts, or in the same order: ids number the contexts of a corpus as they
    first appear (one that a system answers twice counts twice), so that turns of different systems have the
    same id where they answer the same context, and only there."""
    pattern, scores = _layout(reading.path)
    systems = [_system(responses, scores) for responses in sorted(reading.path.glob(pattern))]
    rated = scores / "human_judgement.json"
    reading.files = [path for system in systems for path in system.files] + ([rated] if rated.is_file() else [])
    judgements = Judgements(reading, rated)
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


def _key(corpus: str, system: str, context: str, response: str) -> _Key:
    name = corpus.casefold().removesuffix("_eval")
    return name, system.casefold(), " ".join(context.split()), " ".join(response.split())


def _number(text: str) -> tuple[float, int]:
    """The number and how many decimals it is printed with."""
    match = _MEAN.fullmatch(text.strip())
    if not match:
        raise InputError(f"expected a mean rating, found {quote(text)}")
    return float(match[0]), len(match[1] or "")


def _refuse_another_mean(ratings: Ratings, printed: float, decimals: int) -> None:
    numbers = [rating for rating in ratings if rating is not None]
    mean = sum(numbers) / len(numbers)
    if abs(mean - printed) > 0.5 * 10**-decimals + 1e-9:
        wanted = f"{mean:.4f}, the mean of {counted(len(numbers), 'rating')} in human_judgement.json"
        raise InputError(f"expected {wanted}; found {printed}")


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
