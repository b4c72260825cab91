"""RUBER's unreferenced metric, by models with random weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.learned.directory import encoder_name
from dialogauge.learned.ruber.model import SHIPPED, open_ruber
from dialogauge.metrics.learned.ruber import RuberUnreferenced
from tests.encode.models import build, encoders, minilm
from tests.learned.small import write_ruber
from tests.metrics.learned.conftest import OPENED, TURNS, check_contract, ready, turns

examples = settings(max_examples=25, deadline=None, derandomize=True)


@pytest.fixture(scope="module", params=[{}, {"sentence": "rnn"}, {"network": "towers"}], ids=str)
def each(request, words, tmp_path_factory):
    """Ready to measure, with each kind of network."""
    directory = tmp_path_factory.mktemp("models") / "random"
    return ready(RuberUnreferenced, write_ruber(directory, words, members=2, context=2, **request.param))


@pytest.fixture(scope="module")
def model(words, tmp_path_factory):
    return write_ruber(tmp_path_factory.mktemp("models") / "my-model", words, context=2)


@examples
@given(said=TURNS, data=st.data())
def test_the_contract(each, said, data):
    rows, values = check_contract(each, said, data, rtol=1e-12)
    assert ((rows[:, 0] >= 0) & (rows[:, 0] <= 1)).all()
    assert list(values) == [""]


def test_no_turns(each):
    assert each.measure([]).shape == (0, 6)


def test_the_score_is_the_models_relatedness(model):
    (row,) = ready(RuberUnreferenced, model).measure(turns(["tea milk", "hello", "rain", "snow"]))
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
    assert score.value == pytest.approx(ready(RuberUnreferenced, model).measure(said[:2])[:, 0].mean(), abs=1e-6)
    assert any("1" in caveat.message and "context" in caveat.message for caveat in result.caveats), result.caveats
    with pytest.raises(InputError, match="needs context"):
        evaluate(Corpus(said[2:]), f"ruber_unreferenced[model={model}]")


def test_long_texts_are_counted(tmp_path):
    bert = build("bert", tmp_path / "bert")
    encoder = OPENED.get(str(bert))
    metric = ready(RuberUnreferenced, write_ruber(tmp_path / "m", str(bert), opened=encoder))
    rows = metric.measure(turns(["tea " * 60, "hello"], ["tea", "hello " * 60], ["tea", "hello"]))
    assert rows[:, 1].tolist() == [1, 1, 0]
    (caveat,) = metric.caveats(metric.metric.summarise(rows))
    assert caveat.code == "cut_text"
    assert "2 of 3 turns" in caveat.message
    assert metric.measure(turns(["", "hello"]))[0, :3].tolist() == [0, 0, 1]


def test_long_texts_before_the_query_are_counted(tmp_path):
    bert = build("bert", tmp_path / "bert")
    made = write_ruber(tmp_path / "m", str(bert), opened=OPENED.get(str(bert)), network="towers", context=2)
    rows = ready(RuberUnreferenced, made).measure(turns(["tea", "hello " * 60, "milk"], ["tea", "milk"]))
    assert rows[:, 1].tolist() == [1, 0]


def test_towers_score_with_what_was_said_before(words, tmp_path):
    said = turns(["tea", "rain", "milk"], ["tea", "snow", "milk"], ["tea", "milk"])
    two, one = (
        ready(
            RuberUnreferenced, write_ruber(tmp_path / str(context), words, network="towers", context=context)
        ).measure(said)[:, 0]
        for context in (2, 1)
    )
    assert np.diff(np.sort(two)).min() > 1e-3
    np.testing.assert_allclose(one, two[2], rtol=1e-12)


def test_shipped_model_is_the_default():
    minilm()
    metric = RuberUnreferenced().prepare(Corpus([]), encoders=encoders())
    assert f"|model:{SHIPPED}@" in metric.signature
    said = turns(["Yes , with milk , please .", "Would you like some tea ?"], ["Seven .", "Would you like some tea ?"])
    rows = metric.measure(said)
    assert rows[0, 0] > rows[1, 0]
