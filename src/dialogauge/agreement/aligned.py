"""The turns of one corpus that people rated and every metric has a value for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import Level
from dialogauge.agreement.ratings import Ratings, mean_rating, ratings_of
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.evaluation.measure import Measured
from dialogauge.evaluation.sample import Sample
from dialogauge.metrics.registry import Request
from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import CELLS_AT_ONCE


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
