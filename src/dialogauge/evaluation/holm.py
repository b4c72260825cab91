"""Holm's correction of p-values for their number."""

from __future__ import annotations

from collections.abc import Sequence


def holm_corrected(p_values: Sequence[float | None]) -> list[float | None]:
    """Each p-value as it stands after the correction (Holm 1979); None, for what was not tested, stays None and does
    not count."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        corrected[place] = largest
    return corrected
