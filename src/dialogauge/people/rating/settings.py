"""How a rating study is meant: what is asked, of how many people, with which checks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, check_number, check_seed, check_whole, quote, unknown
from dialogauge.people.rating.questions import RatingQuestion, parse_questions

Unit = Literal["turn", "dialogue"]
Contexts = Literal["together", "apart"]

MOST_PEOPLE = 10_000
LONGEST_TEXT = 100_000
"""Characters of the instructions."""
INSTRUCTIONS = """\
# Rating replies

You will read short conversations and rate the reply at their end. There are no right answers: we ask for your own
judgement. Please read every reply before you answer.

- Your answers are kept under a number, never with your name.
- Taking part is voluntary: you can stop at any time by closing the page.
- You can pause, and go on later with the same link.
"""
"""What raters read and agree to where the organiser wrote nothing. It promises what every study keeps."""
LACKED = ("coheren", "relevan", "appropriate", "sens", "fit", "context", "overall", "quality")
"""How names of questions begin on which a mismatched reply is rated low, the surest first."""
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class StudySettings:
    """A study's settings; they never change once it is made.

    Systems of one context stand `together` (the same people rate all replies to a context, one after the other, so
    that how strict they are cancels in comparisons) or `apart` (no one sees a context twice).
    """

    questions: tuple[RatingQuestion, ...] = ()
    raters: int = 3
    """How many people rate every item."""
    people: int | None = None
    """How many people there are; by default as many as lists of `per_rater` items need."""
    per_rater: int = 50
    """Items in a person's list, about, where `people` does not say it; checks and repeats come on top."""
    contexts: Contexts = "together"
    unit: Unit = "turn"
    pairwise: bool = False
    against: str | None = None
    """Pairs of this system with each other one, in place of all pairs."""
    check_every: int = 10
    """One attention check for as many items, at least one; 0 for none."""
    check_on: str | None = None
    """The question by which checks are judged, where a mismatched reply must not be rated above the middle."""
    repeat_every: int = 20
    """One item comes again for as many; 0 for none."""
    practice: tuple[Turn, ...] | None = None
    """Turns to practise on, shown first and never counted; None for ours, () for none."""
    time_floor: float = 1.0
    """Seconds; answers that came sooner are marked. Faster than 20 words of reply a second is marked, too."""
    title: str = "Rating replies"
    instructions: str = INSTRUCTIONS
    """Markdown: what raters read first, and agree to."""
    id_parameter: str | None = None
    """The parameter by which people from a marketplace are known, as PROLIFIC_PID: one link for all of them. None: a
    link for each person."""
    completion_code: str | None = None
    """What raters are shown at the end; by default a code of their own."""
    completion_url: str | None = None
    """Where raters go at the end, with {code} and {id} filled in."""
    seed: int = 0
    source: tuple[str, ...] = field(default=())
    """The names of the files that the turns came from."""

    def __post_init__(self) -> None:
        if not self.questions:
            object.__setattr__(self, "questions", parse_questions((), pairwise=self.pairwise))
        if any((question.kind == "pairwise") != self.pairwise for question in self.questions):
            raise InputError("questions with a scale are for single items, and those without for pairs (--pairwise)")
        for name, options in (("contexts", Contexts), ("unit", Unit)):
            if getattr(self, name) not in get_args(options):
                raise unknown(name, getattr(self, name), get_args(options))
        if self.pairwise and self.unit == "dialogue":
            raise InputError("--pairwise compares replies to one context; whole dialogues are rated one by one")
        if self.against is not None and not self.pairwise:
            raise InputError("--against names a system for pairs; give --pairwise, too")
        self._check_numbers()
        self._check_texts()

    def _check_numbers(self) -> None:
        check_whole("raters", self.raters, 1, MOST_PEOPLE)
        if self.people is not None:
            check_whole("people", self.people, 1, MOST_PEOPLE)
        check_whole("per_rater", self.per_rater, 1, 10_000)
        check_whole("check_every", self.check_every, 0, 10_000)
        check_whole("repeat_every", self.repeat_every, 0, 10_000)
        check_number("time_floor", self.time_floor, 0, 3600)
        check_seed(self.seed)

    def _check_texts(self) -> None:
        dimensions = [question.dimension for question in self.questions]
        if self.check_on is not None and self.check_on not in dimensions:
            raise unknown("question", self.check_on, dimensions)
        if len(self.instructions) > LONGEST_TEXT:
            raise InputError(f"instructions: expected at most {LONGEST_TEXT:,} characters")
        if not self.title.strip() or len(self.title) > 200:
            raise InputError(f"title: expected 1 to 200 characters, found {quote(self.title)}")
        if self.id_parameter is not None and not _PARAMETER.fullmatch(self.id_parameter):
            raise InputError(f"id parameter: expected a name such as PROLIFIC_PID, found {quote(self.id_parameter)}")
        if self.completion_code is not None and not _CODE.fullmatch(self.completion_code):
            raise InputError(f"completion code: expected letters and digits, found {quote(self.completion_code)}")
        if self.completion_url is not None and not re.match(r"https?://[^\s/]+", self.completion_url):
            raise InputError(f"completion URL: expected an http or https address, found {quote(self.completion_url)}")

    @property
    def checked_question(self) -> RatingQuestion:
        """The question by which attention checks are judged: the one named, else the first on something that a
        mismatched reply lacks, else the first of all."""
        named = [question for question in self.questions if question.dimension == self.check_on]
        return [*named, *self._lacked_by_mismatches, *self.questions][0]

    @property
    def doubtful_checks(self) -> bool:
        """Whether nothing says that a mismatched reply is rated low on the question that checks are judged by."""
        return self.check_on is None and not self._lacked_by_mismatches

    @property
    def _lacked_by_mismatches(self) -> list[RatingQuestion]:
        return [
            question
            for stem in LACKED
            for question in self.questions
            if any(
                word.startswith(stem) for word in re.findall(r"\w+", question.dimension.casefold().replace("_", " "))
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the practice turns, which become items."""
        record = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "practice"}
        return {**record, "questions": [question.to_dict() for question in self.questions]}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> StudySettings:
        questions = tuple(RatingQuestion.from_dict(question) for question in record["questions"])
        return cls(**{**record, "questions": questions, "source": tuple(record["source"])})
