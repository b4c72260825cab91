"""How questions are spelled, and which answers they take."""

import pytest

from dialogauge import InputError
from dialogauge.people.rating.questions import RatingQuestion, parse_question, parse_questions


def test_a_likert_scale_of_five_points_has_a_label_for_each():
    question = parse_question("coherence 1-5")
    assert (question.dimension, question.kind, question.low, question.high) == ("coherence", "likert", 1, 5)
    assert question.point_labels == ("bad", "poor", "fair", "good", "excellent")
    assert (question.low_label, question.high_label) == ("bad", "excellent")
    assert not question.na


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        ("overall 0-100", "slider", 0, 100),
        ("overall 1-11", "likert", 1, 11),
        ("overall 0-11", "slider", 0, 11),
        ("overall 1-5 slider", "slider", 1, 5),
        ("warmth -3..3", "likert", -3, 3),
        ("warmth -3 to 3", "likert", -3, 3),
        ("fluent yes/no", "yesno", 0, 1),
    ],
)
def test_the_scale_says_what_kind_it_is(text, kind, low, high):
    question = parse_question(text)
    assert (question.kind, question.low, question.high) == (kind, low, high)


def test_everything_at_once():
    question = parse_question("how funny 1-7 (not funny | very funny) n/a: How funny is  the reply? (1: not)")
    assert question.dimension == "how funny"
    assert question.labels == ("not funny", "very funny")
    assert question.point_labels == ()
    assert question.na
    assert question.text == "How funny is the reply? (1: not)"


def test_labels_of_all_points():
    assert parse_question("fit 0-2 (no | partly | yes)").point_labels == ("no", "partly", "yes")
    assert parse_question("fit 0-2 n/a (no | partly | yes)").na


def test_pairs_have_no_scale():
    question = parse_question("overall: Which reply is better?", pairwise=True)
    assert (question.dimension, question.kind, question.text) == ("overall", "pairwise", "Which reply is better?")
    with pytest.raises(InputError, match="no scale"):
        parse_question("overall 1-5", pairwise=True)


@pytest.mark.parametrize(
    "text",
    ["", "1-5", "coherence", "coherence 5-1", "coherence 3-3", "coherence 1-3 (a | b | c | d)", "x" * 600 + " 1-5"],
)
def test_what_is_no_question_is_refused(text):
    with pytest.raises(InputError):
        parse_question(text)


def test_questions_have_different_names():
    with pytest.raises(InputError, match="twice"):
        parse_questions(["overall 1-5", "Overall 1-7"])
    with pytest.raises(InputError, match="at most 20"):
        parse_questions([f"q{number} 1-5" for number in range(21)])


def test_without_any_question_there_is_one():
    assert parse_questions(())[0].dimension == "overall"
    assert parse_questions((), pairwise=True)[0].kind == "pairwise"


@pytest.mark.parametrize(("value", "kept"), [(1, 1.0), (5.0, 5.0)])
def test_answers_are_whole_numbers_of_the_scale(value, kept):
    assert parse_question("coherence 1-5").checked(value) == kept


@pytest.mark.parametrize("value", [0, 6, 2.5, "3", True, None, float("nan"), float("inf"), "a", [3]])
def test_other_answers_are_refused(value):
    with pytest.raises(InputError, match="coherence"):
        parse_question("coherence 1-5").checked(value)


def test_sides_and_not_applicable():
    question = parse_question("overall n/a", pairwise=True)
    assert [question.checked(value) for value in ("a", "tie", None)] == ["a", "tie", None]
    for value in ("c", 1, ""):
        with pytest.raises(InputError, match="a, b or tie"):
            question.checked(value)


def test_questions_survive_json():
    question = parse_question("humour 1-5 n/a: How funny?")
    assert RatingQuestion.from_dict({**question.to_dict(), "labels": list(question.labels)}) == question
