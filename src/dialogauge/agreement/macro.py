"""The mean over corpora."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dialogauge.agreement.result import MEAN, AgreementRow
from dialogauge.evaluation.digits import defined
from dialogauge.stats.intervals import IntervalEstimate, mean_of_estimates


def mean_rows(rows: Sequence[AgreementRow]) -> list[AgreementRow]:
    """For each level, dimension and metric that two corpora or more have a correlation for. Corpora with one dimension
    each are averaged whatever they call it."""
    return [
        _mean(dimension, members)
        for level in dict.fromkeys(row.level for row in rows)
        for dimension, chosen in _dimensions([row for row in rows if row.level == level and row.system is None])
        for metric in dict.fromkeys(row.metric for row in chosen)
        for members in [[row for row in chosen if row.metric == metric and row.pearson is not None]]
        if len({row.corpus for row in members}) > 1
    ]


def _dimensions(rows: Sequence[AgreementRow]) -> Iterator[tuple[str, list[AgreementRow]]]:
    """What is averaged together: corpora's only dimensions, or dimensions of one name."""
    dimensions = dict.fromkeys((row.corpus, row.dimension) for row in rows)
    if len(dimensions) == len({row.corpus for row in rows}):
        names: dict[str, str] = {}
        for row in rows:
            names.setdefault(row.dimension.casefold(), row.dimension)
        yield ", ".join(names.values()), list(rows)
        return
    for name in dict.fromkeys(row.dimension.casefold() for row in rows):
        yield name, [row for row in rows if row.dimension.casefold() == name]


def _mean(dimension: str, rows: Sequence[AgreementRow]) -> AgreementRow:
    bounds = {name: mean_of_estimates(_bounds(rows, name)) for name in ("pearson", "spearman", "kendall")}
    numbers = {
        field: defined(value)
        for name, found in bounds.items()
        for field, value in zip((name, f"{name}_low", f"{name}_high", f"{name}_p"), (*found, np.nan), strict=True)
    }
    means = {
        name: defined(np.mean([np.nan if (value := getattr(row, name)) is None else value for row in rows]))
        for name in ("cosine", "pairwise_accuracy")
    }
    return AgreementRow(
        corpus=MEAN,
        dimension=dimension,
        level=rows[0].level,
        system=None,
        metric=rows[0].metric,
        n=len({row.corpus for row in rows}),
        pearson_top=False,
        spearman_top=False,
        higher_is_better=rows[0].higher_is_better,
        signature=rows[0].signature,
        **numbers,
        **means,
    )


def _bounds(rows: Sequence[AgreementRow], name: str) -> list[IntervalEstimate]:
    fields = (name, f"{name}_low", f"{name}_high")
    found = ([getattr(row, field) for field in fields] for row in rows)
    return [IntervalEstimate(*(np.nan if value is None else value for value in values)) for values in found]
