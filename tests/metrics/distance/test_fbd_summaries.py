"""Summaries of vectors: their sums and differences sum up what they hold, kept as vectors or as moments."""

import numpy as np
import pytest

from dialogauge.metrics.distance.fbd import PooledSample, VectorSummary, each_left_out, total
from dialogauge.metrics.distance.frechet import frechet_distance, frechet_terms
from tests.metrics.distance.rows import noise

D = 6
"""So that up to 12 vectors are kept."""
OTHER = noise(99, 40, D, shift=1) @ noise(98, D, D)


def vectors(n, seed=0):
    return noise(seed, n, D) @ noise(seed + 1, D, D) + 3


def pieces(rows, sizes):
    return np.split(rows, np.cumsum(sizes)[:-1])


def distance(summary, shrunk=False):
    return sum(frechet_terms(summary.gaussian(shrunk), VectorSummary.from_rows(OTHER).gaussian(shrunk)))


SIZES = [
    pytest.param([1, 2, 1], id="fewer than dimensions"),
    pytest.param([2, 0, 4], id="as many"),
    pytest.param([1, 6], id="one more"),
    pytest.param([5, 7], id="as many as are kept"),
    pytest.param([12, 1], id="one more than are kept"),
    pytest.param([10, 11, 9], id="vectors that become moments"),
    pytest.param([30, 3, 5, 0, 14], id="moments and vectors"),
    pytest.param([2, 20], id="vectors and moments"),
    pytest.param([13, 14, 15], id="moments"),
]


def test_vectors_are_kept_while_they_are_few():
    few, many = VectorSummary.from_rows(vectors(2 * D)), VectorSummary.from_rows(vectors(2 * D + 1))
    assert few.rows is not None
    assert few.summed is None
    assert many.rows is None
    assert many.summed is not None
    assert (few.n, few.width, many.n, many.width) == (12, 6, 13, 6)
    with pytest.raises(ValueError, match="vectors or moments"):
        _ = VectorSummary(None).moments


@pytest.mark.parametrize("sizes", SIZES)
def test_the_sum_of_clouds_is_the_cloud_of_all(sizes):
    rows = vectors(sum(sizes))
    summaries = [VectorSummary.from_rows(piece) for piece in pieces(rows, sizes)]
    expected = frechet_distance(rows, OTHER)
    one_by_one = summaries[0]
    for summary in summaries[1:]:
        one_by_one = one_by_one + summary
    for found in (total(summaries), total(summaries[::-1]), one_by_one):
        assert found.n == len(rows)
        assert (found.rows is None) == (len(rows) > 2 * D)
        assert distance(found) == pytest.approx(expected, rel=1e-10)
        assert distance(found, shrunk=True) == pytest.approx(
            distance(VectorSummary.from_rows(rows), shrunk=True), rel=1e-10
        )


def test_the_sum_of_one():
    rows = vectors(5)
    np.testing.assert_array_equal(total([VectorSummary.from_rows(rows)]).rows, rows)


@pytest.mark.parametrize("sizes", SIZES)
def test_a_part_taken_away(sizes):
    rows = vectors(sum(sizes))
    parts = pieces(rows, sizes)
    rest = np.concatenate(parts[1:])
    left = VectorSummary.from_rows(rows) - VectorSummary.from_rows(parts[0])
    assert left.n == len(rest)
    np.testing.assert_allclose(left.moments.mean, rest.mean(axis=0), rtol=1e-12)
    if len(rest) > 1:
        assert distance(left) == pytest.approx(frechet_distance(rest, OTHER), rel=1e-10)


def test_all_taken_away():
    summary = VectorSummary.from_rows(vectors(20))
    assert (summary - summary).n == 0
    assert distance(summary - summary + summary) == pytest.approx(distance(summary), rel=1e-10)


@pytest.mark.parametrize("sizes", SIZES)
def test_each_left_out_in_its_turn(sizes):
    rows = vectors(sum(sizes))
    parts = pieces(rows, sizes)
    left = list(each_left_out([VectorSummary.from_rows(part) for part in parts]))
    assert len(left) == len(parts)
    for place, summary in enumerate(left):
        rest = np.concatenate([*parts[:place], *parts[place + 1 :]])
        assert summary.n == len(rest)
        np.testing.assert_allclose(summary.moments.mean, rest.mean(axis=0), rtol=1e-12)
        if len(rest) > 1:
            assert distance(summary) == pytest.approx(frechet_distance(rest, OTHER), rel=1e-10)


def test_single_precision_is_kept_but_not_computed_in():
    rows = (vectors(40) + 1000).astype(np.float32)
    for some in (rows[:5], rows):
        summary = VectorSummary.from_rows(some[:3]) + VectorSummary.from_rows(some[3:])
        assert summary.rows is None or summary.rows.dtype == np.float32
        exact = frechet_distance(some.astype(np.float64), OTHER)
        # Squares of thousands in single precision are off by 0.1.
        assert distance(summary) == pytest.approx(exact, rel=1e-10)


POOLS = {
    "fewer than dimensions": noise(3, 24, 40, shift=2),
    "more than dimensions": noise(4, 90, 12, shift=2) @ noise(5, 12, 12),
    "equal ones": np.repeat(noise(6, 12, 40), 3, axis=0),
    "more equal ones than dimensions": np.repeat(noise(6, 30, 40), 3, axis=0),
    "no variance in some dimensions": noise(7, 120, 9) @ noise(8, 9, 12) + 2,
    "none at all": np.ones((12, 3)),
}


@pytest.mark.parametrize("mean", ["squared", "norm"])
@pytest.mark.parametrize("name", POOLS)
def test_sums_within_a_pool(name, mean):
    """Of any summaries, some of them left out, large ones against small ones."""
    rows = POOLS[name].astype(np.float32)
    summaries = [VectorSummary(part) for part in np.array_split(rows, 12)]
    pool = PooledSample.pooled(summaries)
    for seed in range(6):
        to = np.random.default_rng(seed).choice(3, size=12, p=[0.2, 0.2, 0.6] if seed % 2 else [0.1, 0.45, 0.45])
        x, y = (
            [summary.rows for summary, where in zip(summaries, to, strict=True) if where == side] for side in (1, 2)
        )
        found = sum(pool.terms(to == 1, to == 2, mean))
        if min(sum(map(len, x)), sum(map(len, y))) < 2:
            assert np.isnan(found)
        else:
            expected = frechet_distance(np.concatenate(x), np.concatenate(y), mean)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_singular_values_are_not_needed_where_vectors_repeat_or_a_dimension_is_flat(monkeypatch):
    monkeypatch.setattr("numpy.linalg.svd", None)
    monkeypatch.setattr("dialogauge.metrics.distance.frechet._roots", None)
    for name in ("equal ones", "no variance in some dimensions"):
        pool = PooledSample.pooled([VectorSummary(part) for part in np.array_split(POOLS[name], 2)])
        assert sum(pool.terms(np.array([True, False]), np.array([False, True]), "squared")) > 0


def test_pools_are_of_vectors_and_bounded(monkeypatch):
    summaries = [VectorSummary(noise(1, 5, 4)), VectorSummary(noise(2, 5, 4))]
    assert PooledSample.fits(summaries)
    assert not PooledSample.fits([*summaries, VectorSummary.from_rows(noise(3, 50, 4))])
    monkeypatch.setattr("dialogauge.metrics.distance.fbd.POOLED", 39)
    assert not PooledSample.fits(summaries)
