"""Which ratings of a corpus count: of which dimension, and at which level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialogauge.agreement.points import Level
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, unknown

OVERALL = "overall"
Ratings = tuple[float | None, ...]


def ratings_of(turn: Turn, dimension: str, level: Level) -> Ratings:
    """One number per rater, None where a rater gave none. Dialogues that were rated as a whole have these ratings."""
    whole = turn.extra.get("dialogue_ratings") if level == "dialogue" else None
    found = (whole or turn.ratings).get(dimension, ())
    return tuple(found) if any(rating is not None for rating in found) else ()


def mean_rating(ratings: Ratings) -> float:
    return float(np.mean([rating for rating in ratings if rating is not None]))


def choose_dimensions(corpus: Corpus, level: Level, wanted: Sequence[str] | None) -> list[str]:
    """Those asked for, whatever their case ("all" for all); else the one called overall; else all there are."""
    known = _dimensions(corpus, level)
    if not known:
        whole = any(turn.extra.get("dialogue_ratings") for turn in corpus)
        hint = "ask for the dialogue level" if whole else "give them with --ratings, or in the field `ratings` of each"
        raise InputError(f"no turn has ratings; {hint}")
    by_name = {dimension.casefold(): dimension for dimension in known}
    if wanted is None:
        return [by_name[OVERALL]] if OVERALL in by_name else known
    if [name.casefold() for name in wanted] == ["all"]:
        return known
    for name in wanted:
        if name.casefold() not in by_name:
            raise unknown("dimension", name, known)
    return list(dict.fromkeys(by_name[name.casefold()] for name in wanted))


def _dimensions(corpus: Corpus, level: Level) -> list[str]:
    """In the order of first appearance."""
    found: dict[str, None] = {}
    for turn in corpus:
        whole = turn.extra.get("dialogue_ratings") if level == "dialogue" else None
        found |= dict.fromkeys(
            name for name, ratings in (whole or turn.ratings).items() if any(rating is not None for rating in ratings)
        )
    return list(found)
