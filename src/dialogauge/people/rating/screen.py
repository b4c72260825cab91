"""What raters and their pages know of a study: who they are, what is on the screen, what can be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dialogauge.errors import InputError
from dialogauge.people.rating.items import Form
from dialogauge.people.rating.questions import RatingQuestion, Value


class NotFound(InputError):
    """No such rater, or an item that is not in this rater's list."""


class NotConsented(InputError):
    """The rater has not agreed yet."""


class Finished(InputError):
    """The rater has finished, or was released: nothing can be changed any more."""


class Incomplete(InputError):
    """Answers that cannot be taken; `problems` says what is wrong, by dimension. Nothing was kept."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        super().__init__("; ".join(problems.values()))


class NoId(InputError):
    """Someone came by the common link without the id that it needs."""


class Full(InputError):
    """All places are taken."""


@dataclass(frozen=True)
class Rater:
    """A person, by a name that says nothing."""

    id: int
    name: str
    consented: bool
    finished: bool
    released: bool

    @property
    def closed(self) -> bool:
        return self.finished or self.released


@dataclass(frozen=True)
class Screen:
    """What one rater may know of one item: nothing here tells its system, or a check or a repeat from the others."""

    public_id: str
    stage: Literal["practice", "rating"]
    form: Form
    context: tuple[str, ...]
    responses: tuple[str, ...]
    """In this rater's order; of a dialogue none: all of it stands in `context`."""
    facts: tuple[str, ...]
    questions: tuple[RatingQuestion, ...]
    answers: dict[str, Value] | None
    """As this rater gave them (sides are those of this screen); None where not yet."""
    position: int
    """From 1, of the practice items or of the others."""
    total: int
    feedback: str
    """Of practice: what to say after the answer."""


@dataclass(frozen=True)
class Completion:
    """What a rater who is done is given: a code, and where to go with it."""

    code: str
    url: str | None
