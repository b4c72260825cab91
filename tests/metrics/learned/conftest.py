"""Turns of few words, and what every learned metric obeys."""

import numpy as np
import pytest
from hypothesis import strategies as st

from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from tests.learned.small import WORDS, write_vectors

TEXTS = st.lists(st.sampled_from([*WORDS, "unheard-of", "😀"]), max_size=6).map(" ".join)
TURNS = st.lists(
    st.builds(
        lambda response, context, references: Turn("", response, tuple(context), tuple(references)),
        TEXTS,
        st.lists(TEXTS, min_size=1, max_size=3),
        st.lists(TEXTS, min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=10,
)
OPENED = Encoders()


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The name of an encoder of ten words."""
    return write_vectors(tmp_path_factory.mktemp("vectors") / "ten.txt")


def ready(cls, directory, **options):
    """The metric with the model of a directory, ready to measure."""
    return cls(model=str(directory), **options).prepare(Corpus([]), encoders=OPENED)


def turns(*rows):
    """Of a response and its context each."""
    return [Turn(str(place), response, context=tuple(context)) for place, (response, *context) in enumerate(rows)]


def concluded(metric, rows, weights=None):
    return metric.metric.conclude(metric.metric.summarise(rows, weights))


def check_contract(metric, said, data, rtol=0.0, atol=0.0):
    """Rows are the same whatever the order, the batches and the neighbours; summaries add, and weights are repetitions.
    Gives the rows and the values."""
    rows = metric.measure(said)
    assert len(rows) == len(said)
    order = data.draw(st.permutations(range(len(said))))
    np.testing.assert_allclose(metric.measure([said[i] for i in order]), rows[order], rtol=rtol, atol=atol)
    size = data.draw(st.integers(1, 4))
    batches = [metric.measure(said[start : start + size]) for start in range(0, len(said), size)]
    np.testing.assert_allclose(metric.metric.join(batches), rows, rtol=rtol, atol=atol)
    values = concluded(metric, rows)
    total = metric.metric.conclude(metric.metric.summarise(rows[:1]) + metric.metric.summarise(rows[1:]))
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(said), max_size=len(said)))
    repeated = concluded(metric, rows[np.repeat(np.arange(len(said)), weights)])
    weighted = concluded(metric, rows, np.array(weights, float))
    assert list(values) == list(weighted)
    for part, value in values.items():
        assert total[part] == pytest.approx(value, rel=1e-12, nan_ok=True)
        assert weighted[part] == pytest.approx(repeated[part], rel=1e-12, nan_ok=True)
    return rows, values
