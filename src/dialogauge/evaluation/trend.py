"""How a metric moves as more and more responses are made worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dialogauge.stats.correlations import spearman

STEADY = -0.9
"""A metric falls steadily where Spearman's correlation is at most this: of six points, two neighbours may have changed
places (-0.94)."""
DIGITS = 9
"""Values that agree in so many digits are the same: the order of a sum is no trend."""

FALLS = "falls"
UNCLEAR = "falls, unclear"
STAYS = "does not fall"
CONSTANT = "constant"
NO_DIRECTION = "no direction"
UNCHANGED = "nothing changed"
UNDEFINED = "undefined"


@dataclass(frozen=True)
class Point:
    """One system's value of one metric, with a share of the system's responses perturbed. None where it is
    undefined."""

    kind: str
    ratio: float
    system: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    higher_is_better: bool | None
    signature: str
    changed: int
    """How many of the system's responses have another text than before."""


@dataclass(frozen=True)
class Trend:
    """What becomes of one system's value of one metric under one kind of perturbation."""

    kind: str
    system: str
    metric: str
    points: int
    """How many ratios, 0 included, have a defined value."""
    spearman: float | None
    """Between ratio and value, the value negated where lower is better: -1 where quality falls with every step. Of
    the value as it is where the metric has no direction. None where all values are the same."""
    change: float | None
    """The value at the largest ratio minus that at 0, not negated."""
    quality: Literal["worse", "better", "same"] | None
    """What the metric says of this change; None where it has no direction."""
    verdict: str


def trend_of(points: Sequence[Point]) -> Trend:
    """The trend of the points of one kind, system and metric, in the order of their ratios."""
    first, last = points[0], points[-1]
    sign = -1.0 if first.higher_is_better is False else 1.0
    found = [(point.ratio, _rounded(sign * point.value)) for point in points if point.value is not None]
    rho = _spearman(found)
    change = None if first.value is None or last.value is None else last.value - first.value
    quality = None if change is None or first.higher_is_better is None else _quality(found[-1][1] - found[0][1])
    return Trend(
        kind=first.kind,
        system=first.system,
        metric=first.metric,
        points=len(found),
        spearman=rho,
        change=change,
        quality=quality,
        verdict=_verdict(points, rho, quality),
    )


def _verdict(points: Sequence[Point], spearman: float | None, quality: str | None) -> str:
    first, last = points[0], points[-1]
    if not any(point.changed for point in points):
        return UNCHANGED
    if first.value is None or last.value is None:
        return UNDEFINED
    if spearman is None:
        return CONSTANT
    if first.higher_is_better is None:
        return NO_DIRECTION
    if spearman > STEADY or quality != "worse":
        return STAYS
    return FALLS if _apart(first, last) else UNCLEAR


def _apart(first: Point, last: Point) -> bool:
    """Whether both have intervals, and these do not overlap."""
    if first.low is None or first.high is None or last.low is None or last.high is None:
        return False
    return first.high < last.low or last.high < first.low


def _quality(difference: float) -> Literal["worse", "better", "same"]:
    return "same" if difference == 0 else "better" if difference > 0 else "worse"


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    """None where one side never differs."""
    found = spearman(*np.array(pairs).reshape(-1, 2).T)
    return None if np.isnan(found) else round(found, 12)
