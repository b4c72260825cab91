"""The numbers of the FBD paper (Xiang et al. 2021) in `published.toml`, and its files by the names of their corpora."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dialogauge.corpus import load
from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.known import corpora
from dialogauge.errors import InputError
from dialogauge.papers.side_by_side import Published, published_file, read_published

PAPER = "Xiang et al. 2021"


@dataclass(frozen=True)
class Correlation:
    """Of a metric with people, over systems. Both are absolute: the sign was not printed."""

    spearman: float
    pearson: float


@dataclass(frozen=True)
class MetricRow:
    """`metric` is our name for it. `encoder` is None where a metric needs none, and a description rather than a name
    where the paper does not say which it was."""

    metric: str
    encoder: str | None
    values: Mapping[str, Correlation]
    """By column: a known corpus in table 3, a dimension in table 5."""


@dataclass(frozen=True)
class Spread:
    mean: float
    deviation: float


@dataclass(frozen=True)
class ModelRow:
    encoder: str
    values: Mapping[str, Spread]
    """By known corpus."""


@cache
def table3() -> Published[MetricRow]:
    """Agreement with overall ratings on six corpora: metrics down, corpora across."""
    return read_published(__file__, "table3", _metric_row)


@cache
def table4() -> Published[ModelRow]:
    """Normality of the vectors of six corpora: language models down, corpora across."""
    encoders = published_file(__file__)["table4"]["encoders"]
    return read_published(__file__, "table4", lambda name, pairs: ModelRow(encoders[name], _each(Spread, pairs)))


@cache
def table5() -> Published[MetricRow]:
    """Agreement with four dimensions on one known corpus, `about["corpus"]`."""
    return read_published(__file__, "table5", _metric_row)


def _metric_row(name: str, pairs: dict[str, Any]) -> MetricRow:
    made = published_file(__file__)["metrics"][name]
    return MetricRow(made["metric"], made.get("encoder"), _each(Correlation, pairs))


def _each(kind: Any, pairs: dict[str, Any]) -> dict[str, Any]:
    return {column: kind(*pair) for column, pair in pairs.items()}


def annotation_file(folder: Path, corpus: str) -> Path:
    """Where a corpus stands; refused where there is no such file."""
    path = folder / f"{corpus.removeprefix('fbd-')}_annotation.json"
    if not path.is_file():
        source = next(known.source.partition(";")[0] for known in corpora() if known.name == corpus)
        raise InputError(f"no such file; expected the folder with the FBD paper's files: {source}", path)
    return path


def load_corpora(folder: Path, names: Iterable[str]) -> dict[str, Corpus]:
    """All files are looked for before any is read."""
    paths = {name: annotation_file(folder, name) for name in names}
    return {name: load(path, reader="fbd") for name, path in paths.items()}
