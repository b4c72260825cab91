"""Errors are what Python programs expect to catch, and an unknown name is answered with those most like it."""

import pickle

import pytest

import dialogauge
from dialogauge.errors import InputError, MissingPackage
from dialogauge.metrics.embedding.bertscore import read_baseline

TURNS = [
    dialogauge.Turn(str(number), text, references=("how are you",), system=system, ratings={"overall": number})
    for number, text in enumerate(["how are you", "fine", "are you", "no", "well", "you"])
    for system in ("blue", "green")
]


def test_wrong_input_is_a_value_error_and_a_missing_package_an_import_error():
    with pytest.raises(ValueError, match="expected text"):
        dialogauge.Turn("1", 3)
    assert issubclass(InputError, ValueError)
    assert issubclass(MissingPackage, ImportError)
    assert str(MissingPackage("numpy", "all", "counting")).startswith("counting needs the package numpy: pip install")


@pytest.mark.parametrize(
    "error",
    [InputError("no number", "a.jsonl", 3), InputError("no turns"), MissingPackage("torch", "neural", "bertscore")],
)
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
