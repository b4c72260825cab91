"""One response in its setting, and which turns may depend on each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from numbers import Real
from typing import Any

from dialogauge.errors import InputError, describe, quote

_ONLY_TEXT = {str}

REAL = "real\0"
"""The prefix of real conversations: a dialogue of theirs is never one of the corpus, though both may be called 1."""


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

    A single text as context, references or facts is a tuple of one, a single rating too, and lists become tuples. NaN
    is a rating that was not given, and a dimension without any number is absent. Anything else of another type raises
    an `InputError`.

    Examples:
        >>> from dialogauge import Turn
        >>> turn = Turn("1", "fine", context=["hi", "how are you?"], references="great", ratings={"overall": [4, 5]})
        >>> turn.references, turn.ratings["overall"]
        (('great',), (4.0, 5.0))
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
    numbered: bool = field(default=False, compare=False)
    """Whether the turn was given no name: its id, and its dialogue where it has one, are positions in a file."""

    def __post_init__(self) -> None:
        context, references, facts = self.context, self.references, self.facts
        # Readers make millions of turns, of the right types: one look at all of them is cheap.
        if (
            type(context) is type(references) is type(facts) is tuple
            and set(map(type, (self.id, self.response, self.system, *context, *references, *facts))) == _ONLY_TEXT
            and (self.dialogue is None or type(self.dialogue) is str)
            and self.ratings is NOTHING
            and (self.extra is NOTHING or type(self.extra) is dict)
        ):
            return
        for name, value in _as_declared(self).items():
            object.__setattr__(self, name, value)


def unit_of(turn: Turn) -> tuple[str, str]:
    """Turns that may depend on each other have the same unit. A turn without a context stands for itself,
    together with the turns of other systems that have its id."""
    if turn.dialogue is not None:
        return "dialogue", turn.dialogue
    if turn.context:
        return "context", "\0".join(turn.context)
    return "id", turn.id


def unit_key(turn: Turn, prefix: str = "") -> int:
    """64 bits of a hash of the turn's unit: the same for every system, run and process."""
    kind, text = unit_of(turn)
    digest = blake2b(f"{prefix}{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def message_key(turn: Turn) -> int:
    """What the turn answers, by which units of two systems are known to be the same: 63 bits of a hash of the last
    utterance of its context, else of its references; 0 where it has neither. The lowest bit is set where the turn has
    no name, and its unit is not its context: a position in a file says nothing about other files."""
    answered = turn.context[-1:] or turn.references
    text = "\0".join(("message" if turn.context else "references", *answered))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    content = int.from_bytes(digest, "little") & ~1 if answered else 0
    return content | (turn.numbered and unit_of(turn)[0] != "context")


def _as_declared(turn: Turn) -> dict[str, Any]:
    """The fields by name, each of its declared type."""
    if not isinstance(turn.response, str):
        raise InputError(f"response: expected text, found {describe(turn.response)}")
    if not isinstance(turn.extra, Mapping):
        raise InputError(f"extra: expected a mapping, found {describe(turn.extra)}")
    return {
        "id": _name(turn.id, "id"),
        "system": _name(turn.system, "system"),
        "dialogue": None if turn.dialogue is None else _name(turn.dialogue, "dialogue"),
        **{name: _texts(getattr(turn, name), name) for name in ("context", "references", "facts")},
        "ratings": _ratings(turn.ratings),
    }


def _name(value: Any, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{field}: expected text or a whole number, found {describe(value)}")


def _texts(value: Any, field: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        shown = describe(list(value) if isinstance(value, tuple) else value)
        raise InputError(f"{field}: expected a text or a list of texts, found {shown}")
    return tuple(value)


def _ratings(value: Any) -> Mapping[str, tuple[float | None, ...]]:
    if not isinstance(value, Mapping) or not all(isinstance(dimension, str) for dimension in value):
        example = '{"overall": 4} or {"overall": [4, 5, None]}'
        raise InputError(f"ratings: expected a mapping of dimensions, such as {example}, found {describe(value)}")
    rated = {}
    for dimension, given in value.items():
        numbers = tuple(_rating(item, dimension) for item in (given if isinstance(given, list | tuple) else [given]))
        if any(number is not None for number in numbers):
            rated[dimension] = numbers
    return rated or NOTHING


def _rating(value: Any, dimension: str) -> float | None:
    # Python's and NumPy's numbers are both Real; NumPy's truth values are not.
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return None
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InputError(f"rating {quote(dimension)}: expected a number or None, found {describe(value)}")
