"""Numbers that a user gives, refused where they lie outside of what anybody means."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from dialogauge.errors import InputError

LARGEST = 2**63 - 1
COUNT = 10**6
"""The most of anything that costs time: resamples, epochs, pairs in a batch."""


def check_whole(name: str, value: Any, least: int, most: int, file: Path | None = None) -> None:
    """Refuses what is no whole number between two others, both included; `file` is where it was read."""
    if not _is(Integral, value) or not least <= value <= most:
        found = shortened(value)
        raise InputError(f"{name}: expected a whole number from {least} to {_spelled(most)}, found {found}", file)


def check_seed(value: Any) -> None:
    check_whole("seed", value, 0, LARGEST)


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Refuses what is no number between two others, both included."""
    if not _is(Real, value) or not least <= value <= most:
        raise InputError(
            f"{name}: expected a number from {_spelled(least)} to {_spelled(most)}, found {shortened(value)}"
        )


def check_share(name: str, value: Any) -> None:
    """Refuses what is no share of a whole that leaves something on both sides."""
    if not _is(Real, value) or not 0 < value < 1:
        raise InputError(f"{name}: expected a number between 0 and 1, found {shortened(value)}")


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _spelled(number: float) -> str:
    return f"{number:,}" if abs(number) < 10**12 else f"{number:.0e}"
