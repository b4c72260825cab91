"""Clouds of vectors: their sums and differences are the clouds of what they hold, kept as vectors or as moments."""

import numpy as np
import pytest

from dialogauge.metrics.clouds import Cloud, each_left_out, total
from dialogauge.metrics.frechet import frechet_distance, frechet_terms
from tests.metrics.rows import noise

D = 6
"""So that up to 12 vectors are kept."""
OTHER = noise(99, 40, D, shift=1) @ noise(98, D, D)


def vectors(n, seed=0):
    return noise(seed, n, D) @ noise(seed + 1, D, D) + 3


def pieces(rows, sizes):
    return np.split(rows, np.cumsum(sizes)[:-1])


def distance(cloud, shrunk=False):
    return sum(frechet_terms(cloud.gaussian(shrunk), Cloud.of(OTHER).gaussian(shrunk)))


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
    few, many = Cloud.of(vectors(2 * D)), Cloud.of(vectors(2 * D + 1))
    assert few.rows is not None
    assert few.summed is None
    assert many.rows is None
    assert many.summed is not None
    assert (few.n, few.width, many.n, many.width) == (12, 6, 13, 6)
    with pytest.raises(ValueError, match="vectors or moments"):
        _ = Cloud(None).moments


@pytest.mark.parametrize("sizes", SIZES)
def test_the_sum_of_clouds_is_the_cloud_of_all(sizes):
    rows = vectors(sum(sizes))
    clouds = [Cloud.of(piece) for piece in pieces(rows, sizes)]
    expected = frechet_distance(rows, OTHER)
    one_by_one = clouds[0]
    for cloud in clouds[1:]:
        one_by_one = one_by_one + cloud
    for found in (total(clouds), total(clouds[::-1]), one_by_one):
        assert found.n == len(rows)
        assert (found.rows is None) == (len(rows) > 2 * D)
        assert distance(found) == pytest.approx(expected, rel=1e-10)
        assert distance(found, shrunk=True) == pytest.approx(distance(Cloud.of(rows), shrunk=True), rel=1e-10)


def test_the_sum_of_one():
    rows = vectors(5)
    np.testing.assert_array_equal(total([Cloud.of(rows)]).rows, rows)


@pytest.mark.parametrize("sizes", SIZES)
def test_a_part_taken_away(sizes):
    rows = vectors(sum(sizes))
    parts = pieces(rows, sizes)
    rest = np.concatenate(parts[1:])
    left = Cloud.of(rows) - Cloud.of(parts[0])
    assert left.n == len(rest)
    np.testing.assert_allclose(left.moments.mean, rest.mean(axis=0), rtol=1e-12)
    if len(rest) > 1:
        assert distance(left) == pytest.approx(frechet_distance(rest, OTHER), rel=1e-10)


def test_all_taken_away():
    cloud = Cloud.of(vectors(20))
    assert (cloud - cloud).n == 0
    assert distance(cloud - cloud + cloud) == pytest.approx(distance(cloud), rel=1e-10)


@pytest.mark.parametrize("sizes", SIZES)
def test_each_left_out_in_its_turn(sizes):
    rows = vectors(sum(sizes))
    parts = pieces(rows, sizes)
    left = list(each_left_out([Cloud.of(part) for part in parts]))
    assert len(left) == len(parts)
    for place, cloud in enumerate(left):
        rest = np.concatenate([*parts[:place], *parts[place + 1 :]])
        assert cloud.n == len(rest)
        np.testing.assert_allclose(cloud.moments.mean, rest.mean(axis=0), rtol=1e-12)
        if len(rest) > 1:
            assert distance(cloud) == pytest.approx(frechet_distance(rest, OTHER), rel=1e-10)


def test_single_precision_is_kept_but_not_computed_in():
    rows = (vectors(40) + 1000).astype(np.float32)
    for some in (rows[:5], rows):
        cloud = Cloud.of(some[:3]) + Cloud.of(some[3:])
        assert cloud.rows is None or cloud.rows.dtype == np.float32
        exact = frechet_distance(some.astype(np.float64), OTHER)
        # Squares of thousands in single precision are off by 0.1.
        assert distance(cloud) == pytest.approx(exact, rel=1e-10)
