"""Figures 1 and 2 of the FBD paper."""

import json
from math import sqrt

import pytest

from dialogauge.agreement.result import Agreement
from dialogauge.errors import InputError
from dialogauge.evaluation.options import Settings
from dialogauge.figures import plot_paper_bars
from dialogauge.papers.fbd.correlations import PaperCell, PaperRecipe, Reproduced
from dialogauge.papers.fbd.figures import figure1, figure2, reproduce_figure1
from dialogauge.papers.fbd.published import table3

COLUMNS = ("fbd-dailyz", "fbd-personaz")


def cell(model, encoder, column, value, published, coefficient="spearman"):
    """The interval reaches 0.3 below and 0.1 above the value."""
    low, high = (None, None) if value is None else (value - 0.3, value + 0.1)
    label = "fbd" if encoder == "minilm" else f"fbd[encoder={encoder}]"
    return PaperCell(
        f"FBD ({model})", label, model, encoder, column, coefficient, published, value, low, high, 0.1, 8, False, False
    )


def table(*cells):
    agreement = Agreement([], [], [], [], [], (), [], Settings(), "contexts")
    titles = {column: table3().titles[column] for column in COLUMNS}
    return Reproduced(table3().source, titles, list(cells), agreement, files=(), caveats=[])


BASE = [
    cell("bert-base-uncased", "minilm", "fbd-dailyz", 0.5, 0.786),
    cell("bert-base-uncased", "minilm", "fbd-personaz", -0.1, 0.4),
    cell("roberta-base", "mpnet", "fbd-dailyz", 0.7, 0.929),
    cell("roberta-base", "mpnet", "fbd-personaz", 0.3, 1.0),
]


def test_figure_1_averages_models_by_corpus():
    (first, second) = figure1(table(*BASE)).panels["Spearman"]
    assert (first.group, second.group) == ("Daily(Z)", "Persona(Z)")
    assert first.value == pytest.approx((0.5 + 0.7) / 2)
    assert second.value == pytest.approx((-0.1 + 0.3) / 2)
    assert first.published == pytest.approx((0.786 + 0.929) / 2)
    assert (first.low, first.high) == (None, None)


def test_figure_2_averages_corpora_by_model():
    large = [cell("roberta-large", "roberta-large", column, 0.2, None) for column in COLUMNS]
    bars = {bar.group: bar for bar in figure2(table(*BASE, *large)).panels["Spearman"]}
    assert list(bars) == ["minilm (for bert-base-uncased)", "mpnet (for roberta-base)", "roberta-large"]
    bar = bars["mpnet (for roberta-base)"]
    assert bar.value == pytest.approx(0.5)
    assert bar.published == pytest.approx((0.929 + 1.0) / 2)
    # Two corpora with an interval from 0.3 below to 0.1 above each: sqrt(0.3² + 0.3²) / 2 below their mean.
    assert bar.low == pytest.approx(0.5 - 0.3 * sqrt(2) / 2)
    assert bar.high == pytest.approx(0.5 + 0.1 * sqrt(2) / 2)
    assert bars["roberta-large"].published is None


def test_an_undefined_value_is_left_out_of_the_mean():
    cells = [BASE[0], cell("bert-base-uncased", "minilm", "fbd-personaz", None, 0.4)]
    (bar,) = figure2(table(*cells)).bars
    assert bar.value == 0.5


def test_forms_and_drawing(tmp_path):
    figure = figure2(table(*BASE, cell("roberta-base", "mpnet", "fbd-dailyz", 0.8, 0.963, "pearson")))
    assert len(json.loads(figure.render("json"))["bars"]) == 3
    assert list(figure.panels) == ["Spearman", "Pearson"]
    assert "mpnet (for roberta-base)" in str(figure)
    assert plot_paper_bars(figure.panels, tmp_path / "figure2.png").stat().st_size > 5_000


def test_other_metrics_are_refused(tmp_path):
    with pytest.raises(InputError, match="the figure has none of bleu: it shows bertscore, fbd, prd"):
        reproduce_figure1(tmp_path, PaperRecipe({}, rows=("bleu",)))
