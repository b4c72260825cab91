"""Tables 3 and 5 of the FBD paper: its correlations, ours by its recipes, and ours signed with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dialogauge.agreement import Agreement, correlate
from dialogauge.corpus.corpus import Corpus
from dialogauge.evaluation.digits import fixed
from dialogauge.metrics.base import spell_file
from dialogauge.metrics.registry import Request, parse_request
from dialogauge.papers.fbd.published import PAPER, MetricRow, load_corpora, table3, table5
from dialogauge.papers.side_by_side import (
    STAND_INS,
    Published,
    SideBySide,
    Source,
    check_known,
    encoder_for,
    estimate,
    make_table,
    numbers_of,
    paper_and_ours,
    stand_in_caveats,
)
from dialogauge.tables import Cell, Table

COMPAT = "fbd-paper"
COEFFICIENTS = {"spearman": "Spearman", "pearson": "Pearson"}


@dataclass(frozen=True)
class PaperCell:
    """One published number and ours. None where ours is undefined."""

    row: str
    """The paper's name of the metric."""
    metric: str
    """Ours, with its options."""
    model: str | None
    """The paper's language model or word vectors; None where the metric needs none."""
    encoder: str | None
    """What took its part."""
    column: str
    """A known corpus, or a dimension."""
    coefficient: str
    published: float | None
    """The absolute value: the sign was not printed. None where no number was."""
    value: float | None
    """Ours, oriented and signed."""
    low: float | None
    high: float | None
    p: float | None
    n: int
    """Systems."""
    same_recipe: bool
    """Whether nothing is known that would keep ours from being equal."""
    equal: bool
    """Whether ours without its sign is the published value to three decimals."""

    @property
    def name(self) -> str:
        """The paper's name of the metric where nothing else than the paper's model made the numbers."""
        if self.encoder is None or self.encoder == self.model:
            return self.row
        return f"{self.row.split(' (')[0]} ({spell_file(self.encoder)})"

    @property
    def shown(self) -> list[Cell]:
        """The paper's, ours as the paper has it, and ours."""
        absolute = None if self.value is None else abs(self.value)
        equal = Cell(fixed(absolute), "=" if self.equal and self.same_recipe else "")
        return [Cell(fixed(self.published)), equal, estimate(self.value, self.low, self.high, self.p)]


@dataclass(frozen=True, repr=False)
class Reproduced(SideBySide):
    """A table of correlations, the paper's and ours."""

    schema = "dialogauge.reproduced/1"

    source: Source
    titles: Mapping[str, str]
    cells: list[PaperCell]
    agreement: Agreement

    def cell(self, row: str, column: str, coefficient: str) -> PaperCell:
        for cell in self.cells:
            if (cell.row, cell.column, cell.coefficient) == (row, column, coefficient):
                return cell
        raise KeyError((row, column, coefficient))

    def head(self) -> dict[str, Any]:
        return {"source": asdict(self.source)}

    def body(self) -> dict[str, Any]:
        return {"settings": asdict(self.agreement.settings), **super().body()}

    def to_table(self) -> Table:
        rows: list[list[str | Cell]] = []
        for row, column in dict.fromkeys((cell.row, cell.column) for cell in self.cells):
            cells = [self.cell(row, column, coefficient) for coefficient in COEFFICIENTS]
            shown = [text for cell in cells for text in cell.shown]
            rows.append([cells[0].name, self.titles[column], str(cells[0].n), *shown])
        right = ["systems", *paper_and_ours(COEFFICIENTS.values(), "ours", "signed")]
        return make_table(("metric", "on"), right, rows, self.notes())

    def notes(self) -> list[str]:
        settings = self.agreement.settings
        notes = [
            f"paper: table {self.source.number} of {PAPER}, which shows absolute values",
            "ours: without its sign, as the paper has it; =: equal to three decimals, by the same recipe",
            f"signed: more is better; [low, high]: {100 * settings.confidence:.4g}% interval,"
            f" bootstrap over {self.agreement.unit} and systems ({settings.resamples} resamples, seed {settings.seed}),"
            " no narrower than Fisher's; p: permutations of the systems",
            *_counts(self.cells),
        ]
        wrong = [
            f"{cell.name} on {self.titles[cell.column]} ({COEFFICIENTS[cell.coefficient]})"
            for cell in self.cells
            if cell.value is not None and cell.value < 0
        ]
        return [*notes, f"below 0, the wrong way: {', '.join(wrong)}"] if wrong else notes


