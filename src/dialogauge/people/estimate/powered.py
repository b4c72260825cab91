"""A mean rating from the ratings of some turns and a metric on all: prediction-powered inference over units that may
depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats

ROUNDING = 1e-12
"""Variances below this share of the squared ratings are rounding."""


@dataclass(frozen=True)
class UnitTotals:
    """What one mean is made of, unit by unit (dialogue or context).

    The classical estimate is sum(rated) / sum(weights); the prediction-powered one takes away
    slope · (sum(predicted) / sum(weights) - sum(others) / sum(other_turns)).
    """

    weights: Floats
    """Of the rated turns: their number, or the sum of 1 / probability."""
    ratings: Floats
    """The weighted sum of their ratings."""
    predicted: Floats
    """The weighted sum of the metric on the same turns."""
    other_turns: Floats
    """How many turns the metric alone tells of: those without ratings or, where turns were chosen with unequal
    probability, all."""
    others: Floats
    """The sum of the metric on them."""

    @classmethod
    def from_turns(
        cls,
        units: NDArray[np.int64],
        count: int,
        ratings: Floats,
        predicted: Floats,
        *,
        predicted_rated: Floats | None = None,
        weights: Floats | None = None,
        other_weights: Floats | None = None,
        everywhere: bool = False,
    ) -> UnitTotals:
        """Of turns in `count` units, numbered from 0. `ratings` is NaN where a turn was not rated; `predicted_rated` is
        what stands in for `predicted` at the rated turns (cross-fitted); `other_weights` are of the turns that the
        metric alone tells of. `everywhere`: the metric's mean is that of all
        turns, in place of those without ratings."""
        rated = ~np.isnan(ratings)
        own = (np.ones(len(ratings)) if weights is None else weights) * rated
        at_rated = predicted if predicted_rated is None else predicted_rated
        other = np.ones(len(ratings)) if other_weights is None else other_weights
        other = other if everywhere else other * ~rated

        def by_unit(values: Floats) -> Floats:
            return np.bincount(units, values, count).astype(np.float64)

        return cls(
            weights=by_unit(own),
            ratings=by_unit(own * np.where(rated, ratings, 0.0)),
            predicted=by_unit(own * np.where(rated, at_rated, 0.0)),
            other_turns=by_unit(other),
            others=by_unit(other * predicted),
        )

    def merged(self, groups: NDArray[np.int64], count: int) -> UnitTotals:
        """With several units as one."""
        found = (np.bincount(groups, values, count).astype(np.float64) for values in vars(self).values())
        return UnitTotals(*found)


class Estimates(NamedTuple):
    """One number of each for every set of counts: the estimate, its squared standard error, and the classical ones."""

    value: Floats
    variance: Floats
    slope: Floats
    """By how much the rating rises with the metric; the tuning parameter lambda of PPI++, in the metric's own scale."""
    classical: Floats
    classical_variance: Floats


def estimates(
    terms: Sequence[tuple[float, UnitTotals]],
    counts: Floats,
    *,
    slope: float | None = None,
    finite: bool = False,
    jackknife: bool = True,
) -> Estimates:
    """Of sums of means, each with its sign (one mean, or a difference of two), when unit u is there counts[r, u] times.

    With A the classical estimate, B the metric's mean on the rated turns less that on the others, and a, b what each
    unit adds to them to first order (a = (ratings - A weights) / sum(weights), and so on), the estimate is A - slope B,
    and slope = sum(a b) / sum(b²) makes its variance least (Angelopoulos, Duchi & Zrnic 2023, PPI++), given what the
    units are: dialogues or contexts, whole.

    The variance is the jackknife's over units, the slope taken without each unit's own product: sum(a - slope b)²
    forgets that the slope was fitted, and is too small where few units or large ones make the mean (MacKinnon, Nielsen
    & Webb 2023 on clusters). `jackknife=False` gives that plain sum, as ppi-python has it.

    `finite`: these turns are all there is; the metric's mean over them is known, not estimated. The part of the turns
    that was rated must then be taken off the variance by the caller."""
    total = _Totals(terms, counts, finite)
    a, b = total.influence()
    moment, product = (counts * b * b).sum(1), (counts * a * b).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(moment > 0, product / moment, 0.0) if slope is None else np.full(len(counts), slope)
    classical, control = total.values()
    value = classical - found * control
    if not jackknife:
        residual = a - found[:, None] * b
        return Estimates(value, (counts * residual**2).sum(1), found, classical, (counts * a**2).sum(1))
    without_classical, without_control = total.without()
    if slope is None:
        rest = moment[:, None] - b * b
        with np.errstate(divide="ignore", invalid="ignore"):
            again = np.where(rest > ROUNDING * moment[:, None], (product[:, None] - a * b) / rest, found[:, None])
    else:
        again = np.broadcast_to(found[:, None], a.shape)
    moved = without_classical - again * without_control - value[:, None]
    moved_classical = without_classical - classical[:, None]
    return Estimates(
        value,
        _summed(moved, counts, total.rated),
        found,
        classical,
        _summed(moved_classical, counts, total.rated),
    )


