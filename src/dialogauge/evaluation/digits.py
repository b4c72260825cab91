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
    """Each value and its interval as text, all with the same number of decimals: two digits of the typical interval's
    width, so that no digit shown is mere noise."""
    widths = [high - low for _, low, high in estimates if low is not None and high is not None and high > low]
    sizes = widths or [abs(value) / 100 for value, _, _ in estimates if value] or [1.0]
    decimals = min(max(1 - math.floor(math.log10(median(sizes))), 0), 6)
    return [
        (
            _number(value, decimals),
            "" if low is None or high is None else f"[{_number(low, decimals)}, {_number(high, decimals)}]",
        )
        for value, low, high in estimates
    ]


def defined(value: Any) -> float | None:
    """The number, or None where it is undefined."""
    number = float(value)
    return number if math.isfinite(number) else None


def _number(value: float | None, decimals: int) -> str:
    if value is None:
        return "–"
    if 0 < abs(value) < TINY:
        return f"{value:.1e}"
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
