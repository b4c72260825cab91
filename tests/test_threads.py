"""Small decompositions are not shared out to threads."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dialogauge import Corpus, Turn, compare, evaluate
from dialogauge.metrics.length import Length
from dialogauge.threads import one_blas_thread


def blas_threads():
    np.linalg.eigvalsh(np.eye(2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("the linear algebra library has one thread only")
        yield


def test_only_inside():
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.parametrize("run", [evaluate, compare])
def test_runs_measure_and_resample_on_one_thread(run, monkeypatch):
    seen = []
    for method in ("measure", "conclude"):
        original = getattr(Length, method)
        monkeypatch.setattr(Length, method, lambda *given, plain=original: seen.append(blas_threads()) or plain(*given))
    run(Corpus([Turn(str(i), "word " * i, system=system) for i in range(1, 5) for system in "ab"]), "length")
    assert len(seen) > 2
    assert all(threads == {1} for threads in seen)
    assert blas_threads() == {2}
