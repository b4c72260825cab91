"""Boxes of scores by class, and scatters of metrics and ratings."""

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.agreement import correlate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.figures import plot_class_boxes, plot_similarity_scatter
from dialogauge.figures.papers import draw_class_boxes, draw_similarity_scatter
from dialogauge.papers.entailment.figure1 import BoxPanel
from dialogauge.papers.entailment.figure2 import ScatterPanel
from dialogauge.papers.entailment.inputs import Scale

SCALE = Scale("coherence", 1, 5)


def panel(title="GRADE $x_1$", empty=False):
    rng = np.random.default_rng(0)
    scores = {"entailment": rng.uniform(2, 5, 40), "neutral": rng.uniform(1, 4, 60)}
    return BoxPanel("m", title, SCALE, {**scores, "contradiction": np.array([] if empty else [3.0])})


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats(tmp_path, name, start):
    assert plot_class_boxes([panel()], tmp_path / "deep" / name).read_bytes().startswith(start)


def test_same_scores_same_bytes(tmp_path):
    first, second = (plot_class_boxes([panel()], tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second


def test_a_panel_for_each_corpus_on_its_own_scale():
    figure = draw_class_boxes([panel(), BoxPanel("m", "FED", Scale("Relevant", 0, 2), {"entailment": np.ones(5)})])
    assert [axis.get_title() for axis in figure.axes] == ["GRADE $x_1$", "FED"]
    assert [axis.get_ylabel() for axis in figure.axes] == ["coherence", "Relevant"]
    assert [axis.get_ylim() for axis in figure.axes] == [pytest.approx((0.8, 5.2)), pytest.approx((-0.1, 2.1))]


def test_a_row_for_each_model():
    two = [replace(panel(corpus), model=model) for model in ("m", "ESIM") for corpus in ("c", "d", "e")]
    axes = draw_class_boxes(two).axes
    assert [axis.get_title() for axis in axes] == ["c\nm", "d\nm", "e\nm", "c\nESIM", "d\nESIM", "e\nESIM"]
    assert {axis.get_subplotspec().get_geometry()[:2] for axis in axes} == {(2, 3)}


def test_counts_means_and_boxes():
    shown = panel(empty=True)
    (axis,) = draw_class_boxes([shown]).axes
    assert [label.get_text() for label in axis.get_xticklabels()] == [
        "entailment\nn = 40",
        "neutral\nn = 60",
        "contradiction\nn = 0",
    ]
    means = {line.get_label(): float(line.get_ydata()[0]) for line in axis.lines if line.get_marker() == "D"}
    assert means == {label: pytest.approx(shown.scores[label].mean()) for label in ("entailment", "neutral")}
    assert len(axis.patches) == 2
    box = axis.patches[0].get_path().vertices[:, 1]
    assert (box.min(), box.max()) == pytest.approx(tuple(np.quantile(shown.scores["entailment"], [0.25, 0.75])))


def test_points_stay_near_their_scores():
    shown = panel()
    (axis,) = draw_class_boxes([shown]).axes
    x, y = axis.collections[0].get_offsets().T
    assert len(x) == 40
    assert np.abs(x).max() < 0.28
    assert np.abs(np.asarray(y) - shown.scores["entailment"]).max() <= 0.04 + 1e-9


def test_nothing_to_draw(tmp_path):
    with pytest.raises(InputError, match="no scores to draw"):
        plot_class_boxes([], tmp_path / "f.png")
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot_class_boxes([panel()], tmp_path / "f.txt")


@pytest.fixture(scope="module")
def scatter_panel():
    rng = np.random.default_rng(0)
    turns = [
        Turn(str(i), "w " * int(rng.integers(1, 9)), (f"q{i}",), ratings={"coherence": tuple(rng.integers(1, 6, 3))})
        for i in range(300)
    ]
    agreement = correlate({"c": Corpus(turns)}, "length", level="turn", resamples=20)
    (points,), (row,) = agreement.points, agreement.rows
    return ScatterPanel(
        "GRADE c", "SS(H-1) (x)", Scale("coherence", 1, 5), points.people, points.values[:, 0], points.units, row
    )


def test_a_row_for_each_corpus_a_column_for_each_metric(scatter_panel):
    shown = [scatter_panel, replace(scatter_panel, title="Extrema"), replace(scatter_panel, corpus="GRADE d")]
    axes = draw_similarity_scatter(shown).axes
    assert [axis.get_title() for axis in axes] == ["SS(H-1) (x)", "Extrema", "", ""]
    assert axes[0].get_ylabel().startswith("GRADE c")
    assert axes[2].get_ylabel().startswith("GRADE d")
    assert axes[3].texts[0].get_text() == "no values"


def test_noise_is_on_drawn_ratings_alone(scatter_panel):
    (axis,) = draw_similarity_scatter([scatter_panel]).axes
    x, y = np.asarray(axis.collections[0].get_offsets()).T
    assert y.tolist() == scatter_panel.values.tolist()
    assert np.std(x - scatter_panel.people) == pytest.approx(0.1, abs=0.02)
    assert axis.texts[0].get_text().startswith(f"r = {scatter_panel.row.pearson:.2f}".replace("-", "−"))
    slope, start = np.polyfit(scatter_panel.people, scatter_panel.values, 1)
    along, height = axis.lines[0].get_xdata(), axis.lines[0].get_ydata()
    assert (along.min(), along.max()) == pytest.approx((scatter_panel.people.min(), scatter_panel.people.max()))
    assert height.tolist() == pytest.approx((start + slope * along).tolist())


def test_same_seed_same_bytes(scatter_panel, tmp_path):
    first, second, other = (
        plot_similarity_scatter([scatter_panel], tmp_path / f"{name}.svg", seed).read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == second != other


def test_no_points_to_draw(tmp_path):
    with pytest.raises(InputError, match="no points to draw"):
        plot_similarity_scatter([], tmp_path / "f.png")
