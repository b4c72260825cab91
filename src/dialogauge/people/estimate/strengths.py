"""How often people prefer a system to the others, from choices between two replies: Bradley and Terry's model with
ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dialogauge.people.estimate.combine import Prediction
from dialogauge.people.estimate.powered import UnitTotals
from dialogauge.people.estimate.samples import RatedSample
from dialogauge.stats.arrays import Floats

STEPS = 100
CONVERGED = 1e-10


@dataclass(frozen=True)
class Outcome:
    """Of two systems, by their places: weight, mean points of the first (a tie is half a point), share of ties."""

    first: int
    second: int
    weight: float
    points: float
    ties: float


@dataclass(frozen=True)
class Strengths:
    """Davidson's model (1970): the first is preferred with a probability of e^(d/2) / z, the second with e^(-d/2) / z,
    and neither with e^tie / z, d being the difference of their strengths and z the sum of the three. Strengths sum to
    0. Without any ties it is the model of Bradley & Terry (1952)."""

    values: Floats
    tie: float
    """Minus infinity without any ties."""
    information: Floats
    """Of one comparison, in the strengths and, where there are ties, the tie parameter."""

    def expected(self, first: int, second: int) -> tuple[float, float]:
        """The points that the first can expect of one comparison, and the chance of a tie."""
        chances = _chances(float(self.values[first] - self.values[second]), self.tie)
        return float(chances[0] + chances[2] / 2), float(chances[2])

    def win_rate(self, system: int) -> tuple[float, Floats]:
        """The mean points of a system against each of the others, and how it changes with the parameters."""
        others = [place for place in range(len(self.values)) if place != system]
        slopes = np.zeros(len(self.information))
        for other in others:
            (by_strength, by_tie), _ = _slopes(float(self.values[system] - self.values[other]), self.tie)
            slopes[system] += by_strength / len(others)
            slopes[other] -= by_strength / len(others)
            if len(slopes) > len(self.values):
                slopes[-1] += by_tie / len(others)
        return float(np.mean([self.expected(system, other)[0] for other in others])), slopes


def fit_strengths(systems: int, outcomes: Sequence[Outcome]) -> Strengths | None:
    """The likeliest strengths, by Newton's method; None where there are none: unless there is, from every system to
    every other, a chain of comparisons in which each gained points from the next (Ford 1957), a strength is infinite or
    of no meaning."""
    if not _connected(systems, outcomes):
        return None
    tied = any(outcome.ties > 0 for outcome in outcomes)
    size = systems + tied
    found = np.zeros(size)
    whole = sum(outcome.weight for outcome in outcomes)
    for _ in range(STEPS):
        score, information = np.zeros(size), np.zeros((size, size))
        for outcome in outcomes:
            d, tie = found[outcome.first] - found[outcome.second], found[-1] if tied else -np.inf
            chances = _chances(d, tie)
            of_points, of_ties = _slopes(d, tie)
            share, sides = outcome.weight / whole, np.zeros(size)
            sides[outcome.first], sides[outcome.second] = 1.0, -1.0
            score += share * (outcome.points - chances[0] - chances[2] / 2) * sides
            information += share * of_points[0] * np.outer(sides, sides)
            if tied:
                score[-1] += share * (outcome.ties - chances[2])
                information[-1, -1] += share * of_ties[1]
                information[:, -1] += share * of_ties[0] * sides
                information[-1, :] += share * of_ties[0] * sides
        step = np.linalg.lstsq(information, score, rcond=None)[0]
        found = found + step / max(1.0, float(np.abs(step).max()) / 2)
        if np.abs(step).max() < CONVERGED:
            break
    found[:systems] -= found[:systems].mean()
    return Strengths(found[:systems], float(found[-1]) if tied else -np.inf, information)


def win_rate_totals(
    systems: Sequence[str],
    samples: Mapping[tuple[str, str], RatedSample],
    predictions: Mapping[tuple[str, str], Prediction],
    strengths: Strengths,
    count: int,
    finite: bool,
) -> dict[str, UnitTotals]:
    """For each system its win rate as a mean over comparisons: of the rate itself and what each comparison adds to it,
    to first order, gradient · information⁻¹ · score. What a metric predicts enters by the same factor, and its mean
    over other contexts is taken pair by pair, in the shares that the rated pairs have."""
    inverse = np.linalg.pinv(strengths.information)
    everything = sum(_weight(sample) for sample in samples.values())
    found = {}
    for place, system in enumerate(systems):
        rate, slopes = strengths.win_rate(place)
        factors = slopes @ inverse
        parts = []
        for names, sample in samples.items():
            first, second = (systems.index(name) for name in names)
            points, ties = strengths.expected(first, second)
            by_points, by_ties = factors[first] - factors[second], factors[-1] if strengths.tie > -np.inf else 0.0
            everywhere = finite or sample.weights is not None
            others = len(sample.ratings) if everywhere else len(sample.ratings) - sample.rated_count
            prediction = predictions[names]
            factor = by_points if others else 0.0
            at_rated = prediction.everywhere if prediction.rated is None else prediction.rated
            parts.append(
                UnitTotals.from_turns(
                    sample.units,
                    count,
                    rate + by_points * (sample.ratings - points) + by_ties * (sample.ties - ties),
                    factor * prediction.everywhere,
                    predicted_rated=factor * at_rated,
                    weights=sample.weights,
                    other_weights=np.full(len(sample.ratings), _weight(sample) / everything / max(others, 1)),
                    everywhere=everywhere,
                )
            )
        found[system] = UnitTotals(
            *(np.sum([getattr(part, name) for part in parts], axis=0) for name in vars(parts[0]))
        )
    return found


def outcome_of(sample: RatedSample, systems: Sequence[str]) -> Outcome:
    """What the rated pairs of two systems come to."""
    rated = sample.rated
    weights = np.ones(len(rated)) if sample.weights is None else sample.weights
    points, ties = (
        float(np.average(values[rated], weights=weights[rated])) for values in (sample.ratings, sample.ties)
    )
    first, second = (systems.index(name) for name in sample.name)
    return Outcome(first, second, _weight(sample), points, ties)


def _weight(sample: RatedSample) -> float:
    return float(sample.rated_count if sample.weights is None else sample.weights.sum())


def _chances(d: float, tie: float) -> Floats:
    """Of the first, the second, and neither."""
    exponents = np.array([d / 2, -d / 2, tie])
    raised = np.exp(exponents - exponents.max())
    return np.asarray(raised / raised.sum())


def _slopes(d: float, tie: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """How expected points and the chance of a tie change with the difference of strengths, and with the tie
    parameter."""
    first, second, neither = map(float, _chances(d, tie))
    mixed = -neither * (first - second) / 2
    return ((first + second - (first - second) ** 2) / 4, mixed), (mixed, neither * (1 - neither))


def _connected(systems: int, outcomes: Sequence[Outcome]) -> bool:
    from scipy.sparse.csgraph import connected_components

    gained = np.zeros((systems, systems))
    for outcome in outcomes:
        gained[outcome.first, outcome.second] += outcome.points > 0
        gained[outcome.second, outcome.first] += outcome.points < 1
    return bool(connected_components(gained, directed=True, connection="strong")[0] == 1)
