"""Distances do not depend on the order of a file, in which turns without ids are numbered, nor on the other systems."""

from collections import Counter
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.encode.encoders import Encoders
from dialogauge.metrics.distance.prd import Prd
from tests.metrics.distance.rows import Placed, noise

N, SYSTEMS = 30, ("a", "b", "c")
VECTORS = dict(zip([f"{kind} {i}" for kind in ("real", *SYSTEMS) for i in range(N)], noise(0, 4 * N, 5), strict=True))
TURNS = [
    Turn("", f"{system} {i}", context=f"question {i}", references=f"real {i}", system=system)
    for system in SYSTEMS
    for i in range(N)
]
METRICS = "fbd,mmd,prdc,prd[clusters=5,runs=3]"


def scores(turns):
    seen = Counter()
    numbered = []
    for turn in turns:
        numbered.append(replace(turn, id=str(seen[turn.system])))
        seen[turn.system] += 1
    result = evaluate(Corpus(numbered), METRICS, cache=False)
    return {
        (score.system, score.metric): np.array([score.value, score.low, score.high, score.floor, score.p], np.float64)
        for score in result.scores
    }


@pytest.fixture(scope="module", autouse=True)
def known_vectors():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Encoders, "get", lambda *_: Placed(VECTORS))
        yield


@pytest.fixture(scope="module")
def expected(known_vectors):
    return scores(TURNS)


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_turns(expected, seed):
    found = scores(Random(seed).sample(TURNS, len(TURNS)))
    assert found.keys() == expected.keys()
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-9, atol=1e-12, err_msg=str(name))


@pytest.mark.parametrize("seed", range(3))
def test_prd_encodes_the_same_texts_together(seed):
    """What stands beside a text changes its last digits, by which a vector may fall to another cluster."""

    class Noting(Placed):
        def pooled(self, texts, *options):
            asked.append(sorted(set(texts)))
            return super().pooled(texts, *options)

    calls = []
    for turns in (TURNS, Random(seed).sample(TURNS, len(TURNS))):
        asked = []
        Prd().prepare(Corpus(turns), None, SimpleNamespace(get=lambda *_: Noting(VECTORS)))
        calls.append(asked)
    assert calls[0] == calls[1]
    assert len(calls[0]) == len(SYSTEMS)


def test_a_system_alone(expected):
    for name, values in scores([turn for turn in TURNS if turn.system == "b"]).items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-9, atol=1e-12, err_msg=str(name))
