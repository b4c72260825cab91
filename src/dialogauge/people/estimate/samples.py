"""What an estimate is made of: of each system the turns, which of them people rated, and what metrics say of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import Level, mean_rating, numbered, ratings_of
from dialogauge.corpus.rated_pairs import Preference, RatedPair
from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.errors import Caveat, InputError, describe, quote
from dialogauge.people.estimate.powered import UnitTotals
from dialogauge.stats.arrays import Floats, group_means
from dialogauge.tables import counted, in_words

PROBABILITY = "probability"
"""The field of a turn that says how likely it was to be chosen for rating."""
SAME = 1e-9
"""Probabilities that differ by less are equal."""
POINTS: dict[Preference, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}


@dataclass(frozen=True)
class RatedSample:
    """The turns of one system, or the pairs of replies of two: place i of every array is the same. `name` has the
    system, or both."""

    name: tuple[str, ...]
    units: NDArray[np.int64]
    """The dialogue or context of each, by one numbering for all samples."""
    ratings: Floats
    """The mean rating, or the share of preferences for the first system, a tie as half; NaN where nobody rated."""
    values: Floats
    """(places, metrics); of pairs, the first system's less the second's."""
    weights: Floats | None = None
    """1 / probability of each rated place; None where all are equal."""
    ties: Floats = field(default_factory=lambda: np.zeros(0))
    """Of pairs, the share of raters who said so; NaN where nobody rated."""

    @property
    def rated(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.ratings)

    @property
    def rated_count(self) -> int:
        return int(np.count_nonzero(self.rated))

    def totals(
        self, count: int, predicted: Floats, predicted_rated: Floats | None = None, finite: bool = False
    ) -> UnitTotals:
        """By unit, of which there are `count` in all samples."""
        return UnitTotals.from_turns(
            self.units,
            count,
            self.ratings,
            predicted,
            predicted_rated=predicted_rated,
            weights=self.weights,
            everywhere=finite or self.weights is not None,
        )

    @property
    def shares(self) -> Floats:
        """The probability with which each rated place was chosen, scaled so that the weights add up to all places."""
        weights = np.ones(self.rated_count) if self.weights is None else self.weights[self.rated]
        return np.asarray(np.minimum(weights.sum() / len(self.ratings) / weights, 1.0))


def rated_share(samples: Sequence[RatedSample]) -> float:
    """The part of all places that was rated; with unequal probabilities, their mean by squared weight, as it counts in
    a variance."""
    shares = np.concatenate([sample.shares for sample in samples])
    heavy = 1 / shares**2
    return float((heavy * shares).sum() / heavy.sum())


def turn_samples(
    turns: Sequence[Turn], values: Floats, dimension: str, level: Level
) -> tuple[dict[str, RatedSample], list[Caveat]]:
    """By system, those that have a rated turn. `values` is (turns, metrics), NaN where a metric has none. At dialogue
    level a place is a dialogue of a system: its rating as a whole or the mean of its rated turns, and the metric's mean
    over all its turns."""
    units = numbered([unit_of(turn) for turn in turns])
    systems = numbered([turn.system for turn in turns])
    names = list(dict.fromkeys(turn.system for turn in turns))
    given = [ratings_of(turn, dimension, level) for turn in turns]
    ratings = np.array([mean_rating(each) if each else np.nan for each in given])
    found, caveats = {}, list[Caveat]()
    for place, name in enumerate(names):
        own = np.flatnonzero(systems == place)
        if np.isnan(ratings[own]).all():
            caveats.append(Caveat("unrated_system", f"{name}: no turn has a rating of {dimension}; it is left out"))
            continue
        filled, missing = _filled(values[own])
        if missing:
            said = f"{name}: {counted(missing, 'value')} of metrics missing; the metric's mean stands in for each"
            caveats.append(Caveat("missing_values", said))
        mine = [turns[int(each)] for each in own]
        weights = _weights(mine, ratings[own])
        sample = RatedSample((name,), units[own], ratings[own], filled, weights)
        found[name] = _by_dialogue(sample, mine) if level == "dialogue" else sample
    return found, caveats


def pair_samples(
    turns: Sequence[Turn], values: Floats, pairs: Sequence[RatedPair], dimension: str
) -> dict[tuple[str, str], RatedSample]:
    """By two systems, in the order of the corpus: all contexts that both answered, of which people compared some."""
    places = {(turn.system, turn.id): place for place, turn in enumerate(turns)}
    units = numbered([unit_of(turn) for turn in turns])
    order = {name: place for place, name in enumerate(dict.fromkeys(turn.system for turn in turns))}
    said = _preferences(pairs, dimension, order)
    found = {}
    for first, second in combinations(order, 2):
        own = said.get((first, second))
        if not own:
            continue
        shared = [turn for turn in turns if turn.system == first and _same(turn, turns, places.get((second, turn.id)))]
        here, there = (np.array([places[name, turn.id] for turn in shared]) for name in (first, second))
        rated = [own.get(turn.id, []) for turn in shared]
        points = [np.mean([POINTS[each] for each in one]) if one else np.nan for one in rated]
        ties = [np.mean([each == "tie" for each in one]) if one else np.nan for one in rated]
        filled, _ = _filled(values[here] - values[there])
        found[first, second] = RatedSample(
            (first, second),
            units[here],
            np.array(points),
            filled,
            _weights(shared, np.array(points)),
            np.array(ties),
        )
    return found


def _same(turn: Turn, turns: Sequence[Turn], place: int | None) -> bool:
    return place is not None and turns[place].context == turn.context


def _preferences(
    pairs: Sequence[RatedPair], dimension: str, order: Mapping[str, int]
) -> dict[tuple[str, str], dict[str, list[Preference]]]:
    """By systems and id what every rater said, as if the system that stands first in the corpus had been a."""
    turned: dict[Preference, Preference] = {"a": "b", "b": "a", "tie": "tie"}
    found: dict[tuple[str, str], dict[str, list[Preference]]] = {}
    for pair in pairs:
        said = [each for each in pair.preferences.get(dimension, ()) if each is not None]
        if not said or not {pair.a.system, pair.b.system} <= order.keys():
            continue
        names = pair.a.system, pair.b.system
        if order[names[0]] > order[names[1]]:
            names, said = (names[1], names[0]), [turned[each] for each in said]
        found.setdefault(names, {}).setdefault(pair.a.id, []).extend(said)
    return found


def _filled(values: Floats) -> tuple[Floats, int]:
    """With the metric's mean where it has no value, and how many they are: what stands in must not depend on which
    turns are rated."""
    missing = np.isnan(values)
    if not missing.any():
        return values, 0
    known = np.where(missing, 0.0, values).sum(0) / np.maximum((~missing).sum(0), 1)
    return np.where(missing, known, values), int(missing.sum())


def _weights(turns: Sequence[Turn], ratings: Floats) -> Floats | None:
    """1 / probability of the rated turns, 0 of others; None where they do not differ."""
    rated = [place for place in range(len(turns)) if not np.isnan(ratings[place])]
    known = [place for place in rated if turns[place].extra.get(PROBABILITY) is not None]
    if not known:
        return None
    if len(known) < len(rated):
        without = turns[next(place for place in rated if place not in set(known))]
        whose = f"{quote(without.id)} of {quote(without.system)}"
        raise InputError(
            f"{len(known)} of {counted(len(rated), 'rated turn')} say their probability of being chosen, and turn "
            f"{whose} does not: how they are to be weighted is not known. Estimate from those of one choice"
        )
    chances = np.array([_probability(turns[place]) for place in known])
    if np.ptp(chances) <= SAME * chances.max():
        return None
    weights = np.zeros(len(turns))
    weights[known] = 1 / chances
    return weights


def _probability(turn: Turn) -> float:
    value = turn.extra[PROBABILITY]
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        whose = f"turn {quote(turn.id)} of {quote(turn.system)}"
        raise InputError(f"{whose}: {PROBABILITY}: expected a number above 0, up to 1, found {describe(value)}")
    return float(value)


def _by_dialogue(sample: RatedSample, turns: Sequence[Turn]) -> RatedSample:
    """One place for each dialogue; turns without one are refused."""
    if lone := [turn for turn in turns if turn.dialogue is None]:
        named = in_words([quote(turn.id) for turn in lone[:2]])
        message = f"the dialogue level needs turns with a `dialogue`; {counted(len(lone), 'turn')} have none: {named}"
        raise InputError(message)
    units, places = np.unique(sample.units, return_inverse=True)
    rated = sample.rated
    numbers = np.bincount(places, rated)
    with np.errstate(invalid="ignore"):
        ratings = np.bincount(places, np.where(rated, sample.ratings, 0.0)) / numbers
    weights = sample.weights
    if weights is not None:
        weights = np.bincount(places, weights) / np.maximum(numbers, 1)
    values = np.column_stack([group_means(column, places) for column in sample.values.T])
    return RatedSample(sample.name, units, ratings, values, weights)
