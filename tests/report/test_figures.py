import sys

import pytest

from dialogauge import evaluate, plot_scores
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import MissingPackage


@pytest.fixture
def result():
    turns = [Turn(str(i), f"w{i} $x_{i}$", (f"q{i}",), system=s) for s in ("a$_b$", "é") for i in range(20)]
    return evaluate(Corpus(turns), "length,distinct")


@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats(result, tmp_path, name, start):
    path = plot_scores(result, tmp_path / "deep" / name)
    assert path.read_bytes().startswith(start)


def test_same_result_same_bytes(result, tmp_path):
    first, second = (plot_scores(result, tmp_path / name).read_bytes() for name in ("a.svg", "b.svg"))
    assert first == second


def test_without_matplotlib_the_extra_is_named(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[plot\]'"):
        plot_scores(result, tmp_path / "f.png")
