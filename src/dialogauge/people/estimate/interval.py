"""How sure a prediction-powered estimate is: Student's t over many units, the bootstrap over few, or an interval that
holds however often one looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dialogauge.evaluation.options import Settings
from dialogauge.people.estimate.powered import ROUNDING, Estimates, UnitTotals, estimates, influence
from dialogauge.people.sequence import anytime_p, anytime_reach
from dialogauge.stats.arrays import Floats
from dialogauge.stats.resampling import CELLS_AT_ONCE

FEW = 30
"""With fewer rated units, Student's t is not trusted: the bootstrap says how far an interval reaches. Units of unequal
size count as fewer of equal size (`equal_units`)."""
FEWEST = 5
"""With fewer rated units there is no interval at all."""
GROUPS = 50
"""Into so many groups units without ratings are put for the bootstrap."""

Method = Literal["student", "bootstrap", "anytime", "none"]
SignedMeans = Sequence[tuple[float, UnitTotals]]


@dataclass(frozen=True)
class Bounds:
    """A value with its standard error, interval and p-value; NaN where there is none."""

    value: float
    error: float
    low: float
    high: float
    p: float
    """Two-sided, that the value is the null's."""

    @property
    def width(self) -> float:
        return self.high - self.low


@dataclass(frozen=True)
class PoweredEstimate:
    """What the ratings and the metric say together, and what the ratings say alone."""

    powered: Bounds
    classical: Bounds
    slope: float
    """By how much the rating rises with the metric, as it was used; 0 where the metric was left out, since the interval
    would not be narrower for it."""
    units: int
    """Rated dialogues or contexts behind it, of the term that has fewest."""
    method: Method

    @property
    def worth(self) -> float:
        """As many times the ratings would make the classical interval as narrow: the ratio of variances."""
        errors = self.classical.error, self.powered.error
        return (errors[0] / errors[1]) ** 2 if min(errors) > 0 else float("nan") if np.isnan(errors).any() else 1.0


def powered_estimate(
    terms: SignedMeans,
    settings: Settings,
    *,
    null: float = 0.0,
    rated_share: float | None = None,
    planned: int | None = None,
) -> PoweredEstimate:
    """Of a mean, or of a difference of two means.

    The metric is left out where it does not make the interval narrower than the classical one, so that a useless metric
    costs nothing.

    `rated_share`: the part of the turns that was rated, where these turns are all that the estimate is about; the
    variance is then smaller by that share. `planned`: how many units an interval that holds at any look is tightest
    for; None for an interval that holds once."""
    finite = rated_share is not None
    units = min(int(np.count_nonzero(totals.weights)) for _, totals in terms)
    ones = np.ones((1, len(terms[0][1].weights)))
    found = estimates(terms, ones, finite=finite)
    left = 1.0 if rated_share is None else 1.0 - rated_share
    if not _varies(found.classical_variance[0], terms) or units < FEWEST:
        value = Bounds(float(found.classical[0]), *[float("nan")] * 4)
        return PoweredEstimate(value, value, 0.0, units, "none")
    errors = np.sqrt(left * np.array([found.variance[0], found.classical_variance[0]]))
    many = min(equal_units(totals.weights) for _, totals in terms) >= FEW
    method: Method = "anytime" if planned is not None else "student" if many else "bootstrap"
    drawn = _drawn(terms, found, settings, finite) if method == "bootstrap" else None
    added = influence(terms, ones, finite)
    bounds = []
    for place, (value, slope) in enumerate(((found.value[0], float(found.slope[0])), (found.classical[0], 0.0))):
        error = float(errors[place])
        distance = abs(float(value) - null) / error if error > 0 else np.inf
        if error == 0:  # all there is was rated, and nothing is left to chance
            reach, p = 0.0, float(value == null)
        elif planned is not None:
            reach = anytime_reach(units, settings.confidence, planned)
            p = anytime_p(float(value) - null, error, units, settings.confidence, planned)
        else:
            free = freedom(terms, slope, added)
            wider = 1.0 if drawn is None else _wider(drawn[place], free, settings.confidence)
            reach, p = student(distance / wider, free, settings.confidence)
            reach *= wider
        bounds.append(Bounds(float(value), error, float(value) - reach * error, float(value) + reach * error, p))
    powered, classical = bounds
    if not powered.width < classical.width:
        return PoweredEstimate(classical, classical, 0.0, units, method)
    return PoweredEstimate(powered, classical, float(found.slope[0]), units, method)


