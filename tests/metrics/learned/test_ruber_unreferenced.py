"""RUBER's unreferenced metric, by models with random weights."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from dialogauge.learned.directory import encoder_name
from dialogauge.learned.ruber.model import SHIPPED, open_ruber
from dialogauge.metrics.learned.ruber import RuberUnreferenced
from dialogauge.metrics.registry import parse_request
from tests.encode.models import build, encoders, minilm
from tests.learned.small import WORDS, write_ruber, write_vectors

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
examples = settings(max_examples=25, deadline=None, derandomize=True)
OPENED = Encoders()


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    return write_vectors(tmp_path_factory.mktemp("vectors") / "ten.txt")


@pytest.fixture(scope="module", params=[{}, {"sentence": "rnn"}, {"network": "towers"}], ids=str)
def each(request, words, tmp_path_factory):
    """Ready to measure, with each kind of network."""
    directory = tmp_path_factory.mktemp("models") / "random"
    return ready(write_ruber(directory, words, members=2, context=2, **request.param))


@pytest.fixture(scope="module")
def model(words, tmp_path_factory):
    return write_ruber(tmp_path_factory.mktemp("models") / "my-model", words, context=2)


def ready(directory, **options):
    return RuberUnreferenced(model=str(directory), **options).prepare(Corpus([]), encoders=OPENED)


def turns(*rows):
    return [Turn(str(place), response, context=tuple(context)) for place, (response, *context) in enumerate(rows)]


def concluded(metric, rows, weights=None):
    return metric.metric.conclude(metric.metric.summarise(rows, weights))


@examples
@given(said=TURNS, data=st.data())
def test_the_contract(each, said, data):
    rows = each.measure(said)
    assert len(rows) == len(said)
    assert ((rows[:, 0] >= 0) & (rows[:, 0] <= 1)).all()
    values = concluded(each, rows)
    assert list(values) == [""]
    # Whatever the order, the batches and the neighbours.
    order = data.draw(st.permutations(range(len(said))))
    np.testing.assert_allclose(each.measure([said[i] for i in order]), rows[order], rtol=1e-12)
    size = data.draw(st.integers(1, 4))
    batches = [each.measure(said[start : start + size]) for start in range(0, len(said), size)]
    np.testing.assert_allclose(each.metric.join(batches), rows, rtol=1e-12)
    # Summaries add, and weights are repetitions.
    total = each.metric.summarise(rows[:1]) + each.metric.summarise(rows[1:])
    assert each.metric.conclude(total)[""] == pytest.approx(values[""], rel=1e-12)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(said), max_size=len(said)).filter(any))
    repeated = concluded(each, rows[np.repeat(np.arange(len(said)), weights)])
    assert concluded(each, rows, np.array(weights, float))[""] == pytest.approx(repeated[""], rel=1e-12)


def test_no_turns(each):
    assert each.measure([]).shape == (0, 6)


def test_the_score_is_the_models_relatedness(model):
    (row,) = ready(model).measure(turns(["tea milk", "hello", "rain", "snow"]))
    related = open_ruber(model).relatedness(
        OPENED.get(encoder_name(open_ruber(model).saved)), [["rain", "snow"]], ["tea milk"]
    )
    # All four words, rain snow and tea milk, have vectors.
    assert row.tolist() == pytest.approx([related.values[0], 0, 0, 4, 0, 0], abs=1e-6)
    assert 0 < row[0] < 1


def test_a_text_without_a_vector_is_related_to_nothing_and_counted(each):
    said = turns(
        ["", "hello"], ["unheard-of", "hello"], ["tea", "unheard-of"], ["tea", "hello"], ["tea", "😀", "hello"]
    )
    rows = each.measure(said)
    assert rows[:3, 0].tolist() == [0, 0, 0]
    assert (rows[3:, 0] > 0).all()
    (caveat,) = each.caveats(each.metric.summarise(rows))
    assert caveat.code == "no_vectors"
    assert "3 of 5 turns" in caveat.message


def test_turns_without_context_are_left_out_and_counted(model):
    said = [*turns(["tea", "hello"], ["milk", "rain"]), Turn("2", "snow")]
    result = evaluate(Corpus(said), f"ruber_unreferenced[model={model}]")
    (score,) = result.scores
    assert score.n == 2
    assert score.value == pytest.approx(ready(model).measure(said[:2])[:, 0].mean(), abs=1e-6)
    assert any("1" in caveat.message and "context" in caveat.message for caveat in result.caveats), result.caveats
    with pytest.raises(InputError, match="needs context"):
        evaluate(Corpus(said[2:]), f"ruber_unreferenced[model={model}]")


def test_long_texts_are_counted(tmp_path):
    bert = build("bert", tmp_path / "bert")
    encoder = OPENED.get(str(bert))
    metric = ready(write_ruber(tmp_path / "m", str(bert), opened=encoder))
    rows = metric.measure(turns(["tea " * 60, "hello"], ["tea", "hello " * 60], ["tea", "hello"]))
    assert rows[:, 1].tolist() == [1, 1, 0]
    (caveat,) = metric.caveats(metric.metric.summarise(rows))
    assert caveat.code == "cut_text"
    assert "2 of 3 turns" in caveat.message
    assert metric.measure(turns(["", "hello"]))[0, :3].tolist() == [0, 0, 1]


def test_long_texts_before_the_query_are_counted(tmp_path):
    bert = build("bert", tmp_path / "bert")
    made = write_ruber(tmp_path / "m", str(bert), opened=OPENED.get(str(bert)), network="towers", context=2)
    rows = ready(made).measure(turns(["tea", "hello " * 60, "milk"], ["tea", "milk"]))
    assert rows[:, 1].tolist() == [1, 0]


def test_towers_score_with_what_was_said_before(words, tmp_path):
    said = turns(["tea", "rain", "milk"], ["tea", "snow", "milk"], ["tea", "milk"])
    two, one = (
        ready(write_ruber(tmp_path / str(context), words, network="towers", context=context)).measure(said)[:, 0]
        for context in (2, 1)
    )
    assert np.diff(np.sort(two)).min() > 1e-3
    np.testing.assert_allclose(one, two[2], rtol=1e-12)


def test_signature_and_label(model, words):
    metric = ready(model)
    identity = open_ruber(model).identity
    encoder = OPENED.get(words)
    assert metric.signature.startswith("ruber_unreferenced|")
    assert f"|model:{identity}|" in metric.signature
    assert f"|enc:static:{encoder.identity}|" in metric.signature
    assert "|context:2|" in metric.signature
    assert str(model.parent) not in metric.signature
    assert metric.asked.label == "ruber_unreferenced[model=my-model]"
    assert parse_request(f"ruber_unreferenced[model={model}]").label == metric.asked.label
    assert RuberUnreferenced().label == "ruber_unreferenced"


def test_another_model_has_another_signature(model, words, tmp_path):
    other = write_ruber(tmp_path / "my-model", words, context=2, seed=9)
    assert ready(other).signature != ready(model).signature
    assert ready(other).asked.label == ready(model).asked.label


def test_another_encoder_is_refused(model, tmp_path):
    other = write_vectors(tmp_path / "other.txt", seed=1)
    with pytest.raises(InputError, match="was trained with the encoder ten@.*found other@"):
        ready(model, encoder=other)


def test_the_encoder_may_be_elsewhere(model, words, tmp_path):
    copy = shutil.copy(Path(words.removeprefix("static:")), tmp_path / "ten.txt")
    said = turns(["tea", "milk"])
    np.testing.assert_array_equal(ready(model, encoder=f"static:{copy}").measure(said), ready(model).measure(said))


def test_an_encoder_that_is_no_longer_there(words, tmp_path):
    """Whoever gets a model from someone else meets this first, and is told which option helps."""
    path = tmp_path / "gone.txt"
    directory = write_ruber(tmp_path / "m", write_vectors(path))
    path.unlink()
    with pytest.raises(InputError, match="encoder=") as raised:
        RuberUnreferenced(model=str(directory)).prepare(Corpus([]))
    assert str(path) in str(raised.value)


def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no model here"):
        evaluate(Corpus(turns(["tea", "milk"])), f"ruber_unreferenced[model={tmp_path / 'none'}]")


def test_shipped_model_is_the_default():
    minilm()
    metric = RuberUnreferenced().prepare(Corpus([]), encoders=encoders())
    assert f"|model:{SHIPPED}@" in metric.signature
    said = turns(["Yes , with milk , please .", "Would you like some tea ?"], ["Seven .", "Would you like some tea ?"])
    rows = metric.measure(said)
    assert rows[0, 0] > rows[1, 0]
