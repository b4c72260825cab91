"""The numbers of the BERT-RUBER paper (Ghazarian et al. 2019), to be set beside ours. They are listed in
`ruber_published.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dialogauge.learn.recipe import Loss
from dialogauge.metrics.ruber import Blend
from dialogauge.models.shape import Sentence
from dialogauge.reproduce.published import Source

WORD2VEC, BERT = "word2vec", "bert"
"""The paper's embeddings."""


@dataclass(frozen=True)
class Variant:
    """A network by what the paper varies; its name is `<embedding>/<sentence>/<loss>`."""

    embedding: str
    sentence: Sentence
    loss: Loss

    @classmethod
    def named(cls, name: str) -> Variant:
        return cls(*name.split("/"))  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        return f"{self.embedding}/{self.sentence}/{self.loss}"


@dataclass(frozen=True)
class Coefficients:
    """Of scores with mean ratings, signed."""

    pearson: float
    spearman: float
    cosine: float


@dataclass(frozen=True)
class PaperRow:
    variant: Variant
    blend: Blend | None
    """With the referenced metric; None for the unreferenced metric alone."""
    published: Coefficients


@dataclass(frozen=True)
class RuberTable:
    source: Source
    rows: list[PaperRow]
    scores: Mapping[str, PaperRow]
    """Columns of the rated file that hold the authors' own scores, with the row they belong to."""

    @property
    def variants(self) -> dict[str, Variant]:
        """Every network of the table by its name, in the paper's order."""
        return {row.variant.name: row.variant for row in self.rows}


@cache
def ruber_table3() -> RuberTable:
    """Unreferenced metrics."""
    rows = [_row(name, None, numbers) for name, numbers in _listed("table3")["rows"].items()]
    return _table("table3", rows)


@cache
def ruber_table4() -> RuberTable:
    """Blends of unreferenced and referenced metrics."""
    listed = _listed("table4")["rows"].items()
    return _table("table4", [_row(name, blend, numbers) for name, mine in listed for blend, numbers in mine.items()])


def _row(name: str, blend: Blend | None, numbers: list[float]) -> PaperRow:
    return PaperRow(Variant.named(name), blend, Coefficients(*numbers))


def _table(name: str, rows: list[PaperRow]) -> RuberTable:
    table = _listed(name)
    by_name = {row.variant.name: row for row in rows}
    source = Source(table["paper"], table["number"], table["caption"])
    return RuberTable(source, rows, {column: by_name[row] for column, row in table["scores"].items()})


def _listed(name: str) -> dict[str, Any]:
    import tomllib

    listed = tomllib.loads(Path(__file__).with_name("ruber_published.toml").read_text(encoding="utf-8"))
    return listed[name]  # type: ignore[no-any-return]
