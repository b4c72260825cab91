"""Why ratings differ: variance components of contexts, systems and raters, from ratings of any pattern.

A rating of system s on unit c by rater r is taken as

    mean of s + context(c) + system_context(s, c) + turn + rater(r) + system_rater(s, r) + context_rater(c, r) + rating

(generalizability theory; Cronbach, Gleser, Nanda & Rajaratnam 1972). Units are dialogues where known, else contexts; a
turn's own part shows only where units have several turns. Each sum of variances is the covariance of two ratings that
share some of system, unit, turn and rater and nothing else: the mean product over all such pairs of ratings, each less
its system's mean, minus that over pairs that share nothing (or the system alone, where these share it). That needs no
balance. A variance that comes out negative is shown as 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.turn import Turn, unit_of
from dialogauge.errors import InputError
from dialogauge.stats.arrays import Floats, group_means
from dialogauge.stats.reliability import krippendorff_alpha, rating_table

Places = NDArray[np.int64]
SEVERAL_TURNS = 1.5
"""Turns of a system in a unit, on average, from which on units and turns can be told apart."""


@dataclass(frozen=True)
class Components:
    """Variances of one rating, in squared points of its scale. None where the ratings cannot tell."""

    context: float | None
    """How units differ for all systems alike, which pairs of systems do not see; None where no two systems share a
    unit, and it is in `system_context`."""
    system_context: float
    """How units differ for one system and not for another. Where one system is good on the units on which the other is
    bad, this is larger, and `context` 0, so that the variance of a difference is right."""
    turn: float
    """How turns of one unit and system differ; 0 where most units have one turn, and it is in `system_context`."""
    rater: float | None
    """How lenient raters are. This and the next two are None where raters are not named, or where too few of them rated
    the same things: then it is in `rating`."""
    system_rater: float | None
    """How raters differ in the systems they like."""
    context_rater: float | None
    """How raters differ in the contexts they like."""
    rating: float
    """What is left: how the same rater would differ on another day, and all that could not be told apart."""
    turns: float = 1.0
    """Of one system in one unit, on average; 1 where few units have more."""
    several: bool = True
    """Whether any turn has two ratings or more. If not, all of `rating` is in what turns differ by."""

    @property
    def between_raters(self) -> float:
        """How ratings of one turn by different raters differ."""
        return self.rating + sum(part or 0.0 for part in (self.rater, self.system_rater, self.context_rater))

    def of_difference(self, raters: float, apart: bool = False) -> float:
        """The variance over units of the difference of two systems, each turn rated by so many people: by the same ones
        for both systems, whose leniency then cancels, or by others (`apart`)."""
        noise = self.between_raters if apart else self.rating + (self.system_rater or 0.0)
        return 2 * (self.system_context + (self.turn + noise / raters) / self.turns)


@dataclass(frozen=True)
class GivenRatings:
    """Ratings of one dimension, one beside the other, with the places of what they belong to."""

    values: Floats
    systems: Places
    units: Places
    turns: Places
    raters: Places
    alpha: float
    """Krippendorff's, interval; NaN where no turn has two ratings."""

    @classmethod
    def from_turns(cls, turns: Iterable[Turn], dimension: str) -> GivenRatings:
        """Of the turns that have ratings of this dimension."""
        rated = [turn for turn in turns if any(value is not None for value in turn.ratings.get(dimension, ()))]
        if not rated:
            raise InputError(f"expected turns with ratings of {dimension!r}, found none")
        systems, units, raters = _Numbering(), _Numbering(), _Numbering()
        rows: list[tuple[float, int, int, int, int]] = []
        for place, turn in enumerate(rated):
            names = rater_names(turn, dimension)
            for rank, value in enumerate(turn.ratings[dimension]):
                if value is not None:
                    rater = names[rank] if names else (place, rank)
                    rows.append((value, systems[turn.system], units[unit_of(turn)], place, raters[rater]))
        values, *places = zip(*rows, strict=True)
        of_system, of_unit, of_turn, of_rater = (np.array(column, dtype=np.int64) for column in places)
        return cls(
            np.array(values, dtype=np.float64),
            of_system,
            of_unit,
            of_turn,
            of_rater,
            alpha=krippendorff_alpha(rating_table([turn.ratings[dimension] for turn in rated])),
        )


class _Numbering(dict[object, int]):
    """The place of each key among the different ones, in the order of first appearance."""

    def __missing__(self, key: object) -> int:
        self[key] = len(self)
        return self[key]


