"""What the metric contract promises, for every metric there is."""

import atexit
import math
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.metrics.registry import COMPAT, known_names, parse_request
from tests.encode.models import build
from tests.models.small import write_entailment, write_ruber

WORDS = st.lists(st.sampled_from("the a cat cats dog runs ran home . ? 你好 😀 it's".split()), max_size=9).map(" ".join)
SAID = ["the cat .", "你好 ?", ""]
TURNS = st.lists(
    st.builds(
        lambda response, context, references, value: Turn("", response, context, references, extra={"x": value}),
        WORDS,
        st.lists(st.sampled_from(SAID), min_size=1, max_size=2).map(tuple),
        st.lists(WORDS, min_size=1, max_size=2).map(tuple),
        st.floats(-5, 5) | st.none(),
    ),
    min_size=1,
    max_size=12,
)
METRICS = [
    *((name if name != "column" else "column[name=x]", None) for name in known_names()),
    *(
        (name if name != "prd" else "prd[clusters=2]", compat)
        for compat, variants in COMPAT.items()
        for name in variants
    ),
]
every_metric = pytest.mark.parametrize("wanted", METRICS, ids=lambda wanted: "-".join(filter(None, wanted)))
examples = settings(max_examples=60, deadline=None, derandomize=True)


ENCODERS = Encoders()
"""One for all examples, so that a model is loaded once."""
FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)


@cache
def small_model():
    return str(build("bert", Path(FOLDER.name) / "bert"))


@cache
def small_ruber(name):
    """The metric of this name, with a model of random weights for the small encoder. It looks at no corpus."""
    encoder = small_model()
    network = {"ruber": "ruber", "ruber_unreferenced": "towers"}[name]
    directory = Path(FOLDER.name) / name
    layers = {"opened": ENCODERS.get(encoder), "layers": (3, 1), "context": 2, "pool": "mean"}
    write_ruber(directory, encoder, network=network, **layers)
    request = parse_request(f"{name}[model={directory}]", None, {"encoder": encoder})
    return request.metric.prepare(Corpus([]), encoders=ENCODERS)


@cache
def small_entailment():
    """The same for entailment, with low-rank adapters."""
    encoder = small_model()
    directory = Path(FOLDER.name) / "entailment"
    write_entailment(directory, encoder, "transformer", opened=ENCODERS.get(encoder))
    request = parse_request(f"entailment[model={directory}]", None, {"encoder": encoder})
    return request.metric.prepare(Corpus([]), encoders=ENCODERS)


def metric_for(wanted, turns):
    name, compat = wanted
    if name == "entailment":
        return small_entailment()
    if name in ("ruber", "ruber_unreferenced"):
        return small_ruber(name)
    # The extra turn has a number in the column even where none of the drawn ones has.
    corpus = Corpus([*turns, Turn("", "", extra={"x": 1.0})])
    encoder = {} if compat else {"encoder": small_model()}
    return parse_request(name, compat, encoder).metric.prepare(corpus, encoders=ENCODERS)


def assert_same(left, right):
    assert left.keys() == right.keys()
    for part in left:
        np.testing.assert_allclose(left[part], right[part], rtol=1e-12, atol=1e-12)


@every_metric
@examples
@given(turns=TURNS, data=st.data())
def test_every_promise(wanted, turns, data):
    """All promises on the same examples: preparing and measuring takes longer than comparing values."""
    metric = metric_for(wanted, turns)
    rows = metric.measure(turns)
    summary = metric.summarise(rows)
    values = metric.conclude(summary)

    def drawn(number):
        return data.draw(st.lists(number, min_size=len(turns), max_size=len(turns)))

    values_lie_within_the_bounds_and_name_their_parts(metric, values)
    summaries_add(metric, turns, drawn(st.integers(0, 3)), summary)
    order_of_turns_never_matters(metric, turns, data.draw(st.permutations(range(len(turns)))), values)
    batches_never_matter(metric, turns, data.draw(st.integers(1, 5)), rows, values)
    weights_are_repetitions(metric, rows, drawn(st.integers(0, 3)))


def values_lie_within_the_bounds_and_name_their_parts(metric, values):
    assert list(values) == ["", *metric.parts]
    low, high = metric.bounds
    assert all(math.isnan(value) or low - 1e-9 <= value <= high + 1e-9 for value in values.values())


def summaries_add(metric, turns, labels, whole):
    parts = [[turn for turn, mine in zip(turns, labels, strict=True) if mine == label] for label in set(labels)]
    summaries = [metric.summarise(metric.measure(part)) for part in parts]
    total = summaries[0]
    for summary in summaries[1:]:
        total = total + summary
    assert total.n == whole.n
    assert_same(metric.conclude(total), metric.conclude(whole))


def order_of_turns_never_matters(metric, turns, order, values):
    shuffled = [turns[i] for i in order]
    assert_same(metric.conclude(metric.summarise(metric.measure(shuffled))), values)


def batches_never_matter(metric, turns, size, rows, values):
    batches = [metric.measure(turns[start : start + size]) for start in range(0, len(turns), size)]
    joined = metric.join(batches)
    assert len(joined) == len(rows) == len(turns)
    assert_same(metric.conclude(metric.summarise(joined)), values)
    if (scores := metric.per_turn(rows)) is not None:
        np.testing.assert_array_equal(metric.per_turn(joined), scores)


def weights_are_repetitions(metric, rows, weights):
    weighted = metric.summarise(rows, np.array(weights, dtype=float))
    repeated = metric.summarise(rows[np.repeat(np.arange(len(rows)), weights)])
    assert weighted.n == repeated.n
    assert_same(metric.conclude(weighted), metric.conclude(repeated))


@every_metric
def test_one_row_per_resample(wanted):
    turns = [Turn(str(i), f"w{i} and", ("why",), ("w1 and more",), extra={"x": i}) for i in range(5)]
    metric = metric_for(wanted, turns)
    if metric.resampling != "bootstrap":
        assert metric.resampling == "jackknife"
        return
    rows, weights = metric.measure(turns), np.random.default_rng(0).integers(0, 3, (7, 5)).astype(float)
    batch = metric.conclude(metric.summarise(rows, weights))
    for place, row in enumerate(weights):
        single = metric.conclude(metric.summarise(rows, row))
        for part, values in batch.items():
            assert values.shape == (7,)
            np.testing.assert_allclose(values[place], single[part], rtol=1e-12)
