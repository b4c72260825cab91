"""Which ratings can be trusted: attention checks, repeats, time, and what the organiser says. Nothing is deleted; what
fails is marked, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from dialogauge.people.rating.answers import AssignedItem, RaterRow, StudyState
from dialogauge.people.rating.questions import RatingQuestion

RULES = (
    "An attention check is failed by a rating of the mismatched reply above the middle of the scale (of a pair: by "
    "preferring it). A rater is not trusted who failed the only check there was, or two of them and a quarter at "
    "least; who answered more than half of two or more repeats otherwise than before (by more than half the scale, or "
    "with the other side of a pair); who gave more than half of the answers sooner than the time floor; or whom the "
    "organiser excluded. Of the others, single answers under the floor are not trusted."
)


@dataclass(frozen=True)
class RaterSummary:
    """How far one rater has come, and how the checks went. Practice counts nowhere."""

    rater: RaterRow
    state: str
    """One of "invited", "reading", "rating", "finished" or "released"."""
    done: int
    total: int
    checks: int
    """Attention checks that were answered."""
    failed: int
    repeats: int
    inconsistent: int
    fast: int
    """Answers under the time floor."""
    median_seconds: float | None
    reasons: tuple[str, ...]
    """Why none of this rater's ratings is trusted; empty where they are."""

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def trusted(self) -> bool:
        return not self.reasons


def summarise_raters(state: StudyState) -> list[RaterSummary]:
    """In the order of their names."""
    return [_summary(state, rater, state.of_rater[rater.id]) for rater in state.raters]


def _summary(state: StudyState, rater: RaterRow, listed: Sequence[AssignedItem]) -> RaterSummary:
    answered = [answer for answer in listed if answer.done is not None]
    checks = [answer for answer in answered if answer.item.kind == "check" and not answer.repeat]
    failed = sum(not answer.item.passed(answer.values) for answer in checks)
    planned = state.planned_checks.get(rater.id, 0)
    pairs = _repeated(answered)
    question = state.settings.checked_question
    inconsistent = sum(_differs(question, *pair) for pair in pairs)
    fast = sum(answer.fast for answer in answered)
    reasons = []
    if failed and failed >= max(min(2, planned), planned / 4):
        reasons.append(f"failed {failed} of {len(checks)} attention checks")
    if len(pairs) >= 2 and inconsistent > len(pairs) / 2:
        reasons.append(f"answered {inconsistent} of {len(pairs)} repeats otherwise")
    if fast > len(answered) / 2:
        reasons.append(f"{fast} of {len(answered)} answers came under the time floor")
    if rater.excluded is not None:
        reasons.append(f"excluded: {rater.excluded}" if rater.excluded else "excluded")
    seconds = [answer.seconds for answer in answered if answer.seconds is not None]
    return RaterSummary(
        rater=rater,
        state=_state(rater),
        done=len(answered),
        total=len(listed),
        checks=len(checks),
        failed=failed,
        repeats=len(pairs),
        inconsistent=inconsistent,
        fast=fast,
        median_seconds=median(seconds) if seconds else None,
        reasons=tuple(reasons),
    )


def _state(rater: RaterRow) -> str:
    for state, when in (("released", rater.released), ("finished", rater.finished), ("rating", rater.consented)):
        if when is not None:
            return state
    return "invited" if rater.joined is None else "reading"


def _repeated(answered: Sequence[AssignedItem]) -> list[tuple[AssignedItem, AssignedItem]]:
    """The first and the second answer to each repeated item."""
    first = {answer.item.id: answer for answer in answered if not answer.repeat}
    return [(first[answer.item.id], answer) for answer in answered if answer.repeat and answer.item.id in first]


def _differs(question: RatingQuestion, first: AssignedItem, second: AssignedItem) -> bool:
    one, other = (answer.values.get(question.dimension) for answer in (first, second))
    if isinstance(one, str) or isinstance(other, str):
        return {one, other} == {"a", "b"}
    return one is not None and other is not None and abs(one - other) > (question.high - question.low) / 2
