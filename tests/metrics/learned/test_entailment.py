"""Coherence by entailment, by models with random weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge import evaluate
from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.learned.entailment.model import open_entailment
from dialogauge.metrics.learned.entailment import CLASSES, CUT, SILENT, Entailment, coherence
from dialogauge.metrics.registry import parse_request
from tests.encode.models import build
from tests.learned.small import write_entailment
from tests.metrics.learned.conftest import OPENED, TURNS, check_contract, concluded, ready, turns

examples = settings(max_examples=12, deadline=None, derandomize=True)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(build("bert", tmp_path_factory.mktemp("bert") / "bert"))


@pytest.fixture(scope="module")
def model(words, tmp_path_factory):
    return write_entailment(tmp_path_factory.mktemp("models") / "my-model", words)


@pytest.fixture(scope="module", params=["esim", "adapter", "transformer"])
def directory(request, words, bert, tmp_path_factory):
    """A model of each kind."""
    target = tmp_path_factory.mktemp("each") / request.param
    if request.param == "esim":
        return write_entailment(target, words)
    rank = {"adapter": 2, "transformer": 0}[request.param]
    return write_entailment(target, bert, "transformer", opened=OPENED.get(bert), rank=rank)


@examples
@given(said=TURNS, data=st.data())
def test_the_contract(directory, said, data):
    metric = ready(Entailment, directory)
    rows, values = check_contract(metric, said, data)
    assert rows.shape == (len(said), 12)
    known = rows[metric.metric.defined(rows)]
    assert ((known[:, :9] >= 0) & (known[:, :9] <= 1)).all()
    np.testing.assert_allclose(known[:, 1:4].sum(axis=1), 1, atol=1e-6)
    assert (known[:, 4:7].sum(axis=1) == 1).all()
    assert list(values) == ["", *metric.asked.parts]


def test_no_turns(directory):
    assert ready(Entailment, directory).measure([]).shape == (0, 12)
    assert ready(Entailment, directory).measure([Turn("0", "hi")]).shape == (1, 12)


def test_scores_are_the_models_probabilities(directory):
    judged = open_entailment(directory).ready(OPENED).judged(["tea milk rain"], ["snow"]).probabilities[0]
    (row,) = ready(Entailment, directory).measure(turns(["snow", "tea milk", " rain "]))
    said = [float(place == judged.argmax()) for place in range(3)]
    assert row[:9].tolist() == [judged[0], *judged, *said, 0, 0]


def test_expected_by_hand(model):
    said = turns(["tea", "milk"], ["rain", "snow cat"], ["", "tea"])
    plain, expected = (ready(Entailment, model, score=score).measure(said) for score in ("probability", "expected"))
    np.testing.assert_array_equal(plain[:, 1:], expected[:, 1:])
    np.testing.assert_array_equal(plain[:, 0], plain[:, 1])
    np.testing.assert_allclose(expected[:, 0], (1 + plain[:, 1] - plain[:, 3]) / 2)
    assert expected[2, 0] == 0.5
    assert plain[2, 0] == 0
    table = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.2, 0.3]])
    assert coherence(table, "expected").tolist() == pytest.approx([1, 0.5, 0, 0.6])
    assert coherence(table).tolist() == [1, 0, 0, 0.5]


@pytest.mark.parametrize(
    ("history", "premises"),
    [
        (None, ["cat tea milk", "rain", "snow dog"]),
        (2, ["tea milk", "rain", "snow dog"]),
        (1, ["milk", "rain", "dog"]),
        (-1, ["milk", "rain", "dog"]),
        (-2, ["tea", None, "snow"]),
        (-3, ["cat", None, None]),
    ],
)
def test_how_much_of_the_history(model, history, premises):
    said = turns(["bye", "cat", "tea", "milk"], ["bye", "rain"], ["bye", "snow", "dog"])
    rows = ready(Entailment, model, history=history).measure(said)
    judge = open_entailment(model).ready(OPENED)
    for row, premise in zip(rows, premises, strict=True):
        if premise is None:
            assert np.isnan(row).all()
        else:
            assert row[1:4].tolist() == judge.judged([premise], ["bye"]).probabilities[0].tolist()


def test_turns_without_such_an_utterance_are_left_out_and_counted(model):
    said = turns(["tea", "hello", "rain"], ["milk", "rain"], ["snow", " ", "cat"])
    result = evaluate(Corpus([*said, Turn("3", "dog")]), f"entailment[model={model},history=-2]", cache=False)
    score = result.scores[0]
    assert score.n == 1
    assert score.value == pytest.approx(ready(Entailment, model, history=-2).measure(said[:1])[0, 0])
    messages = " ".join(caveat.message for caveat in result.caveats)
    assert "2" in messages
    assert "entailment" in messages
    with pytest.raises(InputError, match="needs context"):
        evaluate(Corpus([Turn("3", "dog")]), f"entailment[model={model}]")


def test_an_empty_response_is_neutral_and_counted(directory):
    metric = ready(Entailment, directory)
    rows = metric.measure(turns(["", "tea"], ["  ", "milk"], ["rain", "snow"]))
    assert rows[:2, :9].tolist() == [[0, 0, 1, 0, 0, 1, 0, 0, 1]] * 2
    (caveat,) = metric.caveats(metric.metric.summarise(rows))
    assert caveat.code == "no_vectors"
    assert "2 of 3 turns have a text without any vector, and are neutral" in caveat.message


def test_words_without_vectors_are_neutral(model):
    rows = ready(Entailment, model).measure(
        turns(["unheard-of", "tea"], ["tea", "unheard-of"], ["tea", "unheard-of tea"])
    )
    assert rows[:, SILENT].tolist() == [1, 1, 0]
    assert rows[:2, 2].tolist() == [1, 1]


def test_long_histories_are_cut_and_counted(directory, words):
    metric = ready(Entailment, directory)
    ends = [f"tea milk {place}" for place in range(50)]
    rows = metric.measure(turns(["rain", "snow", *ends], ["rain", "cat dog", *ends], ["rain", "snow"]))
    limited = "transformer" in directory.name or "adapter" in directory.name
    assert rows[:, CUT].tolist() == ([1, 1, 0] if limited else [0, 0, 0])
    if limited:
        np.testing.assert_allclose(rows[0, :9], rows[1, :9], atol=1e-6)
        (caveat,) = metric.caveats(metric.metric.summarise(rows))
        assert caveat.code == "cut_text"
        assert "2 of 3 turns are longer than the encoder takes; their beginning is cut" in caveat.message
    else:
        assert np.abs(rows[0, :9] - rows[1, :9]).max() > 1e-6


def test_shares_of_classes_at_system_level(model):
    said = turns(["tea", "milk"], ["rain", "snow cat"], ["", "tea"], ["dog", "hello world"])
    metric = ready(Entailment, model)
    rows = metric.measure(said)
    values = concluded(metric, rows)
    classes = rows[:, 1:4].argmax(axis=1)
    for place, name in enumerate(CLASSES):
        assert values[name] == pytest.approx(rows[:, 1 + place].mean())
        assert values[f"share_{name}"] == pytest.approx(np.mean(classes == place))
    assert sum(values[name] for name in CLASSES) == pytest.approx(1, abs=1e-6)
    assert sum(values[f"share_{name}"] for name in CLASSES) == pytest.approx(1)
    np.testing.assert_array_equal(metric.metric.per_turn(rows), rows[:, 0])


def test_directions():
    metric = Entailment()
    assert [metric.direction(part) for part in ("", *metric.parts)] == [True, True, None, False, True, None, False]


def test_parts_are_asked_for_by_name(model):
    result = evaluate(Corpus(turns(["tea", "milk"])), f"entailment[model={model}].share_neutral", cache=False)
    (score,) = result.scores
    assert score.metric == "entailment[model=my-model].share_neutral"
    assert score.value in (0, 1)
    with pytest.raises(InputError, match="part of entailment"):
        parse_request("entailment.share_neutrals")


def test_history_by_name():
    assert parse_request("entailment[history=all]").metric == Entailment()
    assert parse_request("entailment[history=-1]").metric == Entailment(history=-1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("history=0", "history of entailment: expected a number above or below 0, or all; found 0"),
        ("history=some", "option history of entailment: expected int, found 'some'"),
        ("score=probable", "option score of entailment: expected one of probability, expected"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InputError, match=message):
        parse_request(f"entailment[{options}]")
    with pytest.raises(InputError, match="unknown score of entailment 'sum'"):
        Entailment(score="sum")
