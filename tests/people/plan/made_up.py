"""Ratings with known variances."""

from __future__ import annotations

import numpy as np

from dialogauge import Corpus, Turn


def rated_corpus(
    seed: int,
    *,
    systems: int = 2,
    contexts: int = 100,
    raters: int = 3,
    people: int | None = None,
    named: bool = True,
    means: tuple[float, ...] = (),
    context: float = 0.0,
    system_context: float = 0.0,
    rater: float = 0.0,
    system_rater: float = 0.0,
    context_rater: float = 0.0,
    rating: float = 1.0,
) -> Corpus:
    """Every turn by `raters` of `people` (by default as many), the same for all systems of a context. The rest are
    variances."""
    rng = np.random.default_rng(seed)
    people = people or raters
    of_context = rng.normal(0, context**0.5, contexts)
    of_pair = rng.normal(0, system_context**0.5, (systems, contexts))
    lenient = rng.normal(0, rater**0.5, people)
    taste = rng.normal(0, system_rater**0.5, (systems, people))
    mood = rng.normal(0, context_rater**0.5, (contexts, people))
    turns = []
    for c in range(contexts):
        who = rng.permutation(people)[:raters]
        for s in range(systems):
            mean = (means[s] if means else 0.0) + of_context[c] + of_pair[s, c]
            given = mean + lenient[who] + taste[s, who] + mood[c, who] + rng.normal(0, rating**0.5, raters)
            extra = {"raters": {"overall": [f"r{person}" for person in who]}} if named else {}
            turns.append(
                Turn(
                    str(c),
                    "yes",
                    context=[f"context {c}"],
                    system=f"s{s}",
                    ratings={"overall": given.tolist()},
                    extra=extra,
                )
            )
    return Corpus(turns)
