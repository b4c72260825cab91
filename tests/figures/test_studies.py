import sys
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError, MissingPackage
from dialogauge.figures import plot_normality, plot_training
from dialogauge.figures.studies import _draw_training, plot_sensitivity
from dialogauge.studies.normality_result import Normality, NormalityRow
from dialogauge.studies.sensitivity import sensitivity


def row(name, kind, n=40, seed=0):
    vectors = np.random.default_rng(seed).standard_t(3, (n, 12))
    vectors[:, 5] = 1.0
    return NormalityRow.from_vectors(name, kind, vectors, n, 0)


@pytest.fixture(scope="module", autouse=True)
def few_directions():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dialogauge.stats.gaussian_tests.DIRECTIONS", 30)
        yield


@pytest.fixture(scope="module")
def result():
    rows = [row("references", "references"), row("a$_b$", "system", seed=1)]
    return Normality(rows, 12, {"a$_b$": 40}, (), [], 0, "normality")


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    from matplotlib.figure import Figure

    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    return figures


def heights(axis):
    return np.array([patch.get_height() for patch in axis.patches])


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats(result, tmp_path, name, start):
    assert plot_normality(result, tmp_path / "deep" / name).read_bytes().startswith(start)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_result_same_bytes(result, at_two_times, kind):
    today, then = at_two_times(lambda path: plot_normality(result, path), kind)
    assert today == then


def test_panels(result, tmp_path, drawn):
    plot_normality(result, tmp_path / "f.svg")
    axes = drawn[0].axes
    assert [axis.get_title() for axis in axes[:4]] == [
        "W of every dimension",
        *(f"{which} dimension" for which in ("least normal", "typical", "most normal")),
    ]
    p = result.rows[1].directions_p
    assert axes[4].get_ylabel() == f"a$_b$\nn = 40\ntogether p = {p:.3f}"


def test_histograms(result, tmp_path, drawn):
    plot_normality(result, tmp_path / "f.svg")
    for axes, found in zip(np.reshape(drawn[0].axes, (2, 4)), result.rows, strict=True):
        # Eleven dimensions vary; those with p < 0.05 are drawn first.
        bars = heights(axes[0]).reshape(2, -1).sum(axis=1)
        assert bars.tolist() == [found.tests.rejected, 11 - found.tests.rejected]
        for axis, example in zip(axes[1:], found.examples, strict=True):
            edges = [patch.get_x() for patch in axis.patches]
            inside = np.clip(example.values, -6, 6)
            expected = np.histogram(inside, [*edges, -edges[0]], density=True)[0]
            assert heights(axis) == pytest.approx(expected)
            assert axis.texts[0].get_text().startswith(f"no. {example.dimension}\nW = {example.w:.3f}\np ")


def test_the_line_is_a_gaussian(result, tmp_path, drawn):
    plot_normality(result, tmp_path / "f.svg")
    (line,) = drawn[0].axes[1].lines
    x, y = line.get_data()
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    assert y.max() == pytest.approx(0.3989, abs=1e-3)


def test_values_far_out_stand_at_the_edge_and_are_counted(tmp_path, drawn):
    vectors = np.random.default_rng(0).standard_normal((100, 1))
    vectors[0] = 40
    one = Normality([NormalityRow.from_vectors("a", "system", vectors, 100, 0)], 1, {"a": 100}, (), [], 0, "normality")
    plot_normality(one, tmp_path / "f.svg")
    assert heights(drawn[0].axes[1])[-1] > 0
    assert drawn[0]._supxlabel.get_text().endswith("; 3 values beyond ±6 stand at the edge")


def test_rows_without_a_test(result, tmp_path, drawn):
    plot_normality(replace(result, rows=[row("a", "system", n=2)]), tmp_path / "f.svg")
    assert drawn[0].axes[0].texts[0].get_text() == "nothing to test"
    assert not any(axis.patches for axis in drawn[0].axes)


