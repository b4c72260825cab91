"""Studies from Python."""

import pytest

import dialogauge
from dialogauge import InputError
from tests.people.rating.studies import a_corpus


def test_rate_makes_a_study_that_can_be_opened(tmp_path):
    with dialogauge.rate(a_corpus(4), tmp_path / "s", ["coherence 1-5", "fluent yes/no"], raters=2, people=2) as study:
        assert [question.dimension for question in study.questions] == ["coherence", "fluent"]
    with dialogauge.open_study(tmp_path / "s") as again:
        assert again.organiser_view().planned == 24


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"raters": 0}, "raters: expected a whole number from 1"),
        ({"people": 2}, "--people: expected at least 3"),
        ({"people": 30}, "--people: expected at most 12, found 30"),
        ({"contexts": "apart", "people": 8}, "at least 9"),
        ({"contexts": "near"}, "unknown contexts 'near'"),
        ({"unit": "word"}, "unknown unit 'word'"),
        ({"pairwise": True, "unit": "dialogue"}, "one by one"),
        ({"against": "alpha-bot"}, "give --pairwise"),
        ({"check_on": "humour"}, "unknown question 'humour'"),
        ({"time_floor": -1}, "time_floor"),
        ({"title": " "}, "title"),
        ({"completion_url": "javascript:alert(1)"}, "http or https"),
        ({"completion_code": "a b"}, "completion code"),
        ({"id_parameter": "?"}, "id parameter"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_no_study_can_be_is_refused_and_leaves_nothing(tmp_path, settings, problem):
    with pytest.raises(InputError, match=problem):
        dialogauge.rate(a_corpus(4), tmp_path / "study", **settings)
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_without_turns_is_refused(tmp_path):
    with pytest.raises(InputError):
        dialogauge.rate([], tmp_path / "study")
