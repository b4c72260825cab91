"""One set of options for the verbs and the command line."""

import inspect
from dataclasses import fields
from typing import get_type_hints

import pytest

import dialogauge
from dialogauge import InputError, RunOptions, Turn
from dialogauge.evaluation.options import RunKeywords

VERBS = [dialogauge.evaluate, dialogauge.compare, dialogauge.correlate, dialogauge.sensitivity]
TURNS = [Turn(str(number), "a " * number, system=system) for number in range(5) for system in ("s", "t")]


def test_keywords_are_the_fields():
    assert get_type_hints(RunKeywords) == get_type_hints(RunOptions)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_help_shows_every_option_with_its_default(verb):
    parameters = inspect.signature(verb).parameters
    assert "options" not in parameters
    assert {field.name: field.default for field in fields(RunOptions)}.items() <= {
        name: each.default for name, each in parameters.items()
    }.items()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_wrong_keyword_is_answered_with_the_nearest(verb):
    with pytest.raises(InputError, match=r"unknown option 'resample'; did you mean resamples"):
        verb(TURNS, "length", resample=10)


def test_a_keyword_of_one_verb_alone():
    with pytest.raises(InputError, match=r"unknown option 'levle'; did you mean level\?"):
        dialogauge.correlate(TURNS, "length", levle="turn")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"confidence": 95}, "confidence: expected a number between 0 and 1, found 95"),
        ({"systems": "s"}, "systems: expected a list of names, found the text 's'"),
        ({"compat": "fbd"}, "unknown .*'fbd'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InputError, match=message):
        dialogauge.evaluate(TURNS, "length", **options)


def test_options_reach_the_result():
    result = dialogauge.evaluate(TURNS, "length", systems=["t"], seed=3, resamples=10, confidence=0.5)
    assert result.to_dict()["settings"] == {"seed": 3, "resamples": 10, "confidence": 0.5, "unit": "turns"}
    assert list(result.systems) == ["t"]
