"""How often the randomisation test calls equal systems different, and how often intervals miss the truth.

    python benchmarks/level.py [SIMULATIONS] [CONTEXTS]

Both should be 5 %. Each simulation draws two equal systems on 60 contexts, or so many, whose scores share a part that
belongs to the context and differ by skewed noise.
"""

from __future__ import annotations

import sys

import numpy as np

from dialogauge import Corpus, Turn, compare
from dialogauge.tables import Cell, Header, Table, to_text


def main() -> None:
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    contexts = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    rng = np.random.default_rng(2026)
    rejected = missed = 0
    for _ in range(simulations):
        shared = rng.normal(size=contexts)
        values = {system: shared + rng.exponential(size=contexts) for system in "ab"}
        turns = [
            Turn(str(i), "x", (f"context {i}",), system=system, extra={"value": float(value)})
            for system, row in values.items()
            for i, value in enumerate(row)
        ]
        comparison = compare(Corpus(turns), "column[name=value]", seed=int(rng.integers(2**31)), resamples=999)
        (pair,) = comparison.pairs
        rejected += pair.p is not None and pair.p <= 0.05
        missed += pair.low is not None and pair.high is not None and not pair.low <= 0 <= pair.high
    error = np.sqrt(0.05 * 0.95 / simulations)
    rows = [
        [Cell("equal systems called different at 5 %"), Cell(f"{rejected / simulations:.2%}")],
        [Cell("95 % intervals of the difference that miss 0"), Cell(f"{missed / simulations:.2%}")],
    ]
    notes = [f"{simulations} simulations of {contexts} contexts; the standard error of each share is {error:.2%}"]
    print(to_text(Table([Header("", align="left"), Header("share")], rows, notes)))


if __name__ == "__main__":
    main()
