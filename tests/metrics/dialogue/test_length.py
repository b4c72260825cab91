"""Length of responses, and columns of the corpus."""

import numpy as np
import pytest

from dialogauge.corpus import Corpus, Turn
from dialogauge.errors import InputError
from dialogauge.metrics.dialogue.length import Column, Length
from dialogauge.metrics.registry import parse_request


def test_words_and_characters():
    # "It's fine." is four words: it 's fine . ; "" has none; the emoji is one word of one character.
    metric = Length()
    rows = metric.measure([Turn("0", "It's fine."), Turn("1", ""), Turn("2", "😀")])
    assert rows.tolist() == [[4, 10], [0, 0], [1, 1]]
    assert metric.conclude(metric.summarise(rows)) == {"": 5 / 3, "characters": 11 / 3}


def corpus_of(*values: object) -> Corpus:
    return Corpus([Turn(str(i), "hi", extra={"x": value}) for i, value in enumerate(values)])


def test_column_is_the_mean_of_the_numbers_and_the_rest_left_out():
    corpus = corpus_of(1, 2.5, None, "3", True, float("inf"), 10**400)
    metric = Column(column="x").prepare(corpus)
    rows = metric.measure(list(corpus))
    assert np.isnan(rows[:, 0]).tolist() == [False, False, True, True, True, True, True]
    summary = metric.metric.summarise(rows)
    assert summary.n == 2
    assert metric.metric.conclude(summary) == {"": 1.75}


def test_a_column_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(InputError, match="unknown numeric extra field 'y'.*known: x"):
        Column(column="y").prepare(corpus_of(1))
    with pytest.raises(InputError, match=r"column\[name=FIELD\].*x"):
        Column().prepare(corpus_of(1))


def test_direction_of_a_column_is_an_option():
    assert parse_request("column[name=x]").metric.higher_is_better is True
    request = parse_request("column[name=x,higher_is_better=false]")
    assert request.metric.higher_is_better is False
    assert request.label == "column[name=x,higher_is_better=false]"
    assert request.metric.signature.startswith("column|name:x|higher_is_better:false|dialogauge:")
