"""Turns and dialogues as points, with the single ratings behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.aligned import Aligned, numbered
from dialogauge.agreement.points import Points, Scope
from dialogauge.agreement.ratings import Ratings
from dialogauge.corpus.unit import unit_of
from dialogauge.stats.arrays import Floats, group_means, settled


@dataclass(frozen=True)
class PointSet:
    """Points, the ratings that were given to turns (or to whole dialogues), and the point each rating belongs to; None
    where ratings are the points' own."""

    points: Points
    ratings: list[Ratings]
    groups: NDArray[np.int64] | None


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


def _means(values: Floats, groups: NDArray[np.int64]) -> Floats:
    """The mean of each group's rows."""
    return settled(np.column_stack([group_means(column, groups) for column in values.T]))
