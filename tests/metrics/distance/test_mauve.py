"""MAUVE of histograms, of vectors and of a corpus."""

import math

import numpy as np
import pytest

from dialogauge.errors import InputError
from dialogauge.metrics.distance.codebooks import assign, codebooks, histograms
from dialogauge.metrics.distance.mauve import Mauve, divergence_curve, mauve_of_histograms
from dialogauge.metrics.distance.paired_rows import PairedSummary
from dialogauge.metrics.distance.prd import Histograms
from dialogauge.metrics.registry import parse_request

GOLDEN = [
    ([17, 12, 10, 5, 6, 0, 1, 0, 3, 16, 12, 18], [10, 12, 19, 14, 12, 10, 11, 18, 5, 16, 13, 0], 0.4077616066193819),
    ([7, 17, 11, 0, 15, 14, 16, 3, 1, 17, 0, 10], [1, 5, 9, 8, 8, 0, 0, 2, 0, 13, 10, 12], 0.2852151005012231),
    ([5, 12, 15, 7, 9, 19, 16, 19, 7, 13, 19, 13], [16, 13, 14, 7, 17, 2, 11, 14, 16, 10, 7, 6], 0.8239419417222531),
]
"""From mauve-text 0.4.0: `get_divergence_curve_for_multinomials` at its 25 weights and scaling factor 5, and the mean
of scikit-learn's `auc` over both axes, as in `compute_mauve`."""


@pytest.mark.parametrize(("real", "generated", "expected"), GOLDEN)
def test_equals_mauve_text(real, generated, expected):
    assert mauve_of_histograms(real, generated) == pytest.approx(expected, rel=1e-12)


def test_values_derived_by_hand():
    # The same shares: every mixture is both sides, all divergences are 0, and the area is that of the unit square.
    assert mauve_of_histograms([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    # Nothing in common: KL(Q|R) = -log(1 - λ) and KL(P|R) = -log λ, so that points are ((1 - λ)^c, λ^c). With c = 1
    # they lie on the line from (1, 0) to (0, 1): the area is 1/2.
    assert mauve_of_histograms([1, 0], [0, 1], scale=1) == pytest.approx(0.5, abs=1e-6)
    # With c = 5 the area under y = (1 - x^(1/5))^5 is Γ(6)² / Γ(11) = 1/252; 25 points see a little more.
    assert mauve_of_histograms([1, 0], [0, 1]) == pytest.approx(1 / 252, rel=0.05)


@pytest.mark.parametrize("counts", [[1], [1, 1], [3, 0, 1], [7, 7, 7, 11], [*range(30)]], ids=len)
@pytest.mark.parametrize("times", [1, 2, 3, 7])
def test_equal_shares_have_one_whatever_rounding_leaves_of_their_divergence(counts, times):
    assert mauve_of_histograms(counts, np.multiply(counts, times)) == pytest.approx(1)


def test_the_curve_goes_from_one_end_to_the_other():
    curve = divergence_curve([3, 1, 0], [1, 1, 2])
    assert curve.shape == (27, 2)
    assert curve[0].tolist() == [1, 0]
    assert curve[-1].tolist() == [0, 1]
    # P = (3/4, 1/4, 0) and Q = (1/4, 1/4, 1/2); at λ = 1/2, R = (1/2, 1/4, 1/4).
    to_q = 0.25 * math.log(0.25 / 0.5) + 0.5 * math.log(0.5 / 0.25)
    to_p = 0.75 * math.log(0.75 / 0.5)
    np.testing.assert_allclose(curve[13], np.exp([-5 * to_q, -5 * to_p]))


def test_sides_may_change_places_and_runs_lie_before():
    real, generated, expected = zip(*GOLDEN, strict=True)
    np.testing.assert_allclose(mauve_of_histograms(real, generated), expected, rtol=1e-12)
    np.testing.assert_allclose(mauve_of_histograms(generated, real), expected, rtol=1e-12)
    with pytest.raises(InputError, match="histograms over the same bins"):
        mauve_of_histograms([1, 2], [1, 2, 3])


def same_distribution(n, clusters):
    """The score of two samples of one distribution."""
    draw = np.random.default_rng(n)
    sides = [draw.normal(size=(n, 6)) for _ in range(2)]
    centres = codebooks(*sides, clusters, 3)
    return float(mauve_of_histograms(*(histograms(assign(side, centres), clusters) for side in sides)).mean())


def test_chance_lowers_the_score_of_small_samples():
    """As docs/metrics/mauve.md says: two samples of one distribution, 20 clusters."""
    scores = [same_distribution(n, 20) for n in (25, 100, 800)]
    assert scores[0] < 0.6 < scores[1] < scores[2]
    assert scores[2] > 0.97


def test_few_vectors_for_each_cluster_are_said():
    metric = Mauve()
    few, many = (
        PairedSummary(n, 0, Histograms(n, np.ones((10, 20))), Histograms(n, np.ones((10, 20)))) for n in (199, 200)
    )
    (said,) = metric.caveats_of_systems({"a": few}, {"a": 199})
    assert said.code == "few_vectors"
    assert "199 vectors on a side for 20 clusters" in said.message
    assert metric.caveats_of_systems({"a": many}, {"a": 200}) == []
    assert metric.conclude(many)[""] == pytest.approx(1)
    nothing = Histograms(0, np.zeros((10, 20)))
    assert math.isnan(metric.conclude(PairedSummary(0, 0, nothing, nothing))[""])


def test_options():
    metric = parse_request("mauve[clusters=5,scale=1].spread").metric
    assert (metric.clusters, metric.scale, metric.judged) == (5, 1, ("",))
    with pytest.raises(InputError, match="mauve: scale is 0; expected a number above 0"):
        Mauve(scale=0)
