import sys

import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError, MissingPackage
from dialogauge.figures.studies import plot_sensitivity
from dialogauge.studies.sensitivity import sensitivity


def corpus(systems=("a$_b$", "é")):
    return Corpus(
        [
            Turn(str(i), f"w{i} $x_{i}$ and {system}", (f"q{i}",), references=(f"w{i} and more",), system=system)
            for system in systems
            for i in range(20)
        ]
    )


@pytest.fixture(scope="module")
def result():
    return sensitivity(corpus(), "rouge_l,length", kinds="noise,truncate", ratios=[0.5, 1], resamples=20)


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    from matplotlib.figure import Figure

    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    return figures


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats(result, tmp_path, name, start):
    path = plot_sensitivity(result, tmp_path / "deep" / name)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_result_same_bytes(result, at_two_times, kind):
    today, then = at_two_times(lambda path: plot_sensitivity(result, path), kind)
    assert today == then


def test_a_panel_for_each_metric_and_system(result, tmp_path, drawn):
    plot_sensitivity(result, tmp_path / "f.svg")
    (figure,) = drawn
    assert [axis.get_title() for axis in figure.axes] == [
        *("rouge_l, a$_b$", "length, a$_b$", "rouge_l, é", "length, é")
    ]
    assert [axis.get_ylabel() for axis in figure.axes[:2]] == ["higher is better", "no better or worse"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["noise", "truncate"]


def test_lines_have_the_values_and_intervals(result, tmp_path, drawn):
    plot_sensitivity(result, tmp_path / "f.svg")
    lines = drawn[0].axes[3].lines
    for kind in result.kinds:
        points = result.series(kind, "é", "length")
        (values,) = [line for line in lines if line.get_label() == kind]
        assert values.get_ydata().tolist() == [point.value for point in points]
        assert values.get_xdata().tolist() == pytest.approx([0, 0.5, 1], abs=0.02)
        for point in points:
            assert [line for line in lines if list(line.get_ydata()) == [point.low, point.high]]


def test_a_kind_looks_the_same_in_every_figure(result, tmp_path, drawn):
    alone = sensitivity(corpus(("a",)), "length", kinds="truncate", ratios=[1], resamples=20)
    plot_sensitivity(result, tmp_path / "f.svg")
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


def test_without_matplotlib_the_extra_is_named(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[plot\]'"):
        plot_sensitivity(result, tmp_path / "f.png")


def test_other_kinds_of_files_are_refused(result, tmp_path):
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot_sensitivity(result, tmp_path / "f.txt")
