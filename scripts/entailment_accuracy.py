"""How often entailment models are right on files of labelled pairs, with 95 % intervals, and by how pairs were made.

    python scripts/entailment_accuracy.py FILE... [--models entailment-minilm,NAME=DIR] [--most N]

Files are as `dialogauge train entailment --test` takes them: tests/learned/entailment/minimal_pairs.jsonl, s1.test.gz …
Of a file with splits, the test split counts. Agreement with people is what `dialogauge reproduce entailment-table3` and
`dialogauge correlate` show.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialogauge.corpus.inference import LABELS, InferencePair, read_inference
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.learned.entailment.model import SHIPPED, ReadyModel, open_entailment, premise_of
from dialogauge.stats.resampling import clustered_mean
from dialogauge.tables import Cell, Header, Table, render


@dataclass(frozen=True)
class Judgements:
    """Entry i of each belongs to pair i."""

    right: NDArray[np.float64]
    groups: NDArray[np.int64]
    """The dialogue that a pair is of; its premise, where it is of none."""
    sources: NDArray[np.str_]

    def accuracy(self, rows: NDArray[np.bool_]) -> str:
        if not rows.any():
            return ""
        found = clustered_mean(self.right[rows], np.unique(self.groups[rows], return_inverse=True)[1])
        return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--models", default=SHIPPED, help="NAME=DIR, several with commas (default: the one that comes along)"
    )
    parser.add_argument("--most", type=int, help="pairs of each file, evenly spread")
    given = parser.parse_args()
    named = [piece.partition("=")[::2] for piece in given.models.split(",")]
    encoders = Encoders(Cache(), progress=True)
    models = {name: open_entailment(directory or None).ready(encoders) for name, directory in named}
    rows = [row for file in given.files for row in rows_of(file, given.most, models)]
    headers = [Header("pairs", align="left"), Header("number"), Header("commonest"), *map(Header, models)]
    print(render("table", table=Table(headers, rows, []), records=[], document={}))


def rows_of(file: Path, most: int | None, models: dict[str, ReadyModel]) -> Iterator[list[Cell]]:
    pairs = [pair for pair in read_inference(file) if pair.split in (None, "test")]
    if most and len(pairs) > most:
        pairs = [pairs[place] for place in np.linspace(0, len(pairs) - 1, most).astype(int).tolist()]
    judged = {name: judge(model, pairs) for name, model in models.items()}
    labels, sources = np.array([pair.label for pair in pairs]), np.array([pair.source for pair in pairs])
    parts = {file.name: np.ones(len(pairs), np.bool_)}
    if len(kinds := dict.fromkeys(sources.tolist())) > 1:
        parts |= {f"  {kind}": sources == kind for kind in kinds}
    for name, held in parts.items():
        commonest = max((labels[held] == label).mean() for label in LABELS)
        accuracies = [Cell(found.accuracy(held)) for found in judged.values()]
        yield [Cell(name), Cell(str(held.sum())), Cell(f"{commonest:.3f}"), *accuracies]


def judge(model: ReadyModel, pairs: list[InferencePair]) -> Judgements:
    premises = [premise_of(pair.premise) for pair in pairs]
    said = model.judged(premises, [pair.hypothesis for pair in pairs]).probabilities.argmax(axis=1)
    labels = np.array([LABELS.index(pair.label) for pair in pairs])
    groups = [
        pair.dialogue if pair.dialogue is not None else premise for pair, premise in zip(pairs, premises, strict=True)
    ]
    numbered = np.unique(np.array(groups), return_inverse=True)[1]
    return Judgements((said == labels).astype(np.float64), numbered, np.array([pair.source for pair in pairs]))


if __name__ == "__main__":
    main()
