"""How many contexts it takes to tell two systems apart.

The difference of two systems on n units (contexts, or dialogues) that both answered has the variance

    (V - G (1 - n/N)) / n

where V is the variance of a unit's difference (`Components.of_difference`), and G what a metric takes off it that has
scored N units in all: G = cov(rating difference, metric difference)² / var(metric difference), so that G/V is the
squared correlation of the two. That is the variance of prediction-powered inference with the best weight for the
metric (Angelopoulos, Duchi & Zrnic 2023, PPI++). Without a metric G is 0. The test is Student's."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dialogauge.errors import check_number, check_share, check_whole
from dialogauge.people.sequence import anytime_reach

FEWEST = 30
"""No plan asks for fewer units: of so few, `estimate` does not trust Student's t."""
NORMAL = 1000
"""Units from which on the noncentral t is as good as normal."""
LARGEST = 10_000_000
"""A plan that would take more units than this takes too many."""
SMALLEST_DIFFERENCE, LARGEST_DIFFERENCE = 1e-6, 1e6


@dataclass(frozen=True)
class Target:
    """What a study is to show."""

    difference: float
    """Between two systems, in points of the scale."""
    power: float = 0.8
    """The probability of finding it."""
    confidence: float = 0.95
    among: int = 2
    """Of how many systems, all pairs compared: Holm's correction tests the first pair at (1 - confidence) / pairs."""
    anytime: bool = False
    """Whether the study is looked at again and again, and stops once it is decided."""

    def __post_init__(self) -> None:
        check_number("difference", self.difference, SMALLEST_DIFFERENCE, LARGEST_DIFFERENCE)
        check_share("power", self.power)
        check_share("confidence", self.confidence)
        check_whole("among", self.among, 2, 1000)

    @property
    def alpha(self) -> float:
        return (1 - self.confidence) / math.comb(self.among, 2)


@dataclass(frozen=True)
class DifferenceVariance:
    """What the standard error of a difference is made of."""

    per_unit: float
    """V."""
    gain: float = 0.0
    """G; no more of it counts than V."""
    pool: int | None = None
    """N; None for as many as one likes."""
    taste: float = 0.0
    """The part of V that comes from raters who like different systems, times the ratings of a unit's system: it goes
    down with people, not with ratings."""
    people: int | None = None
    """How many people rate in all; None where each rates little, and V has it right."""
    ratings: float = 1.0
    """Of one system in one unit."""

    def error(self, n: int) -> float:
        """The standard error of the difference on n units."""
        left = min(self.gain, self.per_unit) * (1.0 if self.pool is None else 1 - n / self.pool)
        variance = (self.per_unit - left) / n
        if self.people is not None:
            variance += self.taste * max(1 / self.people - 1 / (n * self.ratings), 0.0)
        return math.sqrt(variance)


def power_at(n: int, error: float, target: Target) -> float:
    """The probability that the test on n units finds the difference, in its own direction, by the noncentral t. Of
    a study that is looked at again and again: that it is found at the n-th unit; it may have stopped before."""
    from scipy.special import ndtr, stdtrit
    from scipy.stats import nct

    if target.anytime:
        critical = anytime_reach(n, 1 - target.alpha, planned=n)
    else:
        critical = float(stdtrit(n - 1, 1 - target.alpha / 2))
    if error == 0 or math.isinf(critical):
        return 0.0 if math.isinf(critical) else 1.0
    away = target.difference / error
    if n >= NORMAL or away > 30:  # scipy's noncentral t is slow and at times wrong so far out
        return float(ndtr(away - critical))
    return float(nct.sf(critical, n - 1, away))


def units_needed(target: Target, variance: DifferenceVariance) -> int | None:
    """The smallest number of units, 30 at least, that has the power; None where the pool (or ten million) has not
    enough."""
    most = LARGEST if variance.pool is None else variance.pool

    def enough(n: int) -> bool:
        return power_at(n, variance.error(n), target) >= target.power

    high = FEWEST
    while high < most and not enough(high):
        high *= 2
    high = min(high, most)
    if high < FEWEST or not enough(high):
        return None
    low = max(FEWEST, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
