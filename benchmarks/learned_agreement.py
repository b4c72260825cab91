"""Agreement of `ruber_unreferenced` with people on the rated pairs of Ghazarian et al. 2019, beside the authors' scores
and what has learned nothing. benchmarks/gauge_agreement.py has all metrics on eight other corpora.

    python benchmarks/learned_agreement.py CORPORA [MODEL]

CORPORA is a folder with bert_ruber/. Without MODEL, a directory, the model that comes with dialogauge is used. What has
learned nothing is the cosine of mean-pooled minilm vectors of response and last utterance, and the length of responses.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

import dialogauge
from dialogauge.agreement import Agreement
from dialogauge.agreement.result import AgreementRow
from dialogauge.corpus import Corpus
from dialogauge.encode.cache.cache import Cache
from dialogauge.encode.encoders import Encoders
from dialogauge.stats.arrays import cosine
from dialogauge.tables import Cell, Header, Table, to_text

PLAIN, WORDS = "cosine", "words"
COSINE, LENGTH = f"column[name={PLAIN}]", f"column[name={WORDS},higher_is_better=false]"
AUTHORS = "column[name=CTX_Unref_Score]"


def with_columns(corpus: Corpus) -> Corpus:
    """The corpus with what is compared: the likeness to the last utterance, and the number of words."""
    encoder = Encoders(Cache()).get("minilm")
    turns = [turn for turn in corpus if turn.context]
    texts = [encoder.spelled(text) for turn in turns for text in (turn.context[-1], turn.response)]
    vectors = encoder.pooled(texts, "mean").vectors.astype(float)
    columns = [
        {PLAIN: cosine(query, response), WORDS: len(turn.response.split())}
        for turn, query, response in zip(turns, vectors[::2], vectors[1::2], strict=True)
    ]
    changed = [replace(turn, extra={**turn.extra, **more}) for turn, more in zip(turns, columns, strict=True)]
    return Corpus(changed, corpus.files, corpus.caveats)


def partial(xy: float, xz: float, yz: float) -> float:
    """The correlation of x and y that is left when z is held fixed."""
    return float((xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)))


def given_length(found: Agreement, metric: str) -> tuple[float, float]:
    """Pearson and Spearman of a metric with people, each given the number of words."""
    (points,) = (points for points in found.points if points.scope.system is None)
    x, y, z = points.column(metric), points.people, points.column(LENGTH)
    result = []
    for a, b, c in ((x, y, z), (rankdata(x), rankdata(y), rankdata(z))):
        correlations = np.corrcoef([a, b, c])
        result.append(partial(correlations[0, 1], correlations[0, 2], correlations[1, 2]))
    return result[0], result[1]


def print_pairs(rated: Corpus, metric: str, what: str) -> None:
    """The rated pairs of Ghazarian et al.: the 300 generated ones alone, and all 600."""
    found = dialogauge.correlate(rated, [metric, AUTHORS, COSINE, LENGTH], level="turn")
    rows = []
    for row in found.rows:
        left = [f"{value:.3f}" for value in given_length(found, row.metric)] if row.metric != LENGTH else ["", ""]
        rows.append([Cell(row.metric), *_cells(row), *map(Cell, left)])
    names = ["Pearson", "Spearman", "Pearson given length", "Spearman given length"]
    print(to_text(Table([Header(what, align="left"), *map(Header, names)], rows)), end="\n\n", flush=True)


def _cells(row: AgreementRow) -> list[Cell]:
    return [
        Cell(f"{row.pearson:.3f}", f"[{row.pearson_low:.3f}, {row.pearson_high:.3f}]"),
        Cell(f"{row.spearman:.3f}", f"[{row.spearman_low:.3f}, {row.spearman_high:.3f}]"),
    ]


def main(folder: Path, model: str | None) -> None:
    metric = "ruber_unreferenced" if model is None else f"ruber_unreferenced[model={model}]"
    rated = with_columns(dialogauge.load(next((folder / "bert_ruber").glob("*.csv"))))
    print_pairs(rated.select(["generated"]), metric, "300 generated pairs")
    print_pairs(rated, metric, "all 600 pairs")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