def student(distance: float, freedom: float, confidence: float) -> tuple[float, float]:
    """How many standard errors an interval reaches, and the p-value of so many."""
    from scipy.special import stdtr, stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2)), float(2 * stdtr(freedom, -distance))


def freedom(terms: SignedMeans, slope: float, added: tuple[Floats, Floats]) -> float:
    """Degrees of freedom after Satterthwaite (1946): units that have ratings of the same terms are one sample of g
    (counted as units of equal size), with g - 1 (one less for a slope), those without ratings another: 1 / freedom =
    sum(share² / freedom of each), by their shares of the variance. Of one mean, nearly the rated units less one.
    `added` is the units' `influence`."""
    squares = (added[0][0] - slope * added[1][0]) ** 2
    sizes = np.sum([totals.weights for _, totals in terms], axis=0)
    pattern = sum((totals.weights > 0).astype(np.int64) << place for place, (_, totals) in enumerate(terms))
    inverse = 0.0
    for kind in np.unique(pattern):
        members = pattern == kind
        own = (equal_units(sizes[members]) if kind else np.count_nonzero(members)) - 1 - (slope != 0 and kind > 0)
        inverse += (squares[members].sum() / squares.sum()) ** 2 / max(own, 1)
    return float(1 / inverse)


def equal_units(sizes: Floats) -> float:
    """As many units of equal size vary as much: sum(size)² / sum(size²) (Kish 1965)."""
    return float(sizes.sum() ** 2 / max((sizes**2).sum(), ROUNDING))


def _varies(variance: float, terms: SignedMeans) -> bool:
    """Whether ratings differ from unit to unit by more than rounding."""
    size = sum(float(np.abs(totals.ratings).sum() / max(totals.weights.sum(), ROUNDING)) for _, totals in terms)
    return bool(variance > ROUNDING * max(size, ROUNDING) ** 2)


def _drawn(terms: SignedMeans, found: Estimates, settings: Settings, finite: bool) -> tuple[Floats, Floats]:
    """How many standard errors the estimates of resamples lie from the estimate: prediction-powered, the metric left
    out where it does not help in the resample, and classical. Rated units are drawn among themselves, and so are the
    others."""
    terms = _grouped(terms)
    rated = np.any([totals.weights > 0 for _, totals in terms], axis=0)
    rng = np.random.default_rng(settings.seed)
    powered, classical = [], []
    block = max(1, CELLS_AT_ONCE // (8 * len(rated)))
    for start in range(0, settings.resamples, block):
        counts = np.zeros((min(block, settings.resamples - start), len(rated)))
        for members in (rated, ~rated):
            places = np.flatnonzero(members)
            if len(places):
                counts[:, places] = rng.multinomial(len(places), np.full(len(places), 1 / len(places)), len(counts))
        again = estimates(terms, counts, finite=finite)
        with np.errstate(divide="ignore", invalid="ignore"):
            classical.append(np.abs(again.classical - found.classical) / np.sqrt(again.classical_variance))
            own = np.abs(again.value - found.value) / np.sqrt(again.variance)
        powered.append(np.where(again.variance < again.classical_variance, own, classical[-1]))
    return np.concatenate(powered), np.concatenate(classical)


def _grouped(terms: SignedMeans) -> SignedMeans:
    """With units without ratings put together, where they are many: sums add, and the draws are fewer."""
    rated = np.any([totals.weights > 0 for _, totals in terms], axis=0)
    others = int(np.count_nonzero(~rated))
    if others <= GROUPS:
        return terms
    groups = np.empty(len(rated), dtype=np.int64)
    groups[rated] = np.arange(len(rated) - others)
    groups[~rated] = len(rated) - others + np.arange(others) % GROUPS
    count = len(rated) - others + GROUPS
    return [(sign, totals.merged(groups, count)) for sign, totals in terms]


def _wider(drawn: Floats, freedom: float, confidence: float) -> float:
    """By how much further than Student's t the symmetric interval of the studentised bootstrap reaches (Hall 1988), and
    never less far; p-values are of distances that are shorter by as much, so that both agree. Resamples that do not
    vary count as far away: NaN where they are too many."""
    drawn = np.where(np.isnan(drawn), np.inf, drawn)
    further = float(np.quantile(drawn, confidence, method="higher"))
    return max(further / student(0.0, freedom, confidence)[0], 1.0) if np.isfinite(further) else np.nan
