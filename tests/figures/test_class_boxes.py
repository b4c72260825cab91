"""Boxes of scores by class."""

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.figures import plot_class_boxes
from dialogauge.figures.papers import draw_class_boxes
from dialogauge.papers.entailment.figure1 import BoxPanel
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
