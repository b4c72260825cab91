import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

import dialogauge
from dialogauge.corpus import Corpus
from dialogauge.corpus.turn import NOTHING, Turn
from dialogauge.errors import InputError


def test_what_is_absent_is_empty_and_shared():
    one, other = Turn("1", "a"), Turn("2", "b")
    assert one.ratings is other.ratings is one.extra is NOTHING
    assert dict(one.ratings) == {}
    assert one.ratings == {}
    assert "overall" not in one.ratings


def test_turns_can_be_sent_to_another_process():
    turn = Turn("1", "a", ratings={"overall": (1.0, None)})
    assert pickle.loads(pickle.dumps(turn)) == turn


@pytest.mark.parametrize("field", ["context", "references", "facts"])
def test_a_single_text_is_a_tuple_of_one_and_a_list_a_tuple(field):
    assert getattr(Turn("1", "a", **{field: "some words"}), field) == ("some words",)
    assert getattr(Turn("1", "a", **{field: ["some", "words"]}), field) == ("some", "words")
    assert getattr(replace(Turn("1", "a"), **{field: "some words"}), field) == ("some words",)


def test_a_reference_given_as_text_is_not_taken_for_characters():
    response, reference = "the cat is on the mat", "there is a cat on the mat"
    as_text, as_tuple = (Turn("1", response, references=given) for given in (reference, (reference,)))
    assert (
        dialogauge.evaluate(Corpus([as_text]), "bleu").scores == dialogauge.evaluate(Corpus([as_tuple]), "bleu").scores
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (4.0, (4.0,)),
        (4, (4.0,)),
        (np.float32(4.5), (4.5,)),
        (np.int64(4), (4.0,)),
        ([4, None, 5.0], (4.0, None, 5.0)),
        ((4, math.nan), (4.0, None)),
    ],
)
def test_ratings_are_numbers_by_rater(given, kept):
    assert Turn("1", "a", ratings={"overall": given}).ratings == {"overall": kept}


def test_a_dimension_without_any_number_is_absent_as_in_files():
    assert Turn("1", "a", ratings={"overall": None, "fluent": [math.nan, None]}).ratings is NOTHING


def test_names_that_are_whole_numbers_become_text_as_in_files():
    turn = Turn(1, "a", system=2, dialogue=3)
    assert (turn.id, turn.system, turn.dialogue) == ("1", "2", "3")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"response": None}, "response: expected text, found null"),
        ({"id": 1.5}, "id: expected text or a whole number, found the number 1.5"),
        ({"context": 5}, "context: expected a text or a list of texts, found the number 5"),
        ({"references": ("a", 1)}, "references: expected a text or a list of texts, found a list with the number 1 at"),
        ({"facts": [["a"]]}, "facts: expected a text or a list of texts, found a list of 1 list"),
        ({"ratings": 4.0}, "ratings: expected a mapping of dimensions, such as"),
        ({"ratings": {"overall": True}}, "rating 'overall': expected a number or None, found true"),
        ({"ratings": {"overall": math.inf}}, "rating 'overall': expected a number or None, found the number inf"),
        ({"ratings": {"overall": "4"}}, "rating 'overall': expected a number or None, found the text '4'"),
        ({"extra": [1]}, "extra: expected a mapping, found a list of 1 number"),
    ],
)
def test_other_types_are_refused_by_the_field_s_name(fields, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Turn(**({"id": "1", "response": "a"} | fields))
