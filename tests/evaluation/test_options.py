"""One set of options for the verbs and the command line."""

import inspect
from dataclasses import fields
from typing import get_type_hints

import pandas as pd
import pytest

import dialogauge
from dialogauge import InputError, RunOptions, Turn
from dialogauge.evaluation.options import RunKeywords
from dialogauge.metrics.dialogue.length import Length

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
        ({"systems": []}, r"systems: expected a list of names, found \[\]"),
        ({"systems": ["s", 1]}, "systems: expected a list of names, found 1"),
        ({"systems": 5}, "systems: expected a list of names, found 5"),
        ({"compat": "fbd"}, "unknown .*'fbd'"),
        ({"compat": 3}, "unknown compat 3; known: fbd-paper"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(InputError, match=message):
        dialogauge.evaluate(TURNS, "length", **options)


@pytest.mark.parametrize("systems", [("t",), iter(["t"]), pd.Series(["t"])], ids=["tuple", "iterator", "series"])
def test_systems_in_whatever_holds_names(systems):
    assert list(dialogauge.evaluate(TURNS, "length", systems=systems, resamples=10).systems) == ["t"]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (3, 'metrics: expected names, as in "bleu,distinct", or metrics, found 3$'),
        ([None], "found None$"),
        (b"bleu", "found b'bleu'$"),
        (Length, r"a metric is made of its class: Length\(\)"),
        ([len], r'a metric is made of a function by dialogauge.metric\("NAME", FUNCTION\)'),
        (TURNS, "found Turn"),
    ],
)
def test_what_is_no_metric(metrics, message):
    with pytest.raises(InputError, match=message):
        dialogauge.evaluate(TURNS, metrics)


@pytest.mark.parametrize(
    ("verb", "options", "message"),
    [
        (dialogauge.compare, {"against": "s"}, "against: expected a list of names, found the text 's'"),
        (dialogauge.compare, {"against": [3]}, "against: expected a list of names, found 3"),
        (dialogauge.correlate, {"level": 3}, "expected names, found 3"),
        (dialogauge.correlate, {"dimension": [3]}, r"expected names, found \[3\]"),
        (dialogauge.sensitivity, {"ratios": 0.5}, "ratios: expected a list of numbers from 0 to 1, found 0.5"),
        (dialogauge.sensitivity, {"ratios": ["x"]}, r"ratios: expected a list of numbers from 0 to 1, found \['x'\]"),
        (dialogauge.sensitivity, {"kinds": None}, "unknown perturbation None"),
    ],
)
def test_wrong_options_of_one_verb(verb, options, message):
    with pytest.raises(InputError, match=message):
        verb(TURNS, "length", **options)


def test_names_of_corpora_are_texts():
    with pytest.raises(InputError, match="expected texts as names of corpora, found 1"):
        dialogauge.correlate({1: TURNS}, "length")


def test_what_is_no_name_is_looked_up_like_one():
    result = dialogauge.evaluate(TURNS, "length", resamples=10)
    with pytest.raises(InputError, match="unknown metric 3; known: length"):
        result.score("s", 3)
    with pytest.raises(InputError, match=r"unknown metric \['length'\]; did you mean length"):
        result.score("s", ["length"])


def test_runs_come_in_a_list(tmp_path):
    result = dialogauge.evaluate(TURNS, "length", resamples=10)
    runs = [result.save(tmp_path / name) for name in "ab"]
    assert dialogauge.compare_runs(iter(runs), resamples=10).pairs == dialogauge.compare_runs(runs, resamples=10).pairs
    with pytest.raises(InputError, match="expected a list of runs, found one path"):
        dialogauge.compare_runs(str(runs[0]), str(runs[1]))


def test_options_reach_the_result():
    result = dialogauge.evaluate(TURNS, "length", systems=["t"], seed=3, resamples=10, confidence=0.5)
    assert result.to_dict()["settings"] == {"seed": 3, "resamples": 10, "confidence": 0.5, "unit": "turns"}
    assert list(result.systems) == ["t"]
