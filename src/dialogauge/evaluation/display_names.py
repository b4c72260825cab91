"""Other names for metrics and systems, where people see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from dialogauge.errors import InputError, unknown

NAMED = frozenset(
    {
        *("system", "systems", "metric", "metrics", "columns", "name", "names", "first", "second", "better"),
        *("baselines", "without_value", "tied"),
    }
)
"""The fields that hold names of metrics and systems."""
HIDDEN = frozenset({"samples"})
"""What metrics noted, which nobody is shown."""

Shown = TypeVar("Shown")


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


def _new(held: Any, names: Mapping[str, str]) -> Any:
    if isinstance(held, str):
        return names.get(held, held)
    if isinstance(held, dict):
        return {names.get(key, key): _new(item, names) for key, item in held.items()}
    return [_new(item, names) for item in held] if isinstance(held, list) else held
