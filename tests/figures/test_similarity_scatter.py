"""Metrics against people's scores."""

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.agreement import correlate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.figures import plot_similarity_scatter
from dialogauge.figures.papers import draw_similarity_scatter
from dialogauge.papers.entailment.figure2 import ScatterPanel
from dialogauge.papers.entailment.inputs import Scale


@pytest.fixture(scope="module")
def panel():
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


def test_a_row_for_each_corpus_a_column_for_each_metric(panel):
    shown = [panel, replace(panel, title="Extrema"), replace(panel, corpus="GRADE d")]
    axes = draw_similarity_scatter(shown).axes
    assert [axis.get_title() for axis in axes] == ["SS(H-1) (x)", "Extrema", "", ""]
    assert axes[0].get_ylabel().startswith("GRADE c")
    assert axes[2].get_ylabel().startswith("GRADE d")
    assert axes[3].texts[0].get_text() == "no values"


def test_noise_is_on_drawn_ratings_alone(panel):
    (axis,) = draw_similarity_scatter([panel]).axes
    x, y = np.asarray(axis.collections[0].get_offsets()).T
    assert y.tolist() == panel.values.tolist()
    assert np.std(x - panel.people) == pytest.approx(0.1, abs=0.02)
    assert axis.texts[0].get_text().startswith(f"r = {panel.row.pearson:.2f}".replace("-", "−"))
    slope, start = np.polyfit(panel.people, panel.values, 1)
    along, height = axis.lines[0].get_xdata(), axis.lines[0].get_ydata()
    assert (along.min(), along.max()) == pytest.approx((panel.people.min(), panel.people.max()))
    assert height.tolist() == pytest.approx((start + slope * along).tolist())


def test_same_seed_same_bytes(panel, tmp_path):
    first, second, other = (
        plot_similarity_scatter([panel], tmp_path / f"{name}.svg", seed).read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == second != other


def test_nothing_to_draw(tmp_path):
    with pytest.raises(InputError, match="no points to draw"):
        plot_similarity_scatter([], tmp_path / "f.png")
