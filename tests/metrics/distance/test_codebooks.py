"""Clusterings of the union of real and generated vectors, PRD on them, and its curve."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.errors import InputError, MissingPackage
from dialogauge.metrics.distance import codebooks as module
from dialogauge.metrics.distance.codebooks import (
    assign,
    codebooks,
    f_beta,
    histograms,
    minibatch_codebooks,
    prd,
    prd_curve,
    prd_of_histograms,
)
from tests.metrics.distance.rows import noise


def modes(seed, places, n=40, d=8):
    """Rows around far points, as many around each."""
    return np.concatenate([noise(seed + place, n, d, shift=50 * place) for place in places])


def by_loops(vectors, centres):
    return [[int(np.argmin([((row - c) ** 2).sum() for c in run])) for row in vectors] for run in centres]


@pytest.mark.parametrize(("n", "d"), [(30, 5), (12, 64)])
def test_centres_are_the_means_of_what_falls_to_them(n, d):
    real, generated = noise(0, n, d), noise(1, n, d, shift=0.3)
    union = np.concatenate([real, generated])
    centres = codebooks(real, generated, clusters=4, runs=3)
    labels = assign(union, centres)
    assert centres.shape == (3, 4, d)
    assert labels.tolist() == by_loops(union, centres)
    for run in range(3):
        means = [union[labels[run] == code].mean(axis=0) for code in range(4)]
        np.testing.assert_allclose(centres[run], means, atol=1e-9)


def test_separate_groups_are_found_by_every_run():
    union = modes(0, range(5), n=6)
    centres = codebooks(union[::2], union[1::2], clusters=5)
    for labels in assign(union, centres):
        assert len({tuple(group) for group in labels.reshape(5, 6)}) == 5
        assert (labels.reshape(5, 6) == labels.reshape(5, 6)[:, :1]).all()


def test_both_sides_weigh_the_same():
    # On a line, with one centre: the mean of the means, (0 + 8) / 2, not that of the rows, 8 / 10.
    real, generated = np.zeros((9, 1)), np.full((1, 1), 8.0)
    assert codebooks(real, generated, clusters=1, runs=1) == pytest.approx(4)


def test_seeds_runs_and_the_order_of_rows():
    real, generated = noise(2, 50, 10), noise(3, 40, 10)
    centres = codebooks(real, generated, clusters=6)
    np.testing.assert_array_equal(codebooks(real[::-1], np.asfortranarray(generated[::-1]), clusters=6), centres)
    np.testing.assert_allclose(codebooks(generated, real, clusters=6), centres, atol=1e-9)
    np.testing.assert_allclose(codebooks(real, generated, clusters=6, runs=2), centres[:2], atol=1e-9)
    assert not np.allclose(codebooks(real, generated, clusters=6, seed=1), centres)
    assert not np.allclose(centres[0], centres[1])


def test_rounding_of_vectors_changes_no_clustering():
    # Pairs of rows near to each other alone: as a centre, either spares the same, so that sums tie but for rounding.
    middles = noise(4, 20, 100)
    real, generated = middles + 0.3 * noise(5, 20, 100), middles + 0.3 * noise(6, 20, 100)
    options = {"clusters": 12, "runs": 50, "in_order": True}
    centres = codebooks(real, generated, **options)
    for seed in range(10):
        shaken = [side + 1e-7 * noise(seed, 20, 100) for side in (real, generated)]
        np.testing.assert_allclose(codebooks(*shaken, **options), centres, atol=1e-5)


def test_large_sides_are_drawn_from(monkeypatch):
    monkeypatch.setattr(module, "FIT_ROWS", 30)
    monkeypatch.setattr(module, "START_ROWS", 25)
    real, generated = modes(0, (0, 1), n=200), modes(9, (0, 1), n=20)
    centres = codebooks(real, generated, clusters=2)
    np.testing.assert_array_equal(codebooks(real, generated, clusters=2), centres)
    for run in assign(real, centres):
        assert (run[:200] == run[0]).all()
        assert (run[200:] == 1 - run[0]).all()


def test_fewer_distinct_rows_than_clusters():
    rows = np.repeat(noise(4, 3, 40), [1, 5, 9], axis=0)
    centres = codebooks(rows, rows[:7], clusters=20)
    assert (np.isfinite(centres).all(axis=2).sum(axis=1) == 3).all()
    assert (np.isnan(centres).all(axis=2).sum(axis=1) == 17).all()
    for labels in assign(rows, centres):
        assert len(set(labels)) == 3
        assert len(set(labels[1:6])) == len(set(labels[6:])) == 1
    assert prd(rows, rows).f1 == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 6])
def test_rows_that_all_agree(n):
    same = np.full((n, 3), 0.1)
    assert prd(same, same[:1]).f1 == pytest.approx(1)
    assert prd(same, same + 1).f1 == pytest.approx(0)
    assert prd(np.zeros((n, 3)), -np.zeros((n, 3))).f1 == pytest.approx(1)


def test_a_label_does_not_depend_on_the_rows_beside_it(monkeypatch):
    # On a lattice many rows are as near to one centre as to another.
    lattice = np.random.default_rng(0).integers(0, 3, (300, 4)) / 10
    centres = lattice[:20].reshape(2, 10, 4)
    whole = assign(lattice, centres)
    monkeypatch.setattr("dialogauge.stats.arrays.BLOCK", 60)
    np.testing.assert_array_equal(assign(lattice, centres), whole)
    np.testing.assert_array_equal(assign(lattice[::-1], centres)[:, ::-1], whole)
    # 0 is as near to 1 as to -1: the first of them.
    assert assign(np.zeros((1, 1)), np.array([[[1.0], [-1.0]]])).tolist() == [[0]]


def test_histograms_by_hand():
    labels = np.array([[0, 2, 2], [1, 1, 1]])
    assert histograms(labels, 4).tolist() == [[1, 0, 2, 0], [0, 3, 0, 0]]


@pytest.mark.parametrize("fit", [codebooks, minibatch_codebooks])
@pytest.mark.parametrize(
    ("real", "generated", "precision", "recall"),
    [
        pytest.param((0, 1), (0, 0), 1, 0.5, id="(a) one mode of two"),
        pytest.param((0, 0), (0, 1), 0.5, 1, id="(b) the opposite"),
        pytest.param((0, 1), (0, 1), 1, 1, id="(c) the same"),
        pytest.param((0, 0), (1, 1), 0, 0, id="(d) disjoint"),
    ],
)
def test_cases_of_section_3_2(fit, real, generated, precision, recall):
    if fit is minibatch_codebooks:
        pytest.importorskip("sklearn")
    found = prd(modes(0, real), modes(0, generated), clusters=2, runs=3, fit=fit)
    assert found.precision.max() == pytest.approx(precision)
    assert found.recall.max() == pytest.approx(recall)
    # F8 is nearly recall, F1/8 nearly precision.
    assert found.f8 == pytest.approx(recall, abs=0.02)
    assert found.f1_8 == pytest.approx(precision, abs=0.02)
    harmonic = 2 * precision * recall / (precision + recall) if precision else 0
    assert found.f1 == pytest.approx(harmonic, abs=2e-3)
    np.testing.assert_allclose(found.run_f1, found.f1, atol=1e-9)


def test_the_curve_is_the_mean_over_runs():
    real, generated = noise(5, 60, 6), noise(6, 45, 6, shift=0.5)
    found = prd(real, generated)
    assert found.precision.shape == found.recall.shape == (1001,)
    assert found.run_f1.shape == (10,)
    assert 0 < found.run_f1.std() < 0.1
    assert found.f1 == pytest.approx(found.run_f1.mean(), abs=0.05)
    order = np.random.default_rng(0).permutation(60)
    assert prd(real[order], generated).f1 == pytest.approx(found.f1, abs=1e-12)
    changed = prd(generated, real)
    assert (changed.f1, changed.f8) == pytest.approx((found.f1, found.f1_8), abs=1e-9)
    assert prd(real, real).run_f1 == pytest.approx(np.ones(10))


def test_equal_overlaps_tie_whatever_the_order_of_codes_and_runs():
    rng = np.random.default_rng(0)
    sides = rng.multinomial(60, [1 / 20] * 20, (2, 10)).astype(float)
    found = set()
    for _ in range(20):
        real, generated = sides[:, rng.permutation(10)][..., rng.permutation(20)]
        result = prd_of_histograms(real, generated)
        found.add((result.f1, result.f8, result.f1_8))
    assert len(found) == 1


def test_an_empty_side():
    found = prd(np.empty((0, 3)), noise(0, 5, 3), runs=4)
    assert np.isnan([found.f1, found.f8, found.f1_8, *found.run_f1, *found.precision, *found.recall]).all()
    assert found.run_f1.shape == (4,)


def test_errors_say_what_was_found():
    rows = noise(0, 5, 3)
    with pytest.raises(InputError, match="5 real, 0 generated"):
        codebooks(rows, rows[:0])
    with pytest.raises(InputError, match=r"found shapes \(5, 3\) and \(5, 2\)"):
        codebooks(rows, rows[:, :2])
    with pytest.raises(InputError, match="at least 1 cluster; found 0"):
        codebooks(rows, rows, clusters=0)
    with pytest.raises(InputError, match=r"\(n, 3\); found shape \(5, 2\)"):
        assign(rows[:, :2], rows[None])
    with pytest.raises(InputError, match="vector 2 of 5 holds NaN"):
        codebooks(np.where(np.arange(5)[:, None] == 2, np.nan, rows), rows)
    with pytest.raises(InputError, match="vector 4 of 5 holds NaN"):
        assign(np.where(np.arange(5)[:, None] == 4, np.inf, rows), rows[None])
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match=r"clusters \(20\); found 10"):
        minibatch_codebooks(rows, rows)


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(MissingPackage, match="needs the package scikit-learn"):
        minibatch_codebooks(noise(0, 30, 3), noise(1, 30, 3))
    assert prd(noise(0, 30, 3), noise(0, 30, 3)).f1 == pytest.approx(1)


def curve_by_loops(real, generated, angles):
    precision, recall = [], []
    for number in range(angles):
        angle = 1e-10 + number * (math.pi / 2 - 2e-10) / (angles - 1)
        slope = math.tan(angle)
        precision.append(sum(min(slope * p, q) for p, q in zip(real, generated, strict=True)))
        recall.append(sum(min(p, q / slope) for p, q in zip(real, generated, strict=True)))
    return precision, recall


def histogram(seed, bins):
    counts = np.random.default_rng(seed).integers(0, 6, bins) + (np.arange(bins) == seed % bins)
    return counts / counts.sum()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 25), st.sampled_from([2, 11, 101]))
def test_the_curve_equals_its_definition(seed, bins, angles):
    real, generated = histogram(seed, bins), histogram(seed + 1, bins)
    for found, expected in zip(
        prd_curve(real, generated, angles), curve_by_loops(real, generated, angles), strict=True
    ):
        # The last slopes, near 1e10, depend on the last digits of their angles.
        np.testing.assert_allclose(found[:-1], expected[:-1], atol=1e-12, rtol=0)
        assert found[-1] == pytest.approx(expected[-1], abs=1e-9)


def test_the_curve_by_hand():
    # Three angles: slopes 1e-10, 1 and 1e10. At 1: min(.5, .25) + min(.5, .25) + min(0, .5) = .5, as recall too.
    # At the ends: as much precision as lies where real rows are, .5, and all of the recall, 1.
    precision, recall = prd_curve([0.5, 0.5, 0], [0.25, 0.25, 0.5], angles=3)
    np.testing.assert_allclose(precision, [0, 0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(recall, [1, 0.5, 0], atol=1e-9)
    # F1 at slope 1 is .5; at slope 1/2, precision .5 and recall 1: 2/3, found to the resolution of the angles.
    assert f_beta(*prd_curve([0.5, 0.5, 0], [0.25, 0.25, 0.5]), 1) == pytest.approx(2 / 3, abs=1e-3)


@pytest.mark.parametrize(
    ("real", "generated", "precision", "recall"),
    [
        pytest.param([1, 1], [2, 0], 1, 0.5, id="(a) one mode of two"),
        pytest.param([2, 0], [1, 1], 0.5, 1, id="(b) the opposite"),
        pytest.param([3, 1], [3, 1], 1, 1, id="(c) the same"),
        pytest.param([2, 0], [0, 2], 0, 0, id="(d) disjoint"),
    ],
)
def test_curves_of_section_3_2(real, generated, precision, recall):
    curve = prd_curve(real, generated)
    assert curve[0].max() == pytest.approx(precision)
    assert curve[1].max() == pytest.approx(recall)
    harmonic = 2 * precision * recall / (precision + recall) if precision else 0
    assert f_beta(*curve, 1) == pytest.approx(harmonic, abs=2e-3)


def test_beta_above_one_is_about_recall():
    lost = prd_curve([1, 1], [2, 0])
    assert f_beta(*lost, 8) < 0.52 < 0.95 < f_beta(*lost, 1 / 8)
    invented = prd_curve([2, 0], [1, 1])
    assert f_beta(*invented, 8) == pytest.approx(f_beta(*lost, 1 / 8), abs=1e-9)
    # (1 + 64) · .5 · 1 / (64 · .5 + 1) at slope 1/2, where precision is .5 and recall 1.
    assert f_beta(np.array([0.5]), np.array([1.0]), 8) == pytest.approx(32.5 / 33)
    assert f_beta(np.zeros(3), np.zeros(3), 1) == 0


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 25))
def test_properties_of_the_curve(seed, bins):
    real, generated = histogram(seed, bins), histogram(seed + 1, bins)
    precision, recall = prd_curve(real, generated)
    assert ((precision >= 0) & (precision <= 1) & (recall >= 0) & (recall <= 1)).all()
    assert (np.diff(precision) >= -1e-12).all()
    assert (np.diff(recall) <= 1e-12).all()
    # With sides changed the curve is read from its other end.
    back = prd_curve(generated, real)
    np.testing.assert_allclose(back[0][1:-1], recall[::-1][1:-1], atol=1e-9)
    order = np.random.default_rng(seed).permutation(bins)
    np.testing.assert_allclose(prd_curve(real[order], generated[order]), (precision, recall), atol=1e-12)
    # Counts are as good as shares.
    np.testing.assert_allclose(prd_curve(7 * real, 3 * generated), (precision, recall), atol=1e-12)


def test_axes_before_the_bins():
    real = np.stack([histogram(seed, 6) for seed in range(8)]).reshape(4, 2, 6)
    generated = np.stack([histogram(seed, 6) for seed in (20, 21)])
    precision, recall = prd_curve(real, generated, angles=31)
    assert precision.shape == recall.shape == (4, 2, 31)
    np.testing.assert_allclose(precision[3, 1], prd_curve(real[3, 1], generated[1], angles=31)[0], atol=1e-15)
    best = f_beta(precision, recall, 8)
    assert best.shape == (4, 2)
    assert best[2, 0] == f_beta(precision[2, 0], recall[2, 0], 8)


def test_what_is_no_histogram():
    precision, recall = prd_curve([[0, 0], [1, 1]], [1, 1])
    assert np.isnan(precision[0]).all()
    assert np.isnan(f_beta(precision, recall, 1)[0])
    assert f_beta(precision, recall, 1)[1] == pytest.approx(1)
    with pytest.raises(InputError, match=r"same bins; found shapes \(2,\) and \(3,\)"):
        prd_curve([1, 1], [1, 1, 1])
    with pytest.raises(InputError, match="no negative bins; found -1"):
        prd_curve([1, -1], [1, 1])
    with pytest.raises(InputError, match="at least 2 angles; found 1"):
        prd_curve([1, 1], [1, 1], angles=1)
