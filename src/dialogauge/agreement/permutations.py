"""Is there any agreement at all? P-values from ratings dealt out anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.coefficients import kendall_rows, ranks, unit_rows
from dialogauge.agreement.points import Floats

ENUMERATED = 7
"""Up to this many points all orders are gone through (5,040 at most), each once."""
CELLS = 2_000_000
ROUNDING = 1e-9
"""Correlations that differ by less are equal."""


def permutation_p(
    x: Floats, y: Floats, draws: int, rng: np.random.Generator, wider: Floats | None = None
) -> dict[str, Floats]:
    """Two-sided p of each column of x, by "pearson" and "spearman": the share of orders of y, the one at hand included,
    in which the correlation is as far from 0. NaN where the correlation is undefined.

    Dealing out points takes them for independent. Where they are not, `wider` says for each coefficient and column by
    how much more the correlation varies."""
    sides = {"pearson": (unit_rows(x.T), unit_rows(y)), "spearman": (unit_rows(ranks(x.T)), unit_rows(ranks(y)))}
    least = {name: np.abs(own @ people) - ROUNDING for name, (own, people) in sides.items()}
    if wider is not None:
        least = {name: values / wider[place] for place, (name, values) in enumerate(least.items())}
    as_far = {name: np.zeros(x.shape[1]) for name in sides}
    count = 0
    for orders in _orders(len(y), draws, rng):
        count += len(orders)
        for name, (own, people) in sides.items():
            as_far[name] += (np.abs(people[orders] @ own.T) >= least[name]).sum(0)
    return {name: _share(as_far[name], count, len(y), least[name]) for name in sides}


def kendall_permutation_p(x: Floats, y: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The same for Kendall's tau-b, which looks at all pairs: for as few points as there are systems."""
    least = np.abs(kendall_rows(x.T, y[None])) - ROUNDING
    as_far, count = np.zeros(x.shape[1]), 0
    for orders in _orders(len(y), draws, rng):
        count += len(orders)
        for column, values in enumerate(x.T):
            as_far[column] += (np.abs(kendall_rows(values[None], y[orders])) >= least[column]).sum()
    return _share(as_far, count, len(y), least)


def _orders(n: int, draws: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """All orders of n points, or so many random ones, in blocks."""
    if n <= ENUMERATED:
        yield np.array(list(permutations(range(n))))
        return
    block = max(1, CELLS // n)
    for start in range(0, draws, block):
        yield rng.permuted(np.broadcast_to(np.arange(n), (min(block, draws - start), n)), axis=1)


def _share(as_far: Floats, count: int, n: int, least: Floats) -> Floats:
    """All orders hold the one at hand; random ones do not, and it is added."""
    added = 0 if n <= ENUMERATED else 1
    return np.where(np.isnan(least), np.nan, (as_far + added) / (count + added))
