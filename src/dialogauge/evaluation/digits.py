"""Numbers with as many digits as their intervals justify."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

TINY = 1e-6

Estimate = tuple[float | None, float | None, float | None]
"""A value and its interval's low and high; None where undefined."""


def format_estimates(estimates: Sequence[Estimate]) -> list[tuple[str, str]]:
    """Each value and its interval as text, all with as many decimals."""
    decimals = decimals_of(estimates)
    return [
        (
            number(value, decimals),
            "" if low is None or high is None else f"[{number(low, decimals)}, {number(high, decimals)}]",
        )
        for value, low, high in estimates
    ]


def decimals_of(estimates: Sequence[Estimate]) -> int:
    """As many as show two digits of the typical interval's width, so that no digit shown is mere noise."""
    widths = [high - low for _, low, high in estimates if low is not None and high is not None and high > low]
    sizes = widths or [abs(value) / 100 for value, _, _ in estimates if value] or [1.0]
    return min(max(1 - math.floor(math.log10(median(sizes))), 0), 6)


def defined(value: Any) -> float | None:
    """The number, or None where it is undefined."""
    found = float(value)
    return found if math.isfinite(found) else None


def number(value: float | None, decimals: int) -> str:
    if value is None:
        return "–"
    if 0 < abs(value) < TINY:
        return f"{value:.1e}"
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
