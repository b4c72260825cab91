"""Contradictions of oneself and of facts, by models with random weights and by the one that comes along."""

import numpy as np
import pytest

from dialogauge import Turn, evaluate
from dialogauge.corpus import Corpus
from dialogauge.errors import InputError
from dialogauge.learned.entailment.model import open_entailment
from dialogauge.metrics.dialogue.contradiction import FactConsistency, SelfContradiction
from tests.learned.small import write_entailment, write_vectors
from tests.metrics.learned.conftest import OPENED, ready


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    words = write_vectors(tmp_path_factory.mktemp("vectors") / "ten.txt")
    return write_entailment(tmp_path_factory.mktemp("models") / "my-model", words)


def judged(model, premise, response):
    return open_entailment(model).ready(OPENED).judged([premise], [response]).probabilities[0]


SAID = ("tea milk", "rain", "snow cat")


def dialogue(*texts, **fields):
    return [Turn(str(place), text, dialogue="d", **fields) for place, text in enumerate(texts)]


def test_the_largest_contradiction_of_any_earlier_turn(model):
    rows = ready(SelfContradiction, model).measure(dialogue(*SAID, "dog bye"))
    against = np.array([judged(model, earlier, "dog bye") for earlier in SAID])
    assert np.isnan(rows[0, 0])
    assert rows[1, 0] == judged(model, SAID[0], SAID[1])[2]
    assert rows[3, :2].tolist() == [against[:, 2].max(), float((against.argmax(axis=1) == 2).any())]


def test_values_by_hand():
    # Of probabilities of entailment, neutral and contradiction for three statements.
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6]])
    assert SelfContradiction().value(probabilities) == (0.6, 1)
    assert SelfContradiction().value(probabilities[:2]) == (0.4, 0)
    assert FactConsistency().value(probabilities) == (0.4, 0.7)


def test_own_turns_are_found_in_the_context_and_in_the_dialogue():
    by_context = [Turn("0", "c", ("x", "a", "y", "b", "z"))]
    assert SelfContradiction().statements(by_context) == [["a", "b"]]
    both = dialogue("a", "b", "a", "c", context=("", "", "z"))
    assert SelfContradiction().statements(both) == [[], ["a"], ["a", "b"], ["a", "b"]]
    assert SelfContradiction(history=1).statements(both) == [[], ["a"], ["b"], ["b"]]
    with pytest.raises(InputError, match="history of self_contradiction: expected 1 or more, found 0"):
        SelfContradiction(history=0)


def test_facts(model):
    turn = Turn("0", "dog", facts=("tea milk", " ", "rain", "rain"))
    (row,) = ready(FactConsistency, model).measure([turn])
    against = np.array([judged(model, fact, "dog") for fact in ("tea milk", "rain")])
    assert row[:2].tolist() == [1 - against[:, 2].max(), against[:, 0].max()]


def test_empty_and_illegible_texts_have_no_value(model):
    turns = [Turn("0", "", facts="tea"), Turn("1", "dog"), Turn("2", "dog", facts=" "), Turn("3", "dog", facts="tea")]
    rows = ready(FactConsistency, model).measure(turns)
    assert np.isnan(rows[:, 0]).tolist() == [True, True, True, False]
    result = evaluate(turns, FactConsistency(model=str(model)))
    messages = {caveat.code: caveat.message for caveat in result.caveats}
    assert "1 of 4 turns have no facts" in messages["missing_input"]
    assert "no value for 2 of 3 turns" in messages["undefined_scores"]


def test_what_else_is_measured_changes_nothing(model):
    turns = dialogue(*SAID)
    metric = ready(SelfContradiction, model)
    np.testing.assert_array_equal(
        metric.measure([*turns, Turn("x", "bye", ("tea", "dog", "cat"))])[:3], metric.measure(turns)
    )


def test_the_model_that_comes_along_sees_a_negation():
    turns = dialogue("I live in Paris.", "I don't live in Paris.", "I love music.")
    rows = SelfContradiction().prepare(Corpus(turns)).measure(turns)
    assert rows[1, 0] > 0.9 > 0.5 > rows[2, 0]
    facts = [Turn("0", "I don't live in Paris.", facts="I live in Paris."), Turn("1", "Hello!", facts="I like tea.")]
    rows = FactConsistency().prepare(Corpus(facts)).measure(facts)
    assert rows[0, 0] < 0.1 < 0.9 < rows[1, 0]
