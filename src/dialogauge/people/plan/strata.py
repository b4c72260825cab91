"""Contexts in strata by a metric's score, and how many of each stratum are drawn: plain functions on arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dialogauge.stats.arrays import Floats

Counts = NDArray[np.int64]
Places = NDArray[np.int64]
PRIOR = 4
"""Of how many contexts' worth the spread over all strata counts in that of each."""


def by_score(scores: Floats, strata: int, ties: Places) -> Places:
    """The stratum of each context, from 0: strata of nearly one size, from the lowest scores to the highest. Equal
    scores at a border are parted by `ties`, a random order of the contexts. Contexts without a score are a last
    stratum of their own."""
    rank = np.empty(len(ties), dtype=np.int64)
    rank[ties] = np.arange(len(ties))
    scored = np.flatnonzero(~np.isnan(scores))
    sorted_places = scored[np.lexsort((rank[scored], scores[scored]))]
    parts = min(strata, len(scored))
    found = np.full(len(scores), parts, dtype=np.int64)
    for stratum, members in enumerate(np.array_split(sorted_places, max(parts, 1))):
        found[members] = stratum
    return found


def allocate(n: int, sizes: Counts, spreads: Floats, available: Counts, least: int) -> Counts | None:
    """How many to draw from each stratum: in proportion to its size times its spread (Neyman 1934; with equal spreads
    that is proportional allocation), `least` from each, no more than are available. None where that cannot be."""
    if (available < least).any() or not least * len(sizes) <= n <= available.sum():
        return None
    wanted = sizes * spreads if (sizes * spreads).any() else sizes.astype(np.float64)
    drawn = np.clip((n * wanted / wanted.sum()).astype(np.int64), least, available)
    while (missing := n - int(drawn.sum())) > 0:
        drawn[np.argmax(np.where(drawn < available, wanted / (drawn + 0.5), -np.inf))] += 1
    for _ in range(-missing):
        drawn[np.argmin(np.where(drawn > least, wanted / (drawn - 0.5), np.inf))] -= 1
    return np.asarray(drawn)


def spread_by_stratum(people: Floats, systems: Places, strata: Places, count: int) -> Floats:
    """The standard deviation of turns' mean ratings in each stratum: the root of the variance summed over systems, so
    that the sum of the variances of the systems' means comes out least. The spread over all counts as four more
    observations, so that a stratum with few or no ratings is no extreme. NaN are turns without ratings."""
    variances = np.zeros(count)
    for system in np.unique(systems[~np.isnan(people)]):
        own = (systems == system) & ~np.isnan(people)
        values, where = people[own], strata[own]
        pooled = float(values.var(ddof=1)) if len(values) > 1 else 0.0
        sizes = np.bincount(where, minlength=count)
        means = np.bincount(where, values, count) / np.maximum(sizes, 1)
        squares = np.bincount(where, (values - means[where]) ** 2, count)
        freedom = np.maximum(sizes - 1, 0)
        variances += (squares + PRIOR * pooled) / (freedom + PRIOR)
    return np.sqrt(variances)
