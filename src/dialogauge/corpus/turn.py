"""One response in its setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


class Nothing(Mapping[str, Any]):
    """The empty mapping. Turns share one, so that a million turns without ratings cost nothing for them;
    it cannot be written to and, unlike `MappingProxyType`, can be pickled."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


NOTHING = Nothing()


def _nothing() -> Mapping[str, Any]:
    return NOTHING


@dataclass(frozen=True, slots=True)
class Turn:
    """One response in its setting. What is missing is absent (empty or None), never 0 and never "".

    `context` holds the utterances before the response, oldest first. `ratings` maps a dimension to one
    number per rater; a rater who gave none is None at that place.
    """

    id: str
    response: str
    context: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    system: str = "system"
    ratings: Mapping[str, tuple[float | None, ...]] = field(default_factory=_nothing)
    dialogue: str | None = None
    facts: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=_nothing)
