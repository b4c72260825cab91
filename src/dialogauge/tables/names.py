"""Names cut to the room that a figure has for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dialogauge.tables.table import cut, printable

LONGEST = 28
"""Letters of a name."""


def fit(name: str, longest: int = LONGEST) -> str:
    """The name, safe to show, with … in place of what is too long."""
    return cut(printable(name), longest)


def fit_all(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Different names stay different: those that begin alike lose their middle, and get a number if that is no help."""
    ends = [fit(name, longest) for name in names]
    shown = [end if ends.count(end) == 1 else _middle(name, longest) for name, end in zip(names, ends, strict=True)]
    often, met = Counter(shown), Counter[str]()
    for place, name in enumerate(shown):
        met[name] += 1
        if often[name] > 1:
            shown[place] = f"{name} ({met[name]})"
    return shown


def _middle(name: str, longest: int) -> str:
    name = printable(name)
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[: longest - 1 - half]}…{name[-half:]}"
