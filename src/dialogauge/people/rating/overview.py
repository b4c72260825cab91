"""How a study stands: progress, raters, time, and how well the raters agree so far. For its organiser alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from dialogauge.people.rating.answers import AssignedItem, StudyState
from dialogauge.people.rating.questions import RatingQuestion, Value
from dialogauge.people.rating.trust import RaterSummary, summarise_raters

SIDES = {"a": 1.0, "tie": 0.0, "b": -1.0}
"""Preferences as numbers, where agreement needs some."""
GOAL = 0.8
"""The reliability of a mean rating that the number of raters is told for."""


@dataclass(frozen=True)
class DimensionAgreement:
    """How well raters agree on one question. None where it is undefined: fewer than two items with two ratings, or no
    two ratings that differ."""

    dimension: str
    items: int
    """Items with two ratings or more."""
    ratings: int
    not_applicable: int
    ordinal: float | None
    """Krippendorff's alpha with the ordinal metric."""
    interval: float | None
    raters_needed: int | None
    """How many raters an item takes for a mean of reliability .8 (Spearman-Brown, from the interval alpha)."""


@dataclass(frozen=True)
class Overview:
    """A study at one moment, as its organiser sees it."""

    title: str
    paused: bool
    made: float
    items: int
    raters_per_item: int
    complete: int
    """Items with all their ratings."""
    done: int
    """Answers to items, without checks, repeats and practice."""
    planned: int
    median_seconds: float | None
    """Of all answers, checks and repeats too."""
    raters: tuple[RaterSummary, ...]
    agreement: tuple[DimensionAgreement, ...]
    trusted_agreement: tuple[DimensionAgreement, ...]
    """The same, without what is not trusted."""

    @property
    def finished(self) -> int:
        return sum(rater.state == "finished" for rater in self.raters)

    @property
    def started(self) -> int:
        return sum(rater.rater.consented is not None for rater in self.raters)


def overview(state: StudyState) -> Overview:
    raters = summarise_raters(state)
    trusted = {rater.rater.id for rater in raters if rater.trusted}
    seconds = [answer.seconds for answer in state.answers if answer.done is not None and answer.seconds is not None]
    planned = sum(answer.item.kind == "rated" and not answer.repeat for answer in state.answers)
    return Overview(
        title=state.settings.title,
        paused=state.paused,
        made=state.made,
        items=len(state.of_item),
        raters_per_item=state.settings.raters,
        complete=sum(len(ratings) >= state.settings.raters for ratings in state.of_item.values()),
        done=sum(map(len, state.of_item.values())),
        planned=planned,
        median_seconds=median(seconds) if seconds else None,
        raters=tuple(raters),
        agreement=_agreement(state, state.of_item.values()),
        trusted_agreement=_agreement(
            state,
            (
                [answer for answer in ratings if answer.rater in trusted and not answer.fast]
                for ratings in state.of_item.values()
            ),
        ),
    )


def _agreement(state: StudyState, rated: Iterable[Sequence[AssignedItem]]) -> tuple[DimensionAgreement, ...]:
    kept = list(rated)
    return tuple(dimension_agreement(question, kept) for question in state.settings.questions)


def dimension_agreement(question: RatingQuestion, rated: Sequence[Sequence[AssignedItem]]) -> DimensionAgreement:
    from dialogauge.stats.reliability import krippendorff_alpha, ordinal_alpha, rating_table

    given = [[_number(answer.values.get(question.dimension)) for answer in ratings] for ratings in rated]
    table = rating_table(given)
    interval = krippendorff_alpha(table)
    counts = [sum(value is not None for value in values) for values in given]
    return DimensionAgreement(
        dimension=question.dimension,
        items=sum(count >= 2 for count in counts),
        ratings=sum(counts),
        not_applicable=sum(value is None for values in given for value in values),
        ordinal=_defined(ordinal_alpha(table)),
        interval=_defined(interval),
        raters_needed=raters_needed(interval),
    )


def raters_needed(alpha: float, goal: float = GOAL) -> int | None:
    """How many raters it takes for the mean of their ratings to have this reliability, where that of one is `alpha`
    (Spearman 1910; Brown 1910). None where agreement is no better than chance."""
    if math.isnan(alpha) or alpha <= 0:
        return None
    if alpha >= goal:
        return 1
    return math.ceil(round(goal * (1 - alpha) / (alpha * (1 - goal)), 9))


def overview_record(view: Overview) -> dict[str, Any]:
    """For JSON. Ids of a marketplace are in it: it is for the organiser."""
    raters = [
        {
            "name": rater.name,
            "external": rater.rater.external,
            "parameters": dict(rater.rater.parameters),
            "state": rater.state,
            "done": rater.done,
            "total": rater.total,
            "median_seconds": rater.median_seconds,
            "checks": rater.checks,
            "failed": rater.failed,
            "repeats": rater.repeats,
            "inconsistent": rater.inconsistent,
            "fast": rater.fast,
            "trusted": rater.trusted,
            "reasons": list(rater.reasons),
            "code": rater.rater.code,
        }
        for rater in view.raters
    ]
    plain = ("title", "paused", "items", "raters_per_item", "complete", "done", "planned", "median_seconds")
    return {
        "schema": "dialogauge.rating_study/1",
        **{name: getattr(view, name) for name in plain},
        "raters": raters,
        "agreement": [vars(each) for each in view.agreement],
        "trusted_agreement": [vars(each) for each in view.trusted_agreement],
    }


def _number(value: Value) -> float | None:
    return SIDES[value] if isinstance(value, str) else value


def _defined(number: float) -> float | None:
    return None if math.isnan(number) else number
