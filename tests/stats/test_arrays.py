"""Angles and lengths of vectors; small decompositions are not shared out to threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dialogauge import Corpus, Turn, compare, evaluate
from dialogauge.metrics.dialogue.length import Length
from dialogauge.stats.arrays import cosine, group_means, one_blas_thread, settled, unit_rows


def test_angles_and_lengths_by_hand():
    assert cosine(np.array([3.0, 4]), np.array([4.0, 3])) == pytest.approx(24 / 25)
    assert cosine(np.zeros(2), np.ones(2)) == 0
    assert unit_rows(np.array([[0.0, 0], [3, 4]])).tolist() == [[0, 0], [0.6, 0.8]]


def test_means_of_groups():
    # 1 and 3, then 5 alone.
    assert group_means(np.array([1.0, 5, 3]), np.array([0, 1, 0])).tolist() == [2, 5]


def test_means_that_differ_by_rounding_are_equal():
    one, other = settled(np.array([0.1 + 0.2, 0.3]))
    assert one == other
    assert settled(np.array([1e-300]))[0] == pytest.approx(1e-300, rel=1e-11)


def blas_threads():
    np.linalg.eigvalsh(np.eye(2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("the linear algebra library has one thread only")
        yield


def test_only_inside(two_threads):
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.parametrize("run", [evaluate, compare])
def test_runs_measure_and_resample_on_one_thread(run, monkeypatch, two_threads):
    seen = []
    for method in ("measure", "conclude"):
        original = getattr(Length, method)
        monkeypatch.setattr(Length, method, lambda *given, plain=original: seen.append(blas_threads()) or plain(*given))
    run(Corpus([Turn(str(i), "word " * i, system=system) for i in range(1, 5) for system in "ab"]), "length")
    assert len(seen) > 2
    assert all(threads == {1} for threads in seen)
    assert blas_threads() == {2}
