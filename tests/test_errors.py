"""Errors are what Python programs expect to catch; an unknown name is answered with those most like it, a number that
nobody means with its bounds; values of files are shown short and safe."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import dialogauge
from dialogauge import errors
from dialogauge.corpus import Corpus, Turn
from dialogauge.endpoint.chat import EndpointError
from dialogauge.errors import InputError, MissingPackage, check_number, check_share, check_whole, describe, quote
from dialogauge.evaluation import evaluate
from dialogauge.evaluation.options import Settings
from dialogauge.learned.entailment.recipe import EntailmentRecipe
from dialogauge.learned.ruber.recipe import RuberRecipe
from dialogauge.learned.synthesis import Options
from dialogauge.metrics.embedding.bertscore import read_baseline
from dialogauge.metrics.registry import parse_requests

TURNS = [
    dialogauge.Turn(str(number), text, references=("how are you",), system=system, ratings={"overall": number})
    for number, text in enumerate(["how are you", "fine", "are you", "no", "well", "you"])
    for system in ("blue", "green")
]

HUGE = 999999999999
ODD = [10**400, -1, 2.5, float("nan"), float("inf"), "7", None, True, [1], 1j]


def test_wrong_input_is_a_value_error_and_a_missing_package_an_import_error():
    with pytest.raises(ValueError, match="expected text"):
        dialogauge.Turn("1", 3)
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingPackage, ImportError)
    assert str(MissingPackage("numpy", "all", "counting")).startswith("counting needs the package numpy: pip install")


SENT = [
    errors.DialogaugeError("no luck"),
    InputError("no number", "a.jsonl", 3),
    InputError("no turns"),
    InputError("no turns", Path("a.jsonl")),
    MissingPackage("torch", "neural", "bertscore"),
    errors.MissingWeights("no weights", Path("model")),
    errors.UnsuitedEncoder("no encoder"),
    EndpointError("no answer"),
    errors.WorkFailed("item 3: 4 workers died at it"),
]


def test_every_class_of_errors_is_sent_back_in_the_next_test():
    classes = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert {type(error) for error in SENT} == classes | {EndpointError}


@pytest.mark.parametrize("error", SENT)
def test_other_processes_send_errors_back_whole(error):
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), vars(sent)) == (type(error), str(error), vars(error))


def test_an_error_of_ours_is_not_taken_for_a_number_that_cannot_be_read(tmp_path):
    """A baseline of 2 is a number, and what is wrong with it is said."""
    path = tmp_path / "baseline.csv"
    path.write_text("LAYER,P,R,F\n1,2,2,2\n")
    with pytest.raises(InputError, match=r"baseline.csv:2: expected baselines below 1"):
        read_baseline(path, 1)


def test_a_result_suggests_names():
    result = dialogauge.evaluate(dialogauge.Corpus(TURNS), "bleu", resamples=10)
    assert result.score("blue", "bleu").system == "blue"
    with pytest.raises(InputError, match=r"unknown metric 'blue'; did you mean bleu\?"):
        result.score("blue", "blue")
    with pytest.raises(InputError, match=r"unknown system 'gren'; did you mean green\?"):
        result.score("gren", "bleu")


def test_a_comparison_suggests_names():
    result = dialogauge.compare(dialogauge.Corpus(TURNS), "length", resamples=10)
    assert result.pair("blue", "green", "length").first == "blue"
    with pytest.raises(InputError, match=r"unknown metric 'lenght'; did you mean length\?"):
        result.pair("blue", "green", "lenght")
    with pytest.raises(InputError, match=r"unknown system 'Blue'; did you mean blue\?"):
        result.beats("Blue", "length")
    with pytest.raises(InputError, match=r"not compared under 'length' in this order; ask for 'blue' and 'green'"):
        result.pair("green", "blue", "length")


def test_an_agreement_suggests_names():
    result = dialogauge.correlate(dialogauge.Corpus(TURNS), "length", resamples=10)
    with pytest.raises(InputError, match=r"unknown metric 'lenght'; did you mean length\?"):
        result.row("lenght")


@pytest.mark.parametrize("value", ODD)
def test_what_is_no_whole_number_in_bounds(value):
    with pytest.raises(InputError, match=r"^batch: expected a whole number from 1 to 1,000, found "):
        check_whole("batch", value, 1, 1000)


@pytest.mark.parametrize("value", [1, 1000, np.int32(7), np.uint8(255)])
def test_whole_numbers_in_bounds(value):
    check_whole("batch", value, 1, 1000)


@pytest.mark.parametrize("value", [10**400, -0.01, float("nan"), float("inf"), "0.5", None, True, 1j])
def test_what_is_no_number_in_bounds(value):
    with pytest.raises(InputError, match=r"^ratio: expected a number from 0 to 1, found "):
        check_number("ratio", value, 0, 1)
    with pytest.raises(InputError, match=r"^share: expected a number between 0 and 1, found "):
        check_share("share", value)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25)])
def test_numbers_in_bounds(value):
    check_number("ratio", value, 0, 1)


def test_a_long_number_is_shown_in_short():
    with pytest.raises(InputError) as raised:
        check_whole("seed", 10**4000, 0, 2**63 - 1)
    assert len(str(raised.value)) < 120


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((Settings, name) for name in ("resamples", "confidence")),
        *(
            (RuberRecipe, name)
            for name in ("batch", "epochs", "stop", "patience", "members", "context", "seed", "rate")
        ),
        *((EntailmentRecipe, name) for name in ("batch", "epochs", "stop", "accumulate", "rank", "units", "seed")),
        *((Options, name) for name in ("neutral", "contradiction", "generic", "salad_length", "with_facts")),
    ],
)
def test_every_number_of_the_api_has_bounds(make, name):
    for value in (HUGE, 10**30, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"^{name}: "):
            make(**{name: value})


def test_lists_of_numbers():
    for options in ({"history": (10**30,)}, {"salad_words": (1e308, 1e308, 1e308)}, {"splits": (1e308, 1, 1)}):
        with pytest.raises(InputError):
            Options(**options)


@pytest.mark.parametrize(
    "metric", ["mmd[bandwidth=inf]", "meteor[alpha=nan]", "meteor[beta=1e300]", f"prd[seed={10**30}]"]
)
def test_options_of_metrics(metric):
    with pytest.raises(InputError, match="expected a number from -9e[+]18 to 9e[+]18"):
        parse_requests(metric)


def test_resamples_that_would_never_end():
    with pytest.raises(InputError, match="resamples: expected a whole number from 1 to 1,000,000, found 999999999999"):
        evaluate(Corpus([Turn("1", "hello")]), "length", resamples=HUGE)


@pytest.mark.parametrize("nasty", ["\x1b[2J", "\x07", "\x9b31m", "\u202e", "\u2066", "\u2028", "\ud800", "\x00"])
def test_quoted_text_is_safe_on_a_terminal(nasty):
    assert quote(f"a{nasty}b").isprintable()
    assert describe([1, {f"k{nasty}": 1}]).isprintable()
    assert describe({f"k{nasty}": nasty}).isprintable()


def test_quoted_text_is_short():
    assert quote("x" * 60) == f"'{'x' * 60}'"
    assert quote("x" * 61) == f"'{'x' * 60}'…"
    assert len(describe(10**300)) < 80
    assert len(describe({"k" * 10_000: 1, **dict.fromkeys(map(str, range(10_000)), 0)})) < 200


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (3, "the number 3"),
        ("a", "the text 'a'"),
        ([], "an empty list"),
        (["a"], "a list of 1 string"),
        ([["a", "b", "c"], ["d"]], "a list of 2 lists (3 strings in the first)"),
        ([["a", 1]], "a list of 1 list (2 items in the first)"),
        ([[]], "a list of 1 list (0 items in the first)"),
        (["a", 3], "a list with the number 3 at place 2"),
        (["a", ["b", 1]], "a list with a list at place 2"),
        ({"a": 1}, "an object with the fields 'a'"),
        ({}, "an empty object"),
        (b"a", "a value of type bytes"),
    ],
)
def test_found(value, words):
    assert describe(value) == words
