"""Which ratings of a corpus count: of which dimension, and at which level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialogauge.agreement.points import Level
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.turn import Turn

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
    """Of those the corpus has at this level: the ones asked for ("all" for all), spelled so or, where that leaves no
    doubt, in another case; else the one called overall; else all."""
    known = known_dimensions(corpus, level)
    if wanted is None:
        return _spelled(OVERALL, known) or known
    if [name.casefold() for name in wanted] == ["all"]:
        return known
    return list(dict.fromkeys(name for asked in wanted for name in _spelled(asked, known)))


def _spelled(name: str, known: Sequence[str]) -> list[str]:
    """The dimension of this name, whatever its case where no two differ by it alone."""
    if name in known:
        return [name]
    return [dimension for dimension in known if dimension.casefold() == name.casefold()]


def known_dimensions(corpus: Corpus, level: Level) -> list[str]:
    """In the order of first appearance."""
    found: dict[str, None] = {}
    for turn in corpus:
        whole = turn.extra.get("dialogue_ratings") if level == "dialogue" else None
        found |= dict.fromkeys(
            name for name, ratings in (whole or turn.ratings).items() if any(rating is not None for rating in ratings)
        )
    return list(found)
