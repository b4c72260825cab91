"""Figures 1 and 2 of the FBD paper: BERTScore, FBD and PRD by corpus and by language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from dialogauge import tables
from dialogauge.agreement.result import interval_and_p
from dialogauge.corpus.corpus import SourceFile
from dialogauge.errors import Caveat, InputError
from dialogauge.evaluation.digits import defined, fixed
from dialogauge.evaluation.forms import Forms
from dialogauge.metrics.base import spell_file
from dialogauge.papers.fbd.correlations import COEFFICIENTS, PaperCell, PaperRecipe, Reproduced, reproduce_table3
from dialogauge.stats.intervals import IntervalEstimate, mean_of_estimates

SCHEMA = "dialogauge.reproduced-figure/1"
SERIES = {"bertscore": "BERTScore", "fbd": "FBD", "prd": "PRD"}
LARGE = ("bert-large-uncased", "roberta-large")


@dataclass(frozen=True)
class Bar:
    """A mean of correlations: of a series (a metric) in a group (a corpus, a language model)."""

    group: str
    series: str
    value: float
    """Of signed correlations."""
    low: float | None = None
    high: float | None = None
    published: float | None = None
    """The mean of the paper's absolute ones, from its table 3; None where it printed none."""
    coefficient: str = ""


@dataclass(frozen=True, repr=False)
class ReproducedFigure(Forms):
    """The bars of a figure, the paper's and ours."""

    title: str
    bars: list[Bar]
    files: tuple[SourceFile, ...]
    caveats: list[Caveat]

    @property
    def panels(self) -> dict[str, list[Bar]]:
        """The bars of each coefficient, under its title."""
        return {
            name.capitalize(): [bar for bar in self.bars if bar.coefficient == name]
            for name in dict.fromkeys(bar.coefficient for bar in self.bars)
        }

    def to_records(self) -> list[dict[str, Any]]:
        return [asdict(bar) for bar in self.bars]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "title": self.title,
            "files": [asdict(file) for file in self.files],
            "bars": self.to_records(),
            "warnings": [asdict(caveat) for caveat in self.caveats],
        }

    def to_table(self) -> tables.Table:
        names = ("group", "metric", "coefficient")
        headers = [tables.Header(name, align="left") for name in names]
        headers += [tables.Header("paper"), tables.Header("ours, signed")]
        rows = [
            [
                *(tables.Cell(text) for text in (bar.group, bar.series, bar.coefficient)),
                tables.Cell(fixed(bar.published)),
                tables.Cell(fixed(bar.value), interval_and_p(bar.low, bar.high, None)),
            ]
            for bar in self.bars
        ]
        notes = [self.title, "paper: the mean of absolute values; ours: of signed ones"]
        return tables.Table(headers, rows, notes)


def reproduce_figure1(folder: str | Path, recipe: PaperRecipe, **options: Any) -> ReproducedFigure:
    """By corpus, the mean over the two base models."""
    return figure1(reproduce_table3(folder, _only_series(recipe), **options))


def figure1(table: Reproduced) -> ReproducedFigure:
    groups = {title: [cell for cell in table.cells if cell.column == column] for column, title in table.titles.items()}
    # Two models on one corpus are no independent observations: their mean has no interval.
    bars = [bar for name in COEFFICIENTS for bar in _bars(name, groups)]
    plain = [replace(bar, low=None, high=None) for bar in bars]
    return _figure("figure 1 of Xiang et al. 2021: means over two language models, by corpus", plain, table)


def reproduce_figure2(folder: str | Path, recipe: PaperRecipe, **options: Any) -> ReproducedFigure:
    """By language model, the mean over the six corpora. Of large models the paper prints no numbers."""
    return figure2(reproduce_table3(folder, _only_series(recipe), models=LARGE, **options))


def figure2(table: Reproduced) -> ReproducedFigure:
    models = dict.fromkeys((cell.model or "", cell.encoder or "") for cell in table.cells)
    groups = {
        used if used == model else f"{spell_file(used)} (for {model})": [
            cell for cell in table.cells if cell.model == model
        ]
        for model, used in models
    }
    bars = [bar for name in COEFFICIENTS for bar in _bars(name, groups)]
    return _figure("figure 2 of Xiang et al. 2021: means over six corpora, by language model", bars, table)


def _only_series(recipe: PaperRecipe) -> PaperRecipe:
    rows = [name for name in SERIES if not recipe.rows or name in recipe.rows]
    if not rows:
        raise InputError(f"the figure has none of {', '.join(recipe.rows)}: it shows {', '.join(SERIES)}")
    return replace(recipe, rows=rows)


def _bars(coefficient: str, groups: Mapping[str, Sequence[PaperCell]]) -> list[Bar]:
    found = []
    for group, cells in groups.items():
        for metric, series in SERIES.items():
            mine = [c for c in cells if c.coefficient == coefficient and c.metric.split("[")[0] == metric]
            known = [c for c in mine if c.value is not None and c.low is not None and c.high is not None]
            if not known:
                continue
            mean = mean_of_estimates([IntervalEstimate(c.value or 0.0, c.low or 0.0, c.high or 0.0) for c in known])
            printed = [c.published for c in mine if c.published is not None]
            published = fmean(printed) if len(printed) == len(mine) else None
            low, high = defined(mean.low), defined(mean.high)
            found.append(Bar(group, series, mean.value, low, high, published, coefficient))
    return found


def _figure(title: str, bars: list[Bar], table: Reproduced) -> ReproducedFigure:
    return ReproducedFigure(title, bars, table.files, table.caveats)
