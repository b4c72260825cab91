"""People's scores by predicted class, on small corpora."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats

from dialogauge.metrics.learned.entailment import CLASSES
from dialogauge.papers.entailment.classes import Predicted, class_pairs, class_scores
from dialogauge.papers.entailment.figure1 import reproduce_entailment_figure1
from dialogauge.papers.entailment.inputs import read_corpora
from dialogauge.stats.resampling import clustered_mean
from dialogauge.stats.significance import holm_corrected
from dialogauge.tables import FORMATS
from tests.papers.entailment.world import small_world, without_shipped


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return small_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def figure(world):
    with without_shipped():
        return reproduce_entailment_figure1(world, {"tiny": str(world.parent / "model")}, cache=False)


@pytest.fixture(scope="module")
def rated(world):
    return read_corpora(world)[0][0]


def predicted(rated, classes):
    return Predicted(rated.turns, np.array(classes), [])


def test_means_and_both_intervals(rated):
    # 24 turns: 12 contexts, answered by one system after the other. The first system's first two are of no class.
    classes = [-1, -1, *[0] * 10, *[0] * 6, *[1] * 5, 2]
    scores = class_scores("m", rated, predicted(rated, classes))
    assert [score.n for score in scores] == [16, 5, 1]
    assert [score.label for score in scores] == list(CLASSES)
    mine = rated.people[np.array(classes) == 0]
    expected = stats.ttest_1samp(mine, 0).confidence_interval(0.95)
    assert (scores[0].mean, scores[0].low, scores[0].high) == pytest.approx((mine.mean(), expected.low, expected.high))
    # The second system's first six answer contexts 0 to 5, of which the first system's 2 to 5 are there, too.
    units = np.unique(rated.units[np.array(classes) == 0], return_inverse=True)[1]
    over = clustered_mean((mine - 1) / 4, units)
    assert scores[0].units == 12
    assert (scores[0].low_over_units, scores[0].high_over_units) == pytest.approx((1 + 4 * over.low, 1 + 4 * over.high))
    assert (scores[1].units, scores[1].low_over_units) == (5, None)
    assert (scores[2].mean, scores[2].low) == (pytest.approx(rated.people[-1]), None)


def test_tests_between_classes(rated):
    classes = np.arange(24) % 3
    pairs = class_pairs("m", rated, predicted(rated, classes))
    assert [(pair.first, pair.second) for pair in pairs] == [
        ("entailment", "neutral"),
        ("entailment", "contradiction"),
        ("neutral", "contradiction"),
    ]
    groups = [rated.people[classes == place] for place in range(3)]
    expected = [stats.ttest_ind(groups[a], groups[b], equal_var=False) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert [pair.t for pair in pairs] == pytest.approx([test.statistic for test in expected])
    assert [pair.p for pair in pairs] == pytest.approx([test.pvalue for test in expected])
    assert [pair.p_holm for pair in pairs] == pytest.approx(holm_corrected([test.pvalue for test in expected]))
    assert all(pair.g_low < pair.g < pair.g_high for pair in pairs)


def test_a_class_without_responses(rated):
    classes = np.zeros(24, int)
    assert [score.n for score in class_scores("m", rated, predicted(rated, classes))] == [24, 0, 0]
    assert class_scores("m", rated, predicted(rated, classes))[1].mean is None
    assert all(pair.p is None and pair.p_holm is None for pair in class_pairs("m", rated, predicted(rated, classes)))


def test_systems_and_true_responses(figure):
    found = {(count.corpus, count.system): count for count in figure.counts}
    assert [key for key in found if key[0] == "GRADE ConvAI2"] == [
        ("GRADE ConvAI2", "one"),
        ("GRADE ConvAI2", "two"),
        ("GRADE ConvAI2", "true responses"),
    ]
    assert ("FED", "true responses") not in found
    assert all(count.n == count.entailment + count.neutral + count.contradiction for count in figure.counts)
    for label, score in zip(CLASSES, figure.scores[:3], strict=True):
        systems = [found["GRADE ConvAI2", system] for system in ("one", "two")]
        assert sum(getattr(count, label) for count in systems) == score.n


def test_panels_hold_the_scores(figure):
    assert [panel.corpus for panel in figure.panels] == ["GRADE ConvAI2", "GRADE DailyDialog", "FED", "ConTurE"]
    for panel, scores in zip(figure.panels, np.reshape(figure.scores, (-1, 3)), strict=True):
        assert [len(panel.scores[label]) for label in CLASSES] == [score.n for score in scores]
        for score in scores:
            assert score.n == 0 or panel.scores[score.label].mean() == pytest.approx(score.mean)


def test_forms(figure):
    assert all(figure.render(form) for form in FORMATS)
    text = str(figure)
    for part in ("predicted class", "Hedges' g", "true responses", "no longer to be had", "independent"):
        assert part in text
    found = json.loads(figure.to_json())
    assert [len(found[part]) for part in ("classes", "pairs", "systems")] == [12, 12, 8]
    rows = list(csv.DictReader(io.StringIO(figure.to_csv())))
    assert [row["kind"] for row in rows] == ["class"] * 12 + ["pair"] * 12 + ["system"] * 8
    tests = {place: pair.t for place, pair in enumerate(figure.pairs) if pair.t is not None}
    assert len(tests) > 3
    assert {place: float(rows[12 + place]["t"]) for place in tests} == pytest.approx(tests)