def rater_names(turn: Turn, dimension: str) -> Sequence[str] | None:
    """Who gave each rating, as `rate --export` writes it (`raters`, by dimension or one list for all) and USR does
    (`annotators`); None where there is not one name per rating."""
    given = turn.extra.get("raters", turn.extra.get("annotators"))
    names = given.get(dimension) if isinstance(given, dict) else given
    if not isinstance(names, list | tuple) or len(names) != len(turn.ratings.get(dimension, ())):
        return None
    return [str(name) for name in names] if len(set(map(str, names))) == len(names) else None


def components(sample: GivenRatings) -> Components:
    """Needs two units that the same system answered."""
    pairs = _Pairs(sample)
    null = {True: pairs.mean("S"), False: pairs.mean("")}
    alone = null[True]
    if alone is None:
        found = len(np.unique(sample.units))
        raise InputError(f"expected ratings of one system on two contexts or more, found {found}: nothing varies")

    def covariance(shared: str) -> float | None:
        mean, nothing = pairs.mean(shared), null["S" in shared]
        return None if mean is None or nothing is None else mean - nothing

    total = max(float(np.mean(pairs.centred**2)) - alone, 0.0)
    same_turn, same_unit, same_context = covariance("SUT"), covariance("SU"), covariance("U")
    turns = total if same_turn is None else min(max(same_turn, 0.0), total)
    per_unit = _turns_per_unit(sample)
    if per_unit < SEVERAL_TURNS:
        per_unit, same_unit = 1.0, None
    units = turns if same_unit is None else min(max(same_unit, 0.0), turns)
    context = None if same_context is None else min(same_context, units)
    within = total - turns
    rater, system_rater, context_rater = _of_raters(
        covariance("R"), covariance("SR"), covariance("UR"), context, within
    )
    return Components(
        None if context is None else max(context, 0.0),
        units - (context or 0.0),  # more than there is in all where context is below 0, as the difference has it
        turns - units,
        rater=rater,
        system_rater=system_rater,
        context_rater=context_rater,
        rating=max(within - sum(part or 0.0 for part in (rater, system_rater, context_rater)), 0.0),
        turns=per_unit,
        several=same_turn is not None,
    )


def _of_raters(
    rater: float | None, with_system: float | None, with_context: float | None, context: float | None, within: float
) -> tuple[float | None, float | None, float | None]:
    """What raters' leniency, and their tastes in systems and contexts, have of the variance within turns, from the
    covariances of ratings by the same rater. What the same people do not add to a difference of systems (leniency and
    contexts together) is taken from the ratings of one context, of which there are most, and only then divided."""
    rater = None if rater is None else max(rater, 0.0)
    both = None if with_context is None else min(max(with_context - (context or 0.0), 0.0), within)
    if rater is None:  # no one rated two contexts: leniency and taste are one
        return None, None, both
    lenient = min(rater, within if both is None else both)
    left = within - (lenient if both is None else both)
    taste = None if with_system is None else min(max(with_system - rater, 0.0), left)
    return lenient, taste, None if both is None else both - lenient


class _Pairs:
    """Mean products of two ratings, less their systems' means, by what they share: some of system S, unit U, turn T and
    rater R. Sums over pairs come from sums over groups, and what is shared exactly from inclusion and exclusion."""

    def __init__(self, sample: GivenRatings) -> None:
        self.centred = sample.values - group_means(sample.values, sample.systems)[sample.systems]
        self._places = {"S": sample.systems, "U": sample.units, "T": sample.turns, "R": sample.raters}
        self._known: dict[str, Floats] = {}

    def mean(self, shared: str) -> float | None:
        """Over pairs that share these and no other; None where there are none."""
        others = [letter for letter in "SUTR" if letter not in shared]
        found = np.zeros(2)
        for mask in range(2 ** len(others)):
            also = [letter for place, letter in enumerate(others) if mask >> place & 1]
            found += (-1) ** len(also) * self._sums({*shared, *also})
        products, count = found
        return float(products / count) if count > 0.5 else None

    def _sums(self, shared: set[str]) -> Floats:
        """The products of all ordered pairs of ratings that share at least these, and how many pairs there are."""
        if "T" in shared:
            shared = shared - {"S", "U"}  # a turn has one of each
        key = "".join(sorted(shared))
        if key not in self._known:
            table = (
                np.column_stack([self._places[letter] for letter in key]) if key else np.zeros((len(self.centred), 1))
            )
            _, groups = np.unique(table, axis=0, return_inverse=True)
            sums, counts = np.bincount(groups.ravel(), self.centred), np.bincount(groups.ravel())
            products = (sums**2).sum() - (self.centred**2).sum()
            self._known[key] = np.array([products, float((counts * (counts - 1)).sum())])
        return self._known[key]


def _turns_per_unit(sample: GivenRatings) -> float:
    answered = np.unique(np.column_stack([sample.systems, sample.units]), axis=0)
    return len(np.unique(sample.turns)) / len(answered)