def influence(terms: Sequence[tuple[float, UnitTotals]], counts: Floats, finite: bool = False) -> tuple[Floats, Floats]:
    """What each unit adds to the classical estimate and to the control, to first order."""
    return _Totals(terms, counts, finite).influence()


def _summed(moved: Floats, counts: Floats, rated: NDArray[np.bool_]) -> Floats:
    """The jackknife's variance: (g - 1) / g times the sum of squares over g rated units; of the others, which are a
    sample of their own, likewise."""
    found = np.zeros(len(counts))
    for members in (rated, ~rated):
        number = (counts * members).sum(1)
        share = np.maximum(number - 1, 0) / np.maximum(number, 1)
        found += share * np.nansum(np.where(counts * members > 0, counts * members * moved**2, 0.0), axis=1)
    return found


class _Totals:
    """Sums over units, and what is left of them without one of each."""

    def __init__(self, terms: Sequence[tuple[float, UnitTotals]], counts: Floats, finite: bool) -> None:
        self.terms, self.counts, self.finite = terms, counts, finite
        self.rated = np.any([totals.weights > 0 for _, totals in terms], axis=0)
        self.controlled = [np.count_nonzero(totals.other_turns) > 1 for _, totals in terms]
        """Where all turns are rated, or all but those of one unit, the metric has nothing to add."""
        self.sums = [{name: counts @ values for name, values in vars(totals).items()} for _, totals in terms]

    def values(self) -> tuple[Floats, Floats]:
        """The classical estimate and the control."""
        classical, control = np.zeros(len(self.counts)), np.zeros(len(self.counts))
        for (sign, _), sums, controlled in zip(self.terms, self.sums, self.controlled, strict=True):
            classical += sign * _ratio(sums["ratings"], sums["weights"])
            if controlled:
                on_rated = _ratio(sums["predicted"], sums["weights"])
                control += sign * (on_rated - _ratio(sums["others"], sums["other_turns"]))
        return classical, control

    def influence(self) -> tuple[Floats, Floats]:
        a, b = np.zeros(self.counts.shape), np.zeros(self.counts.shape)
        for (sign, own), sums, controlled in zip(self.terms, self.sums, self.controlled, strict=True):
            whole = {name: values[:, None] for name, values in sums.items()}
            a += sign * _added(own.ratings, own.weights, whole["ratings"], whole["weights"])
            if not controlled:
                continue
            b += sign * _added(own.predicted, own.weights, whole["predicted"], whole["weights"])
            if not self.finite:
                b -= sign * _added(own.others, own.other_turns, whole["others"], whole["other_turns"])
        return a, b

    def without(self) -> tuple[Floats, Floats]:
        """The values without one of each unit."""
        classical, control = np.zeros(self.counts.shape), np.zeros(self.counts.shape)
        for (sign, own), sums, controlled in zip(self.terms, self.sums, self.controlled, strict=True):
            left = {name: values[:, None] - getattr(own, name) for name, values in sums.items()}
            classical += sign * _ratio(left["ratings"], left["weights"])
            if not controlled:
                continue
            control += sign * _ratio(left["predicted"], left["weights"])
            if self.finite:
                control -= sign * _ratio(sums["others"], sums["other_turns"])[:, None]
            else:
                control -= sign * _ratio(left["others"], left["other_turns"])
        return classical, control


def _ratio(sums: Floats, sizes: Floats) -> Floats:
    """NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(sizes > ROUNDING, sums / sizes, np.nan))


def _added(sums: Floats, sizes: Floats, whole: Floats, whole_size: Floats) -> Floats:
    """What a unit adds to the ratio of two sums, to first order."""
    return np.asarray((sums - _ratio(whole, whole_size) * sizes) / whole_size)
