"""Intervals and p-values that stay valid however often they are looked at, so that a study can stop as soon as it is
decided.

A 95 % interval holds the truth in 95 % of studies at a size that was fixed before. Who looks after every ten ratings,
and stops as soon as it leaves out 0, finds a difference that is not there in far more than 5 %. A confidence sequence
holds the truth at all sizes at once in 95 % of studies, and is wider for it.

The one here is that of Student's t (Wang & Ramdas 2023, "Anytime-valid t-tests and confidence sequences for Gaussian
means with unknown variance", arXiv:2310.03722). With T = (estimate - truth) / error after n units, and effect sizes
under the alternative drawn from N(0, r²), the Bayes factor (Gönen, Johnson, Lu & Westfall 2005)

    B = a^(-1/2) * ((1 + T²/(n-1)) / (1 + T²/((n-1) a)))^(n/2),   a = 1 + n r²

exceeds 1/alpha at any time with probability alpha at most: for normal units exactly, for others as the central limit
theorem has it. With n it becomes the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas
(2024, "Time-uniform central limit theory and asymptotic confidence sequences"), whose choice of r makes it narrowest at
the size that was planned."""

from __future__ import annotations

import math

from dialogauge.errors import check_share, check_whole
from dialogauge.stats.resampling import NO_INTERVAL, Interval

PLANNED = 100
"""Units at which the interval is narrowest, unless said otherwise."""
FEWEST = 30
"""Units before which nothing is said: of fewer, what the central limit theorem promises of ratings is not yet kept."""
MOST = 10**9


def anytime_reach(n: int, confidence: float = 0.95, planned: int = PLANNED) -> float:
    """How many standard errors the interval reaches to either side after n units: contexts or dialogues, whatever the
    standard error takes as independent. At the planned number 3.1 at 95 %, where 1.96 is for one look. Infinite below
    30 units, and above where many more are planned.

    `planned` and `confidence` must not depend on what was found so far."""
    mixed, alpha = _mixture(n, confidence, planned)
    if n < FEWEST:
        return math.inf
    grown = math.exp(2 / n * (math.log(mixed) / 2 - math.log(alpha)))
    if grown >= mixed:
        return math.inf
    return math.sqrt((n - 1) * (grown - 1) / (1 - grown / mixed))


def anytime_interval(value: float, error: float, n: int, confidence: float = 0.95, planned: int = PLANNED) -> Interval:
    """The estimate ± `anytime_reach` of its standard errors; NaN where one of the two is. Infinite where the reach is,
    and where nothing has differed so far (an error of 0), which says nothing of what is to come."""
    reach = anytime_reach(n, confidence, planned)
    if math.isnan(value) or math.isnan(error):
        return NO_INTERVAL
    away = reach * error if error > 0 else math.inf
    return Interval(value - away, value + away)


def anytime_p(value: float, error: float, n: int, confidence: float = 0.95, planned: int = PLANNED) -> float:
    """Two-sided, of the hypothesis that the estimate's truth is 0: below 1 - `confidence` wherever the interval leaves
    out 0, and nowhere else. It can be looked at after every rating, and Holm's correction takes it as any other. NaN
    where the estimate or its error is."""
    mixed, _ = _mixture(n, confidence, planned)
    if math.isnan(value) or math.isnan(error):
        return math.nan
    if n < FEWEST or error <= 0:
        return 1.0
    squared = (value / error) ** 2 / (n - 1)
    ratio = math.log1p(squared) - math.log1p(squared / mixed)
    return min(1.0, math.exp(math.log(mixed) / 2 - n / 2 * ratio))


def _mixture(n: int, confidence: float, planned: int) -> tuple[float, float]:
    """The a of above, and alpha. r² is (-2 log alpha + log(1 - 2 log alpha)) / planned, after Waudby-Smith et al."""
    check_whole("n", n, 0, MOST)
    check_whole("planned", planned, 1, MOST)
    check_share("confidence", confidence)
    alpha = 1 - confidence
    squared = -2 * math.log(alpha)
    return 1 + n * (squared + math.log1p(squared)) / planned, alpha
