import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.metrics.overlap.porter import stem

# The examples of Porter (1980), step by step, run through the whole algorithm.
PAPER = {
    "caresses": "caress",
    "ponies": "poni",
    "cats": "cat",
    "feed": "feed",
    "agreed": "agre",
    "plastered": "plaster",
    "bled": "bled",
    "motoring": "motor",
    "sing": "sing",
    "conflated": "conflat",
    "hopping": "hop",
    "falling": "fall",
    "filing": "file",
    "happy": "happi",
    "sky": "sky",
    "relational": "relat",
    "rational": "ration",
    "digitizer": "digit",
    "vietnamization": "vietnam",
    "sensibiliti": "sensibl",
    "electriciti": "electr",
    "hopefulness": "hope",
    "goodness": "good",
    "allowance": "allow",
    "replacement": "replac",
    "adoption": "adopt",
    "bowdlerize": "bowdler",
    "probate": "probat",
    "rate": "rate",
    "cease": "ceas",
    "controll": "control",
    "roll": "roll",
}


@pytest.mark.parametrize(("word", "expected"), PAPER.items())
def test_examples_of_the_paper(word, expected):
    assert stem(word) == expected
    assert stem(word, original=True) == expected


@pytest.mark.parametrize(
    ("word", "nltk", "original"),
    [
        ("dies", "die", "di"),
        ("died", "die", "di"),
        ("flies", "fli", "fli"),
        ("enjoy", "enjoy", "enjoi"),
        ("fly", "fli", "fly"),
        ("news", "news", "new"),
        ("as", "as", "a"),
        ("carefully", "care", "carefulli"),
        ("geology", "geolog", "geologi"),
    ],
)
def test_where_nltk_departs_from_the_paper(word, nltk, original):
    assert (stem(word), stem(word, original=True)) == (nltk, original)


@pytest.mark.parametrize("word", ["", "y", "😀", "你好", "é", "n't", "..."])
def test_words_without_suffixes_stay(word):
    assert stem(word) == word


def test_a_long_word():
    assert stem("y" * 100_000).startswith("yyy")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(), st.booleans())
def test_every_string_has_a_stem_in_lower_case(word, original):
    assert stem(word, original) == stem(word, original).lower()
    assert len(stem(word, original)) <= len(word.lower()) + 1
