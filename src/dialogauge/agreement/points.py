"""What is correlated: metrics' values and people's ratings of the same turns, dialogues or systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.evaluation.measured import Measured
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import Floats, group_means, settled
from dialogauge.stats.resampling import CELLS_AT_ONCE

Level = Literal["turn", "dialogue", "system"]
LEVELS: tuple[Level, ...] = ("turn", "dialogue", "system")
COUNTED = {"turn": "turns", "dialogue": "dialogues", "system": "systems"}

OVERALL = "overall"
Ratings = tuple[float | None, ...]


@dataclass(frozen=True)
class Scope:
    """Whose agreement it is: on one corpus, about one dimension, at one level, for all systems or (turns) just one."""

    corpus: str
    dimension: str
    level: Level
    system: str | None = None


@dataclass(frozen=True, repr=False)
class Points:
    """Point i is a turn, a dialogue or a system. Every metric has a value there, and people rated it."""

    scope: Scope
    metrics: list[str]
    values: Floats
    """(points, metrics), as the metrics gave them."""
    people: Floats
    """The mean rating of each point."""
    names: list[str]
    """The turn's id, the dialogue or the system."""
    systems: list[str]
    """Whose point it is."""
    units: NDArray[np.int64]
    """Points that may depend on each other (turns of one dialogue, answers to one context) have one number."""
    value_intervals: Floats | None = None
    """(points, metrics, 2): of systems' scores, from resampled contexts; NaN where there is none."""
    people_intervals: Floats | None = None
    """(points, 2): of systems' mean ratings."""

    def __repr__(self) -> str:
        return f"<Points: {len(self.names)} of {self.scope}, {len(self.metrics)} metrics>"

    def column(self, metric: str) -> Floats:
        """The values of one metric."""
        found: Floats = self.values[:, self.metrics.index(metric)]
        return found


@dataclass(frozen=True)
class PointSet:
    """Points, the ratings that were given to turns (or to whole dialogues), and the point each rating belongs to; None
    where ratings are the points' own."""

    points: Points
    ratings: list[Ratings]
    groups: NDArray[np.int64] | None


@dataclass(frozen=True, repr=False)
class RatedTurns:
    """Every rated turn of one corpus in its order, whether or not all metrics have a value there: what is kept of a
    study, turn by turn."""

    corpus: str
    turns: list[Turn]
    ratings: dict[str, Floats]
    """By dimension the mean rating of each turn, or of its dialogue where that was rated as a whole; NaN where it has
    none."""
    values: dict[str, Floats]
    """By metric the value of each turn, for metrics that have any; NaN where a turn has none."""
    systems: list[str] = field(default_factory=list)
    """In the order in which they were measured, and so drawn."""


@dataclass(frozen=True)
class Aligned:
    """Turn i of every list is the same. Turns stand system by system."""

    turns: list[Turn]
    ratings: list[Ratings]
    people: Floats
    """The mean rating of each turn."""
    samples: dict[str, list[Sample]]
    """For each metric that was asked for, by its full name: its view of each system, of these turns alone."""
    values: dict[str, Floats]
    """One value per turn, for the metrics that have any."""
    rated: int
    """How many turns people rated, whether or not every metric has a value there."""

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(turn.system for turn in self.turns))

    @property
    def system_numbers(self) -> NDArray[np.int64]:
        """The place of each turn's system among the systems."""
        places = {system: place for place, system in enumerate(self.systems)}
        return np.array([places[turn.system] for turn in self.turns], dtype=np.int64)


def ratings_of(turn: Turn, dimension: str, level: Level) -> Ratings:
    """One number per rater, None where a rater gave none. Dialogues that were rated as a whole have these ratings."""
    whole = turn.extra.get("dialogue_ratings") if level == "dialogue" else None
    found = (whole or turn.ratings).get(dimension, ())
    return tuple(found) if any(rating is not None for rating in found) else ()


def mean_rating(ratings: Ratings) -> float:
    return float(np.mean([rating for rating in ratings if rating is not None]))


def choose_dimensions(corpus: Corpus, level: Level, wanted: Sequence[str] | None) -> list[str]:
    """Of those the corpus has at this level: the ones asked for ("all" for all), spelled so or, where that leaves no
    doubt, in another case; else the one called overall; else all."""
    known = known_dimensions(corpus, level)
    if wanted is None:
        return _spelled(OVERALL, known) or known
    if [name.casefold() for name in wanted] == ["all"]:
        return known
    return list(dict.fromkeys(name for asked in wanted for name in _spelled(asked, known)))


def known_dimensions(corpus: Corpus, level: Level) -> list[str]:
    """In the order of first appearance."""
    found: dict[str, None] = {}
    for turn in corpus:
        whole = turn.extra.get("dialogue_ratings") if level == "dialogue" else None
        found |= dict.fromkeys(
            name for name, ratings in (whole or turn.ratings).items() if any(rating is not None for rating in ratings)
        )
    return list(found)


def numbered(keys: Sequence[object]) -> NDArray[np.int64]:
    """The place of each key among the different ones, in the order of first appearance."""
    places: dict[object, int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int64)


