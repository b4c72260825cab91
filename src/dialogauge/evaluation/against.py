"""Which system stands against which, where the user says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dialogauge.corpus.quote import quote, quote_all
from dialogauge.errors import InputError

Names = Mapping[str, str]
"""The systems of one input, and the names they have in the comparison."""


def baselines_asked_for(asked: Sequence[str], first: Names, others: Sequence[Names]) -> dict[str, str]:
    """For each system the one it is held against. `asked` has texts `A=B`: B of the other inputs against A of the
    first; or `NAME`: against that of the same name."""
    found: dict[str, str] = {}
    for text in asked:
        pairs = [pair for other in others for pair in _pairs(text, first, other)]
        if not pairs:
            raise InputError(
                f"--system {text}: expected NAME of both inputs, or A=B with A of the first and B of another; the first"
                f" has {quote_all(first)}, the others {quote_all(dict.fromkeys(n for other in others for n in other))}"
            )
        for baseline, system in pairs:
            if baseline == system:
                raise InputError(f"--system {text}: a system cannot stand against itself; say {text}=OTHER")
            if found.setdefault(system, baseline) != baseline:
                raise InputError(f"--system {text}: {quote(system)} stands against {quote(found[system])} already")
    return found


def _pairs(text: str, first: Names, other: Names) -> Iterator[tuple[str, str]]:
    """At most one pair: a name may hold `=` itself, and then another place may divide the text."""
    pieces = text.split("=")
    for place in range(1, len(pieces)):
        a, b = "=".join(pieces[:place]).strip(), "=".join(pieces[place:]).strip()
        if a in first and b in other:
            yield first[a], other[b]
            return
    if text in first and text in other:
        yield first[text], other[text]
