"""The numbers of the FBD paper (Xiang et al. 2021), set beside ours, and its files by the names of their corpora."""

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


@dataclass(frozen=True)
class Source:
    """Where a table stands: the paper's key in `corpus/known.toml` and the number it has there (in the version of
    the ACL, not of arXiv). The caption is in our words."""

    paper: str
    number: int
    caption: str


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


@dataclass(frozen=True)
class Table3:
    """Metrics down, corpora across. `titles` has the paper's name of each column, `rows` stand under its names."""

    source: Source
    titles: Mapping[str, str]
    rows: Mapping[str, MetricRow]


@dataclass(frozen=True)
class Table4:
    """Language models down, corpora across."""

    source: Source
    titles: Mapping[str, str]
    rows: Mapping[str, ModelRow]


@dataclass(frozen=True)
class Table5:
    """Metrics down, dimensions across, on one known corpus."""

    source: Source
    corpus: str
    titles: Mapping[str, str]
    rows: Mapping[str, MetricRow]


@cache
def table3() -> Table3:
    """Agreement with overall ratings on six corpora."""
    table = _listed()["table3"]
    return Table3(_source(table), _titles(table), _metric_rows(table))


@cache
def table4() -> Table4:
    """Normality of the vectors of six corpora."""
    table = _listed()["table4"]
    rows = {
        name: ModelRow(table["encoders"][name], {column: Spread(*pair) for column, pair in _cells(table, pairs)})
        for name, pairs in table["rows"].items()
    }
    return Table4(_source(table), _titles(table), rows)


@cache
def table5() -> Table5:
    """Agreement with four dimensions on one corpus."""
    table = _listed()["table5"]
    return Table5(_source(table), table["corpus"], _titles(table), _metric_rows(table))


@cache
def _listed() -> dict[str, Any]:
    import tomllib

    return tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))


def _source(table: Mapping[str, Any]) -> Source:
    return Source(table["paper"], table["number"], table["caption"])


def _titles(table: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip(table["columns"], table["titles"], strict=True))


def _metric_rows(table: Mapping[str, Any]) -> dict[str, MetricRow]:
    metrics = _listed()["metrics"]
    return {
        name: MetricRow(
            metrics[name]["metric"],
            metrics[name].get("encoder"),
            {column: Correlation(*pair) for column, pair in _cells(table, pairs)},
        )
        for name, pairs in table["rows"].items()
    }


def _cells(table: Mapping[str, Any], pairs: list[list[float]]) -> zip[tuple[str, list[float]]]:
    return zip(table["columns"], pairs, strict=True)


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