def _counts(cells: Sequence[PaperCell]) -> list[str]:
    """How many of the cells that could be equal are, and which are not."""
    same = [cell for cell in cells if cell.same_recipe and cell.published is not None]
    if not same:
        return []
    rows = ", ".join(dict.fromkeys(cell.row for cell in same))
    found = [f"{rows}: {sum(cell.equal for cell in same)} of {len(same)} cells equal the paper's"]
    for cell in same:
        if not cell.equal:
            ours = "undefined" if cell.value is None else f"{cell.value:.4f}"
            paper = f"paper {fixed(cell.published)}"
            found.append(f"not equal: {cell.row} on {cell.column}, {COEFFICIENTS[cell.coefficient]}: {ours}, {paper}")
    return found


@dataclass(frozen=True)
class PaperRecipe:
    """How our side of a table is made."""

    models: Mapping[str, str]
    """Encoders for the paper's models, where not those that are found."""
    vectors: str | None = None
    """A file of word vectors for Greedy, Average and Extrema."""
    own: bool = False
    """Our metrics in place of the paper's recipes."""
    rows: Sequence[str] = ()
    """Only these of our metrics; all where empty."""

    def request(self, row: MetricRow) -> tuple[Request, str | None] | None:
        """Our metric for a row and what encodes for it; None where that is not to be had."""
        compat = None if self.own else COMPAT
        if row.encoder is None:
            return parse_request(row.metric, compat), None
        if row.metric.startswith("embedding_"):
            encoder: str | None = (
                f"static:{self.vectors}" if self.vectors else "minilm" if self.own else "static:minilm"
            )
        else:
            encoder = encoder_for(row.encoder, self.models)
        return (parse_request(f"{row.metric}[encoder={encoder}]", compat), encoder) if encoder else None


def reproduce_table3(folder: str | Path, recipe: PaperRecipe, models: Sequence[str] = (), **options: Any) -> Reproduced:
    """The overall ratings of six corpora. `folder` holds the paper's annotation files. `models` are further language
    models, for which the paper has no rows; options are those of `correlate`."""
    table = with_models(table3(), models)
    corpora = load_corpora(Path(folder), table.titles)
    return _reproduce(table, corpora, "overall", recipe, options)


def reproduce_table5(folder: str | Path, recipe: PaperRecipe, **options: Any) -> Reproduced:
    """Four ratings of Daily(Z)."""
    table = table5()
    corpora = load_corpora(Path(folder), [table.about["corpus"]])
    return _reproduce(table, corpora, list(table.titles), recipe, options)


def with_models(table: Published[MetricRow], models: Sequence[str]) -> Published[MetricRow]:
    """The table with empty rows for further models."""
    encoded = {row.metric: name.split(" (")[0] for name, row in table.rows.items() if row.encoder in STAND_INS}
    more = {f"{title} ({model})": MetricRow(metric, model, {}) for model in models for metric, title in encoded.items()}
    return replace(table, rows={**table.rows, **more})


def _reproduce(
    table: Published[MetricRow],
    corpora: Mapping[str, Corpus],
    dimension: str | Sequence[str],
    recipe: PaperRecipe,
    options: Mapping[str, Any],
) -> Reproduced:
    check_known("metric of the table", recipe.rows, dict.fromkeys(row.metric for row in table.rows.values()))
    wanted = {name: row for name, row in table.rows.items() if not recipe.rows or row.metric in recipe.rows}
    made = {name: recipe.request(row) for name, row in wanted.items()}
    requests = [found[0] for found in made.values() if found]
    compat = None if recipe.own else COMPAT
    agreement = correlate(corpora, requests, level="system", dimension=dimension, compat=compat, **options)
    cells = [
        _cell(name, wanted[name], *found, column, coefficient, agreement)
        for name, found in made.items()
        if found
        for column in table.titles
        for coefficient in COEFFICIENTS
    ]
    models = {wanted[name].encoder: found[1] if found else None for name, found in made.items()}
    named = {model: used for model, used in models.items() if model and " " not in model}
    return Reproduced(
        source=table.source,
        titles=table.titles,
        cells=cells,
        agreement=agreement,
        files=agreement.files,
        caveats=[*agreement.caveats, *stand_in_caveats(named)],
    )


def _cell(
    name: str,
    row: MetricRow,
    request: Request,
    encoder: str | None,
    column: str,
    coefficient: str,
    agreement: Agreement,
) -> PaperCell:
    published = getattr(row.values[column], coefficient) if row.values else None
    mine = next(
        found for found in agreement.rows if found.metric == request.name and column in (found.corpus, found.dimension)
    )
    value, low, high, p = numbers_of(mine, coefficient)
    return PaperCell(
        row=name,
        metric=request.name,
        model=row.encoder,
        encoder=encoder,
        column=column,
        coefficient=coefficient,
        published=published,
        value=value,
        low=low,
        high=high,
        p=p,
        n=mine.n,
        same_recipe=request.compat == COMPAT and encoder == row.encoder,
        equal=value is not None and published is not None and f"{abs(value):.3f}" == f"{published:.3f}",
    )
