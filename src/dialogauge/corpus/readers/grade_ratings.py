"""GRADE's ratings: every rater's in `human_judgement.json`, their means in `human_score.txt`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from dialogauge.corpus import fields
from dialogauge.corpus.json_array import items, parse_item
from dialogauge.corpus.quote import describe, quote
from dialogauge.corpus.reading import Reading
from dialogauge.corpus.strict_json import parse
from dialogauge.errors import InputError
from dialogauge.tables import counted

DIMENSION = "coherence"
Ratings: TypeAlias = tuple[float | None, ...]
_Key: TypeAlias = tuple[str, str, str, str]
_MEAN = re.compile(r"[0-9]{1,9}(?:\.([0-9]{1,15}))?")


class Judgements:
    """Finds the ratings of a response by its corpus, system, context and text. Where the same response to the same
    context was rated twice, the first rating goes to the one that stands first."""

    def __init__(self, reading: Reading, path: Path) -> None:
        self.files = [path] if path.is_file() else []
        self._rated: dict[_Key, list[Ratings]] = {}
        self._asked: set[tuple[str, str]] = set()
        self._means_only = 0
        self._unrated = 0
        for item in (item for file in self.files for item in items(file)):
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