def align(corpus: Corpus, measured: Measured, requests: Sequence[Request], dimension: str, level: Level) -> Aligned:
    """The rated turns that all metrics have values for."""
    rated = {(turn.system, turn.id): turn for turn in corpus if ratings_of(turn, dimension, level)}
    labels = list(dict.fromkeys(request.label for request in requests))
    turns: list[Turn] = []
    kept: dict[str, list[Sample]] = {label: [] for label in labels}
    for system in measured.systems:
        own = {sample.label: sample for sample in measured.samples if sample.system == system}
        places = {label: {name: place for place, name in enumerate(own[label].ids)} for label in labels}
        common = [
            name
            for name in own[labels[0]].ids
            if (system, name) in rated and all(name in found for found in places.values())
        ]
        if not common:
            continue
        turns += [rated[system, name] for name in common]
        for label in labels:
            kept[label].append(_only(own[label], np.array([places[label][name] for name in common], dtype=np.int64)))
    ratings = [ratings_of(turn, dimension, level) for turn in turns]
    values = {request.name: _per_turn(kept[request.label], request.part) for request in requests if turns}
    return Aligned(
        turns=turns,
        ratings=ratings,
        people=np.array([mean_rating(found) for found in ratings]),
        samples={request.name: kept[request.label] for request in requests},
        values={name: found for name, found in values.items() if found is not None},
        rated=len(rated),
    )


def rated_turns(turns: list[Turn], measured: Measured, scopes: Sequence[Scope]) -> RatedTurns:
    """The turns of one corpus, of which the scopes say what was rated."""
    levels: dict[str, Level] = {}
    for scope in scopes:
        levels.setdefault(scope.dimension, scope.level)
    ratings = {}
    for dimension, level in levels.items():
        given = [ratings_of(turn, dimension, level) for turn in turns]
        ratings[dimension] = np.array([mean_rating(found) if found else np.nan for found in given])
    places = {(turn.system, turn.id): place for place, turn in enumerate(turns)}
    values = {}
    for request in measured.requests:
        samples = [sample for sample in measured.samples if sample.label == request.label]
        scores = _per_turn(samples, request.part)
        if scores is not None:
            own = [places[sample.system, name] for sample in samples for name in sample.ids]
            values[request.name] = np.full(len(turns), np.nan)
            values[request.name][own] = scores
    return RatedTurns(scopes[0].corpus, turns, ratings, values, list(measured.systems))


def turn_points(scope: Scope, aligned: Aligned, system: str | None) -> PointSet:
    """Every turn, or every turn of one system."""
    kept = [place for place, turn in enumerate(aligned.turns) if system in (None, turn.system)]
    turns = [aligned.turns[place] for place in kept]
    points = Points(
        scope=replace(scope, system=system),
        metrics=list(aligned.values),
        values=np.column_stack([values[kept] for values in aligned.values.values()]),
        people=settled(aligned.people[kept]),
        names=[turn.id for turn in turns],
        systems=[turn.system for turn in turns],
        units=numbered([unit_of(turn) for turn in turns]),
    )
    return PointSet(points, [aligned.ratings[place] for place in kept], None)


def dialogue_points(scope: Scope, aligned: Aligned, system: str | None) -> PointSet:
    """Every dialogue that a system had: the means over its turns, or its own rating where it was rated as a whole."""
    turns = turn_points(scope, aligned, system)
    kept = [place for place, turn in enumerate(aligned.turns) if system in (None, turn.system)]
    said = [aligned.turns[place] for place in kept]
    known = [place for place, turn in enumerate(said) if turn.dialogue is not None]
    keys = [(said[place].system, said[place].dialogue) for place in known]
    groups = numbered(keys)
    first = [known[place] for place in np.unique(groups, return_index=True)[1]]
    ratings = [turns.ratings[place] for place in known]
    whole = any(said[place].extra.get("dialogue_ratings") for place in known)
    points = Points(
        scope=turns.points.scope,
        metrics=turns.points.metrics,
        values=_means(turns.points.values[known], groups),
        people=_means(aligned.people[[kept[place] for place in known]][:, None], groups)[:, 0],
        names=[said[place].dialogue or "" for place in first],
        systems=[said[place].system for place in first],
        units=numbered([unit_of(said[place]) for place in first]),
    )
    if whole:
        return PointSet(points, [turns.ratings[place] for place in first], None)
    return PointSet(points, ratings, groups)


def _spelled(name: str, known: Sequence[str]) -> list[str]:
    """The dimension of this name, whatever its case where no two differ by it alone."""
    if name in known:
        return [name]
    return [dimension for dimension in known if dimension.casefold() == name.casefold()]


def _only(sample: Sample, places: NDArray[np.int64]) -> Sample:
    """The sample of these turns alone; rows of real conversations given beside the corpus stay."""
    own = len(sample.own_keys)
    if np.array_equal(places, np.arange(own)):
        return sample
    kept = np.concatenate([places, np.arange(own, len(sample.units))])
    rows = sample.rows[kept]
    return replace(
        sample,
        turns=len(places),
        units=sample.units[kept],
        summary=sample.metric.summarise(rows),
        rows=rows,
        ids=[sample.ids[place] for place in places],
        values=None if sample.values is None else sample.values[places],
    )


def _per_turn(samples: Sequence[Sample], part: str | None) -> Floats | None:
    """One value per turn, over all systems; None where single turns have none."""
    if any(sample.values is None for sample in samples):
        return None
    if part:
        return np.concatenate([_part_per_turn(sample, part) for sample in samples])
    return np.concatenate([sample.values for sample in samples if sample.values is not None])


def _part_per_turn(sample: Sample, part: str) -> Floats:
    """What the part would be of each turn alone."""
    n = len(sample.rows)
    block = max(1, CELLS_AT_ONCE // n)
    found = [
        sample.metric.conclude(sample.metric.summarise(sample.rows, np.eye(min(block, n - start), n, start)))[part]
        for start in range(0, n, block)
    ]
    return np.concatenate(found)


def _means(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """The mean of each group's rows."""
    return settled(np.column_stack([group_means(column, groups) for column in values.T]))
