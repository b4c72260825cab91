"""The fields that records of several formats share: names, texts, ratings, and whatever else there is."""

from __future__ import annotations

import difflib
import math
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import InputError, describe, quote
from dialogauge.tables import printable

# Far beyond any dialogue. Without bounds one broken line (its line breaks lost, a binary file) would take hours, since
# some metrics grow with the square of a text's length, and the contexts of a conversation with that of its own.
MOST_CHARACTERS = 1_000_000
"""In one text."""
MOST_TEXTS = 10_000
"""In one conversation, or one turn with its context, references and facts."""
MOST_NAMES = 10_000
"""Of columns, of fields in one record, of rated dimensions."""


def refuse_huge_texts(texts: Sequence[str]) -> None:
    """Refuses a text, or a number of texts, of a size that nobody means."""
    if len(texts) > MOST_TEXTS:
        raise InputError(f"expected at most {MOST_TEXTS:,} utterances or texts, found {len(texts):,}")
    longest = max(map(len, texts), default=0)
    if longest > MOST_CHARACTERS:
        raise InputError(f"expected texts of at most {MOST_CHARACTERS:,} characters, found one of {longest:,}")


def refuse_many_names(names: Collection[str], what: str) -> None:
    if len(names) > MOST_NAMES:
        raise InputError(f"expected at most {MOST_NAMES:,} {what}, found {len(names):,}")


def name(record: Mapping[str, Any], field: str) -> str | None:
    """A name such as `id`: text, or a whole number, which becomes text. None where absent or null."""
    value = record.get(field)
    if value is None:
        return None
    if isinstance(value, str) and value:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{field}: expected text or a whole number, found {describe(value)}")


def text(record: Mapping[str, Any], field: str) -> str:
    """A text that must be there; it may be empty."""
    value = record.get(field)
    if not isinstance(value, str):
        raise InputError(f"{field}: expected text, found {describe(value) if field in record else 'no such field'}")
    return value


def texts(record: Mapping[str, Any], field: str, advice: str = "") -> tuple[str, ...]:
    """A list of texts; a single text counts as a list of one. Blank texts are absent."""
    value = record.get(field)
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{field}: expected a list of strings, found {describe(value)}{advice}")
    return tuple(item for item in value if item.strip())


def references(record: Mapping[str, Any], field: str = "references") -> tuple[str, ...]:
    return texts(record, field, "; give each turn its own references")


def ratings(value: Any) -> Mapping[str, tuple[float | None, ...]]:
    """`{dimension: number, null, "N/A ..." or a list of these}`. A dimension without any number is absent."""
    if value is None:
        return NOTHING
    if not isinstance(value, dict):
        raise InputError(f'ratings: expected an object such as {{"overall": 4}}, found {describe(value)}')
    refuse_many_names(value, "rated dimensions")
    rated = {}
    for dimension, given in value.items():
        numbers = tuple(rating(item, dimension) for item in (given if isinstance(given, list) else [given]))
        if any(number is not None for number in numbers):
            rated[sys.intern(dimension)] = numbers
    return rated or NOTHING


def rating(value: Any, dimension: str) -> float | None:
    """One rater's number; None where the value says that there is none."""
    if value is None or (isinstance(value, str) and _is_not_available(value)):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InputError(f'rating {quote(dimension)}: expected a number, null or "N/A", found {describe(value)}')


def extra(record: Mapping[str, Any], known: tuple[str, ...]) -> Mapping[str, Any]:
    """The object in the field `extra`, and every field that is not known."""
    given = record.get("extra")
    if given is not None and not isinstance(given, dict):
        raise InputError(f"extra: expected an object, found {describe(given)}")
    refuse_near_misses(record, known)
    others = {field: value for field, value in record.items() if field not in known}
    return {field: value for field, value in {**(given or {}), **others}.items() if value is not None} or NOTHING


def refuse_near_misses(names: Collection[str], known: tuple[str, ...]) -> None:
    """Refuses a name that resembles a known one, unless the known one stands beside it: a typing error would
    lose the field unnoticed."""
    refuse_many_names(names, "columns or fields")
    for field in names:
        meant = None if field in known else _near_miss(field, known)
        if meant and (meant not in names or field.casefold() == meant):
            column = shlex.quote(f"ratings.overall={printable(field)}")
            named = f" --map {column} takes its numbers." if meant == "ratings" else ""
            raise InputError(f"unknown field {quote(field)}; did you mean {meant!r}?{named}")


def resembles(name: str, field: str) -> bool:
    """Whether the name is, or seems to mean, this field."""
    return _near_miss(name, (field,)) is not None


def _is_not_available(text: str) -> bool:
    spelling = text.strip().lower()
    return spelling.startswith("n/a") or spelling in {"", "na", "nan", "null", "none"}


@lru_cache(maxsize=4 * MOST_NAMES)
def _near_miss(name: str, known: tuple[str, ...]) -> str | None:
    close = difflib.get_close_matches(name.strip().casefold(), known, n=1, cutoff=0.8)
    return close[0] if close else None
