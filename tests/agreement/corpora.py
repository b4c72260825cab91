"""Small rated corpora whose scores stand in their turns, and their numbers as arrays."""

from dataclasses import replace

import numpy as np

from dialogauge.agreement import correlate
from dialogauge.corpus import Corpus, Turn

GOOD, POOR, COST = "column[name=good]", "column[name=poor]", "column[name=cost,higher_is_better=false]"


def turn(number, ratings, system="s", **more):
    """`ratings` are those of "overall", one or several, or a mapping; what is no field of a turn is an extra one."""
    fields = {name: more.pop(name) for name in ("context", "response", "references", "dialogue") if name in more}
    if not isinstance(ratings, dict):
        ratings = {"overall": ratings if isinstance(ratings, tuple) else (ratings,)}
    known = {"context": (f"question {number}",), "response": f"answer {number} of {system}", **fields}
    return Turn(str(number), system=system, ratings=ratings, extra=more, **known)


def rated(n=30, systems=("s",), seed=0, raters=1, whole=False):
    """Every system on the same n contexts: `good` and `poor` follow people more and less, `cost` is good when low."""
    rng = np.random.default_rng(seed)
    found = []
    for level, system in enumerate(systems):
        for number in range(n):
            truth = rng.normal() + 0.3 * level
            ratings = truth + 0.7 * rng.normal(size=raters)
            ratings = np.clip(np.round(3 + ratings), 1, 5) if whole else ratings
            good, poor, cost = truth + rng.normal(size=3) * (0.4, 2, 0.8)
            scores = {"good": good, "poor": poor, "cost": -cost}
            response = f"answer {number % (3 + 2 * level)} of {system}"
            found.append(turn(f"{number:03}", tuple(ratings.tolist()), system, response=response, **scores))
    return Corpus(found)


def in_dialogues(corpus, size):
    """The same turns, so many of each system in one dialogue of its own."""
    return Corpus([replace(t, dialogue=f"{t.system}-{int(t.id) // size}") for t in corpus])


def shuffled(corpus, seed=0, within_systems=False):
    order = np.random.default_rng(seed).permutation(len(corpus)).tolist()
    turns = [corpus.turns[place] for place in order]
    if within_systems:
        turns.sort(key=lambda turn: corpus.systems.index(turn.system))
    return Corpus(turns)


def column(corpus, name):
    return np.array([t.extra[name] for t in corpus])


def people(corpus, dimension="overall"):
    """The mean rating of each turn."""
    return np.array([np.mean([r for r in t.ratings[dimension] if r is not None]) for t in corpus])


def quick(corpora, metrics=GOOD, **more):
    return correlate(corpora, metrics, **{"resamples": 60, "cache": False, **more})


def codes(result):
    return [caveat.code for caveat in result.caveats]


def message(result, code):
    (found,) = (caveat.message for caveat in result.caveats if caveat.code == code)
    return found


def numbers(row):
    """The row's coefficients."""
    return [getattr(row, name) for name in ("pearson", "spearman", "kendall", "cosine", "pairwise_accuracy")]
