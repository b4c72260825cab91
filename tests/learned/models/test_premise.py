import pytest

from dialogauge.learned.entailment.model import premise_of

SAID = ("one", " two ", "three")


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (None, "one two three"),
        (1, "three"),
        (2, "two three"),
        (3, "one two three"),
        (9, "one two three"),
        (-1, "three"),
        (-2, "two"),
        (-3, "one"),
        (-4, ""),
    ],
)
def test_how_much_of_the_history(history, expected):
    assert premise_of(SAID, history) == expected


@pytest.mark.parametrize("history", [None, 1, 2, -1, -2])
def test_nothing_was_said(history):
    assert premise_of((), history) == ""
    assert premise_of(("", " \n"), history) == ""


def test_an_utterance_without_text_is_one_all_the_same():
    assert premise_of(("one", " ", "three")) == "one three"
    assert premise_of(("one", " ", "three"), 2) == "three"
    assert premise_of(("one", " ", "three"), -2) == ""