def test_without_matplotlib_the_extra_is_named(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[plot\]'"):
        plot_normality(result, tmp_path / "f.png")


def test_other_kinds_of_files_are_refused(result, tmp_path):
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot_normality(result, tmp_path / "f.txt")


def card(networks, kind="ranking_accuracy"):
    epochs = [
        {"epoch": 1, "loss": 0.7, "validation_loss": 0.6, kind: 0.7},
        {"epoch": 2, "loss": 0.5, "validation_loss": 0.4, kind: 0.8},
        {"epoch": 3, "loss": 0.3, "validation_loss": 0.5, kind: 0.9},
    ]
    return {"curves": [{"best": 2, "epochs": epochs}] * networks, "validation": {"pairs": 120, kind: 0.8}}


@pytest.mark.parametrize("kind", ["ranking_accuracy", "accuracy"])
@pytest.mark.parametrize("networks", [1, 5])
def test_lines_and_dots(networks, kind):
    figure = _draw_training(card(networks, kind))
    losses, accuracies = figure.axes
    assert accuracies.get_title() == kind.replace("_", " ")
    said = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert {
        "ranking_accuracy": "the true response of 120 pairs held back scores above a random one",
        "accuracy": "accuracy: how often the class of 120 pairs held back is told right",
    }[kind] in said
    assert ("highest accuracy" in said) == (kind == "accuracy")
    drawn = [list(line.get_ydata()) for line in losses.lines]
    assert drawn.count([0.7, 0.5, 0.3]) == networks
    assert drawn.count([0.6, 0.4, 0.5]) == networks
    assert drawn.count([0.4]) == networks  # the best epoch
    assert [list(line.get_ydata()) for line in accuracies.lines].count([0.8]) == networks


def test_of_a_gauge_ratings_go_on_where_conversations_ended():
    given = card(2, "accuracy")
    figure = _draw_training({**given, "kind": "gauge", "validation": {"examples": 120, "accuracy": {"cut": 0.8}}})
    drawn = [list(line.get_xdata()) for line in figure.axes[0].lines]
    assert drawn.count([1, 2, 3]) == drawn.count([4, 5, 6]) == 2
    assert drawn.count([5]) == 1  # the best of the second
    said = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert "the better of two replies held back scores higher, of 120 of conversations" in said


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_card_same_bytes(kind, at_two_times):
    today, then = at_two_times(lambda path: plot_training(card(2), path), kind)
    assert today == then


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot_training(card(1), tmp_path / "curves.txt")


def corpus(systems=("a$_b$", "é")):
    return Corpus(
        [
            Turn(str(i), f"w{i} $x_{i}$ and {system}", (f"q{i}",), references=(f"w{i} and more",), system=system)
            for system in systems
            for i in range(20)
        ]
    )


@pytest.fixture(scope="module")
def perturbed():
    return sensitivity(corpus(), "rouge_l,length", kinds="noise,truncate", ratios=[0.5, 1], resamples=20)


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats_of_sensitivity(perturbed, tmp_path, name, start):
    path = plot_sensitivity(perturbed, tmp_path / "deep" / name)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_sensitivity_same_bytes(perturbed, at_two_times, kind):
    today, then = at_two_times(lambda path: plot_sensitivity(perturbed, path), kind)
    assert today == then


def test_a_panel_for_each_metric_and_system(perturbed, tmp_path, drawn):
    plot_sensitivity(perturbed, tmp_path / "f.svg")
    (figure,) = drawn
    assert [axis.get_title() for axis in figure.axes] == [
        *("rouge_l, a$_b$", "length, a$_b$", "rouge_l, é", "length, é")
    ]
    assert [axis.get_ylabel() for axis in figure.axes[:2]] == ["higher is better", "no better or worse"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["noise", "truncate"]


def test_lines_have_the_values_and_intervals(perturbed, tmp_path, drawn):
    plot_sensitivity(perturbed, tmp_path / "f.svg")
    lines = drawn[0].axes[3].lines
    for kind in perturbed.kinds:
        points = perturbed.series(kind, "é", "length")
        (values,) = [line for line in lines if line.get_label() == kind]
        assert values.get_ydata().tolist() == [point.value for point in points]
        assert values.get_xdata().tolist() == pytest.approx([0, 0.5, 1], abs=0.02)
        for point in points:
            assert [line for line in lines if list(line.get_ydata()) == [point.low, point.high]]


def test_a_kind_looks_the_same_in_every_figure(perturbed, tmp_path, drawn):
    alone = sensitivity(corpus(("a",)), "length", kinds="truncate", ratios=[1], resamples=20)
    plot_sensitivity(perturbed, tmp_path / "f.svg")
    plot_sensitivity(alone, tmp_path / "g.svg")
    looks = [
        {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines if line.get_label() == "truncate"}
        for figure in drawn
    ]
    assert looks[0] == looks[1]
    assert drawn[1].axes[0].get_title() == "length"


def test_kinds_differ_in_colour_and_marker(tmp_path, drawn):
    every = sensitivity(corpus(("a",)), "length", ratios=[1], resamples=20)
    plot_sensitivity(every, tmp_path / "f.svg")
    lines = [line for line in drawn[0].axes[0].lines if line.get_label() in every.kinds]
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == 6


def test_undefined_values_leave_a_gap(tmp_path, drawn):
    # One word has no pair of neighbours: no distinct.
    turns = [Turn(str(i), "one two", (f"q{i}",)) for i in range(20)]
    found = sensitivity(Corpus(turns), "distinct", kinds="truncate", ratios=[0.5, 1], resamples=20)
    assert found.points[-1].value is None
    plot_sensitivity(found, tmp_path / "f.svg")
    (line,) = [line for line in drawn[0].axes[0].lines if line.get_label() == "truncate"]
    assert line.get_ydata().tolist()[:2] == [point.value for point in found.points[:2]]
    assert str(line.get_ydata()[2]) == "nan"


def test_sensitivity_without_matplotlib_names_the_extra(perturbed, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[plot\]'"):
        plot_sensitivity(perturbed, tmp_path / "f.png")


def test_other_kinds_of_files_are_refused_for_sensitivity(perturbed, tmp_path):
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot_sensitivity(perturbed, tmp_path / "f.txt")
