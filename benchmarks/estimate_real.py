"""What metrics are worth on real ratings, and how often the intervals of `estimate` hold there.

    for corpus in CORPORA/grade/eval_data/* CORPORA/usr_persona/*.json CORPORA/fed/*.json; do
        dialogauge score $corpus --metrics overlap,embedding,learned,dialogue --out runs/$(basename $corpus .json)
    done
    python -m benchmarks.estimate_real CORPUS=RUN... [--studies 1000]

CORPUS is a rated corpus, RUN what `dialogauge score --out` kept of it. Studies draw a part of its dialogues or contexts
at random, without replacement, forget all other ratings, and estimate the mean that all ratings have; all systems
count as one, so that the numbers are not too small. The intervals are those of --these-turns, of which that mean is the
truth.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from dialogauge.agreement.points import choose_dimensions, mean_rating, numbered, ratings_of
from dialogauge.corpus import load
from dialogauge.corpus.turn import unit_of
from dialogauge.evaluation.options import Settings
from dialogauge.people.estimate.interval import powered_estimate
from dialogauge.people.estimate.powered import UnitTotals
from dialogauge.stats.arrays import Floats
from dialogauge.tables import Cell, Header, Table, render_table

SHARES = (0.1, 0.2, 0.3)
TEXTS = ("corpus", "metric", "width", "worth")


@dataclass(frozen=True)
class RatedCorpus:
    """Every rated turn: its dialogue or context, its mean rating, and every metric's value."""

    units: NDArray[np.int64]
    ratings: Floats
    values: dict[str, Floats]


def rated_corpus(corpus: Path, run: Path) -> RatedCorpus:
    import pandas as pd

    turns = load(corpus)
    dimension = choose_dimensions(turns, "turn", None)[0]
    rated = [turn for turn in turns if ratings_of(turn, dimension, "turn")]
    scores = pd.read_parquet(run / "turns.parquet").pivot_table(
        index=["system", "id"], columns="metric", values="value"
    )
    table = scores.reindex([(turn.system, turn.id) for turn in rated])
    return RatedCorpus(
        numbered([unit_of(turn) for turn in rated]),
        np.array([mean_rating(ratings_of(turn, dimension, "turn")) for turn in rated]),
        {str(name): _filled(table[name].to_numpy(dtype=np.float64)) for name in table.columns},
    )


def _filled(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.nanmean(values) if (~np.isnan(values)).any() else 0.0, values)


@dataclass(frozen=True)
class Row:
    """One metric on one corpus at one share of rated units."""

    corpus: str
    metric: str
    share: float
    rated: int
    held: list[float]
    """How often in a hundred, ours and the classical one."""
    width: float
    widest: float
    worth: float


def studied(name: str, corpus: RatedCorpus, metric: str, share: float, studies: int) -> Row:
    held: list[tuple[bool, ...]] = []
    widths, worths, sizes = [], [], []
    truth, count = float(corpus.ratings.mean()), int(corpus.units.max()) + 1
    for number in range(studies):
        rng = np.random.default_rng([number, round(100 * share)])
        rated = (rng.permutation(count) < round(share * count))[corpus.units]
        ratings = np.where(rated, corpus.ratings, np.nan)
        totals = UnitTotals.from_turns(corpus.units, count, ratings, corpus.values[metric], everywhere=True)
        found = powered_estimate([(1.0, totals)], Settings(seed=number, resamples=200), rated_share=float(rated.mean()))
        held.append(tuple(side.low <= truth <= side.high for side in (found.powered, found.classical)))
        widths.append(found.powered.width / found.classical.width)
        worths.append(found.worth)
        sizes.append(int(rated.sum()))
    row = Row(
        corpus=name,
        metric=metric,
        share=share,
        rated=round(float(np.mean(sizes))),
        held=[100 * float(x) for x in np.mean(held, axis=0)],
        width=float(np.mean(widths)),
        widest=float(np.max(widths)),
        worth=float(np.exp(np.mean(np.log(worths)))),
    )
    print(row, file=sys.stderr, flush=True)
    return row


def to_table(rows: list[Row]) -> Table:
    """A line for each corpus and metric; widths and worths are of the shares, one after the other."""
    shares = list(dict.fromkeys(row.share for row in rows))
    names = ("corpus", "metric", *(f"held at {share:.0%}" for share in shares), "width", "widest", "worth")
    lines = []
    for corpus, metric in dict.fromkeys((row.corpus, row.metric) for row in rows):
        own = [row for row in rows if (row.corpus, row.metric) == (corpus, metric)]
        texts = [
            *(f"{row.held[0]:.1f}" for row in own),
            ", ".join(f"{row.width:.2f}" for row in own),
            f"{max(row.widest for row in own):.2f}",
            ", ".join(f"{row.worth:.2f}" for row in own),
        ]
        lines.append([Cell(corpus), Cell(metric), *map(Cell, texts)])
    return _table(names, lines)


def classical_table(rows: list[Row]) -> Table:
    """What the classical interval does on the same studies, which is the same whatever the metric."""
    lines = []
    for corpus in dict.fromkeys(row.corpus for row in rows):
        first = next(row.metric for row in rows if row.corpus == corpus)
        for row in rows:
            if (row.corpus, row.metric) == (corpus, first):
                lines.append([Cell(corpus), *map(Cell, (f"{row.share:.0%}", str(row.rated), f"{row.held[1]:.1f}"))])
    return _table(("corpus", "share", "rated turns", "held"), lines)


def _table(names: Sequence[str], lines: list[list[Cell]]) -> Table:
    return Table([Header(name, align="left" if name in TEXTS else "right") for name in names], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="CORPUS=RUN")
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of units that are rated")
    arguments = parser.parse_args()
    tasks = []
    for text in arguments.runs:
        corpus, run = map(Path, text.split("="))
        rated = rated_corpus(corpus, run)
        name = corpus.name if corpus.is_dir() else corpus.parent.name
        for metric in rated.values:
            tasks += [(name, rated, metric, share, arguments.studies) for share in arguments.shares]
    with ProcessPoolExecutor(max_workers=2) as pool:
        rows = list(pool.map(studied, *zip(*tasks, strict=True), chunksize=3))
    print(render_table("markdown", to_table(rows)))
    print()
    print(render_table("markdown", classical_table(rows)))


if __name__ == "__main__":
    main()
