import sys
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.errors import InputError, MissingPackage
from dialogauge.figures import plot_normality
from dialogauge.studies.normality import Normality
from dialogauge.studies.normality_table import NormalityRow


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
