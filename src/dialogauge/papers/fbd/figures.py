"""Figures 1 and 2 of the FBD paper: BERTScore, FBD and PRD by corpus and by language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from dialogauge.errors import InputError
from dialogauge.evaluation.digits import defined, fixed
from dialogauge.metrics.base import spell_file
from dialogauge.papers.fbd.correlations import COEFFICIENTS, PaperCell, PaperRecipe, Reproduced, reproduce_table3
from dialogauge.papers.fbd.published import PAPER
from dialogauge.papers.side_by_side import SideBySide, estimate, make_table
from dialogauge.stats.resampling import IntervalEstimate, mean_of_estimates
from dialogauge.tables import Table

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
class ReproducedFigure(SideBySide):
    """The bars of a figure, the paper's and ours."""

    schema = "dialogauge.reproduced-figure/1"
    listed = "bars"

    title: str
    bars: list[Bar]

    @property
    def panels(self) -> dict[str, list[Bar]]:
        """The bars of each coefficient, under its title."""
        return {
            name.capitalize(): [bar for bar in self.bars if bar.coefficient == name]
            for name in dict.fromkeys(bar.coefficient for bar in self.bars)
        }

    def head(self) -> dict[str, Any]:
        return {"title": self.title}

    def to_table(self) -> Table:
        rows = [
            (bar.group, bar.series, bar.coefficient, fixed(bar.published), estimate(bar.value, bar.low, bar.high))
            for bar in self.bars
        ]
        return make_table(("group", "metric", "coefficient"), ("paper", "ours, signed"), rows, self.notes())

    def notes(self) -> list[str]:
        return [self.title, "paper: the mean of absolute values; ours: of signed ones"]


def reproduce_figure1(folder: str | Path, recipe: PaperRecipe, **options: Any) -> ReproducedFigure:
    """By corpus, the mean over the two base models."""
    return figure1(reproduce_table3(folder, _only_series(recipe), **options))


def figure1(table: Reproduced) -> ReproducedFigure:
    groups = {title: [cell for cell in table.cells if cell.column == column] for column, title in table.titles.items()}
    # Two models on one corpus are no independent observations: their mean has no interval.
    bars = [bar for name in COEFFICIENTS for bar in _bars(name, groups)]
    plain = [replace(bar, low=None, high=None) for bar in bars]
    return _figure(f"figure 1 of {PAPER}: means over two language models, by corpus", plain, table)


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
    return _figure(f"figure 2 of {PAPER}: means over six corpora, by language model", bars, table)


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
    return ReproducedFigure(title, bars, files=table.files, caveats=table.caveats)
