"""Numbers with as many digits as their intervals justify, and other names where people see them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from statistics import median
from typing import Any, TypeVar

from dialogauge.errors import InputError, check_whole, unknown

UNDEFINED = "–"
TINY = 1e-6
MOST = 15
"""Decimals that can be asked for: a float has no more."""

Bounded = tuple[float | None, float | None, float | None]
"""A value and its interval's low and high; None where undefined."""

NAMED = frozenset(
    {
        *("system", "systems", "metric", "metrics", "columns", "name", "names", "first", "second", "better"),
        *("baselines", "without_value", "tied"),
    }
)
"""The fields that hold names of metrics and systems."""
HIDDEN = frozenset({"samples", "texts", "rated"})
"""What metrics noted, and of which turns, which no table shows."""

Shown = TypeVar("Shown")


def check_digits(digits: int | None) -> None:
    if digits is not None:
        check_whole("digits", digits, 0, MOST)


def format_estimates(estimates: Sequence[Bounded], decimals: int | None = None) -> list[tuple[str, str]]:
    """Each value and its interval as text, all with as many decimals: those given, or what their intervals justify."""
    decimals = decimals_of(estimates) if decimals is None else decimals
    return [(value_text(estimate, decimals), interval_text(*estimate[1:], decimals)) for estimate in estimates]


def decimals_of(estimates: Sequence[Bounded]) -> int:
    """As many as show two digits of the typical interval's width, so that no digit shown is mere noise."""
    widths = [high - low for _, low, high in estimates if low is not None and high is not None and high > low]
    sizes = widths or [abs(value) / 100 for value, _, _ in estimates if value] or [1.0]
    return min(max(1 - math.floor(math.log10(median(sizes))), 0), 6)


def defined(value: Any) -> float | None:
    """The number, or None where it is undefined."""
    found = float(value)
    return found if math.isfinite(found) else None


def value_text(estimate: Bounded, decimals: int) -> str:
    """The value; not as zero where its interval is clear of zero."""
    value, low, high = estimate
    decimals = _shared(low, high, decimals)
    clear = low is not None and high is not None and (low > 0 or high < 0)
    return _never_zero(value, decimals) if clear and value is not None else number(value, decimals)


def interval_text(low: float | None, high: float | None, decimals: int) -> str:
    """[low, high]; a bound that is not zero is never shown as zero, so that one sees on which side of it it lies."""
    if low is None or high is None:
        return ""
    decimals = _shared(low, high, decimals)
    return f"[{_never_zero(low, decimals)}, {_never_zero(high, decimals)}]"


def number(value: float | None, decimals: int) -> str:
    """As `fixed`, but a value that is tiny and not zero as 1.0e-07."""
    return f"{value:.1e}" if value is not None and 0 < abs(value) < TINY else fixed(value, decimals)


def fixed(value: float | None, decimals: int = 3) -> str:
    """With so many decimals, zero never as -0; a dash where it is undefined."""
    return UNDEFINED if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def check_names(names: Mapping[str, str], known: Collection[str]) -> None:
    """Refuses names that nothing has, and new names that would make two things one."""
    for name in names:
        if name not in known:
            raise unknown("metric or system", name, known)
    often = Counter(names.get(name, name) for name in known)
    for new, times in often.items():
        if times > 1:
            both = " and ".join(name for name in known if names.get(name, name) == new)
            raise InputError(f"{both} would both be called {new!r}")


def renamed(value: Shown, names: Mapping[str, str]) -> Shown:
    """A result, or a part of one, with other names in the fields that hold names; signatures and messages stay."""
    if isinstance(value, list | tuple):
        return type(value)(renamed(item, names) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in HIDDEN}
    return replace(
        value, **{name: _new(item, names) if name in NAMED else renamed(item, names) for name, item in held.items()}
    )


def _shared(low: float | None, high: float | None, decimals: int) -> int:
    """The decimals of an interval and of the value in it. Where so many show less than two digits of its width, all
    take what the bound needs that needs most in order not to be zero: 0.454 to 0.538 would else be 0.5 to 1 at none."""
    if low is None or high is None or (high - low) * 10**decimals >= 10:
        return decimals
    return max(_decimals_above_zero(bound, decimals) if abs(bound) >= TINY else decimals for bound in (low, high))


def _decimals_above_zero(value: float, decimals: int) -> int:
    """With which the value is not zero: 4 for 0.0004, where 3 are asked for."""
    while value and not round(value, decimals) and decimals < MOST:
        decimals += 1
    return decimals


def _never_zero(value: float, decimals: int) -> str:
    """With more decimals where so many would show zero: 0.0004 at three."""
    return number(value, _decimals_above_zero(value, decimals))


def _new(held: Any, names: Mapping[str, str]) -> Any:
    if isinstance(held, str):
        return names.get(held, held)
    if isinstance(held, dict):
        return {names.get(key, key): _new(item, names) for key, item in held.items()}
    return [_new(item, names) for item in held] if isinstance(held, list) else held
