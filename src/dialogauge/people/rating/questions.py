"""What raters are asked: a dimension, its scale, the labels of its ends."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dialogauge.errors import InputError, describe, quote

Kind = Literal["likert", "slider", "yesno", "pairwise"]
Value = float | str | None
"""A number, a side ("a", "b", "tie"), or None where the rater says that the question does not apply."""

MOST_POINTS = 11
"""A scale of more points than these is a slider."""
MOST_QUESTIONS = 20
LONGEST = 500
"""Characters of a question's parts."""
SIDES = ("a", "b", "tie")
FIVE = ("bad", "poor", "fair", "good", "excellent")
"""The labels of absolute category rating (ITU-T P.800), for scales of five points that were given none."""
ENDS = ("worst", "best")
GRAMMAR = '"coherence 1-5", "overall 0-100 (worst | best)", "fluent yes/no", "humour 1-5 n/a: How funny is the reply?"'

_SCALE = re.compile(
    r"""(?P<name>\S.*?)\s+
        (?: (?P<low>-?\d{1,6})\s*(?:-|\.\.|to|–)\s*(?P<high>-?\d{1,6}) | (?P<yesno>yes/no) )
        (?P<slider>\s+slider)?
        (?P<na>\s+n/?a)?
        (?:\s*\((?P<labels>[^()]*)\))?
        (?P<na_after>\s+n/?a)?
        (?:\s*:\s*(?P<text>.+))?""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_PLAIN = re.compile(r"(?P<name>[^:()]*?\S)(?P<na>\s+n/?a)?(?:\s*:\s*(?P<text>.+))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class RatingQuestion:
    """One question. Answers are whole numbers from `low` to `high`, of "yesno" 1 and 0, of "pairwise" a side."""

    dimension: str
    kind: Kind
    low: int = 0
    high: int = 1
    labels: tuple[str, ...] = ()
    """One for each point of the scale, or those of its two ends."""
    na: bool = False
    """Whether "does not apply" is an answer."""
    text: str = ""
    """The question as raters read it; the dimension's name where there is none."""

    def __post_init__(self) -> None:
        if not self.dimension.strip() or not self.dimension.isprintable():
            raise InputError(f"a question needs a name, found {quote(self.dimension)}; {_expected()}")
        if any(len(text) > LONGEST for text in (self.dimension, self.text, *self.labels)):
            raise InputError(f"question {quote(self.dimension)}: texts are of at most {LONGEST} characters")
        if self.kind in ("likert", "slider"):
            if self.high <= self.low:
                raise InputError(
                    f"question {quote(self.dimension)}: expected a scale that goes up, as 1-5, found "
                    f"{self.low}-{self.high}"
                )
            if len(self.labels) not in (2, self.high - self.low + 1):
                raise InputError(
                    f"question {quote(self.dimension)}: expected 2 labels, or one for each of the "
                    f"{self.high - self.low + 1} points, found {len(self.labels)}"
                )

    @property
    def low_label(self) -> str:
        return self.labels[0] if self.labels else ""

    @property
    def high_label(self) -> str:
        return self.labels[-1] if self.labels else ""

    @property
    def point_labels(self) -> tuple[str, ...]:
        """One for each point, or none at all."""
        return self.labels if len(self.labels) == self.high - self.low + 1 else ()

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def checked(self, value: Any) -> Value:
        """The answer as it is kept; refuses what this question cannot be answered with."""
        if value is None:
            if not self.na:
                raise InputError(f"{self.dimension}: an answer is needed")
            return None
        if self.kind == "pairwise":
            if value not in SIDES:
                raise InputError(f"{self.dimension}: expected a, b or tie, found {describe(value)}")
            return str(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or value != int(value) or not self.low <= value <= self.high:
            found = describe(value)
            raise InputError(f"{self.dimension}: expected a whole number from {self.low} to {self.high}, found {found}")
        return float(value)

    @property
    def scale(self) -> str:
        """In words, for people who read of the study."""
        if self.kind == "pairwise":
            shown = "A, B or tie"
        elif self.kind == "yesno":
            shown = "yes or no"
        else:
            ends = f"{self.low} ({self.low_label}) to {self.high} ({self.high_label})"
            shown = f"{ends}, a slider" if self.kind == "slider" else ends
        return f"{shown}, or N/A" if self.na else shown

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> RatingQuestion:
        return cls(**{**record, "labels": tuple(record["labels"])})


def parse_question(text: str, *, pairwise: bool = False) -> RatingQuestion:
    """The question that a text such as "coherence 1-5 (none | full) n/a: Does the reply fit?" spells: a name, a scale,
    labels of its ends or of all its points, whether it may not apply, and the words that raters read. Pairs are asked
    about by name alone.

    Examples:
        >>> from dialogauge.people.rating.questions import parse_question
        >>> parse_question("coherence 1-5").labels
        ('bad', 'poor', 'fair', 'good', 'excellent')
        >>> parse_question("overall 0-100 (awful | perfect)").kind
        'slider'
    """
    if pairwise:
        return _preference(text)
    found = _SCALE.fullmatch(text.strip())
    if not found:
        raise InputError(f"--ask: expected a name and a scale, found {quote(text)}; {_expected()}")
    name, wording = " ".join(found["name"].split()), _words(found["text"])
    na = bool(found["na"] or found["na_after"])
    labels = tuple(label.strip() for label in (found["labels"] or "").split("|") if label.strip())
    if found["yesno"]:
        if labels or found["slider"]:
            raise InputError(f"--ask: yes/no has no labels and no slider, found {quote(text)}")
        return RatingQuestion(name, "yesno", na=na, text=wording)
    low, high = int(found["low"]), int(found["high"])
    points = high - low + 1
    kind: Kind = "slider" if found["slider"] or points > MOST_POINTS else "likert"
    return RatingQuestion(name, kind, low, high, labels or (FIVE if points == 5 else ENDS), na, wording)


def parse_questions(texts: Sequence[str], *, pairwise: bool = False) -> tuple[RatingQuestion, ...]:
    """The questions of a study; by default "overall", of 1 to 5 or, of pairs, which is better."""
    questions = tuple(
        parse_question(text, pairwise=pairwise) for text in texts or ["overall" if pairwise else "overall 1-5"]
    )
    names = [question.dimension.casefold() for question in questions]
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise InputError(f"--ask: expected questions of different names, found {quote(twice[0])} twice")
    if len(questions) > MOST_QUESTIONS:
        raise InputError(f"--ask: expected at most {MOST_QUESTIONS} questions, found {len(questions)}")
    return questions


def _preference(text: str) -> RatingQuestion:
    if _SCALE.fullmatch(text.strip()):
        raise InputError(f"--ask: with --pairwise raters choose A, B or tie, and no scale; found {quote(text)}")
    found = _PLAIN.fullmatch(text.strip())
    if not found:
        raise InputError(
            f'--ask: expected a name, as "overall" or "overall: Which reply is better?", found {quote(text)}'
        )
    return RatingQuestion(" ".join(found["name"].split()), "pairwise", na=bool(found["na"]), text=_words(found["text"]))


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _expected() -> str:
    return f"such as {GRAMMAR}"
